/**
 * Which policies a write has to pass, for which bindings, with which parameters.
 *
 * What cannot be found out is a failure of the policy or of the binding; whether that refuses the write is the policy's
 * own choice.
 */
import { isApiError } from '#api'
import type { UnstructuredObject } from '#api'
import type { Resource } from '../../resources/resource.ts'
import type { Matching, MatchSubject } from '../matching/matching.ts'
import { ParamError } from './params.ts'
import type { Params } from './params.ts'
import type { Binding, BoundPolicy, Policy } from './policy.ts'

/** A policy to be asked. */
interface Invocation {
  readonly policy: Policy
  readonly binding: Binding
  /** The form in which the write matched. */
  readonly resource: Resource
  /** Asked once for each; undefined where the policy has none. */
  readonly params: readonly (UnstructuredObject | undefined)[]
  readonly failure?: undefined
}

/** A policy that cannot be asked. */
interface Failure {
  readonly policy: Policy
  /** Absent when the policy itself is at fault. */
  readonly binding?: Binding
  readonly failure: string
}

interface DispatchOptions {
  readonly matching: Matching
  readonly params: Params
}

/** In the order of names; failures that are to be ignored are left out. */
export async function dispatch(
  policies: readonly BoundPolicy[],
  subject: MatchSubject,
  options: DispatchOptions,
): Promise<readonly (Invocation | Failure)[]> {
  const found: (Invocation | Failure)[] = []
  for (const bound of policies) {
    if (!options.matching.couldMatch(bound.policy.criteria, subject)) continue
    for (const one of await dispatchOne(bound, subject, options))
      if (one.failure === undefined || !one.policy.ignoresFailure) found.push(one)
  }
  return found
}

async function dispatchOne(
  { policy, bindings }: BoundPolicy,
  subject: MatchSubject,
  { matching, params }: DispatchOptions,
): Promise<readonly (Invocation | Failure)[]> {
  let resource: Resource | undefined
  try {
    resource = matching.match(policy.criteria, subject)
    if (resource && policy.paramKind) params.resourceOf(policy.paramKind)
  } catch (error) {
    return [{ policy, failure: `failed to configure policy: ${mistakeOf(error)}` }]
  }
  const found: (Invocation | Failure)[] = []
  if (resource === undefined) return found
  for (const binding of bindings) {
    try {
      if (binding.criteria && !matching.match(binding.criteria, subject)) continue
      found.push({ policy, binding, resource, params: await params.collect(policy.paramKind, binding, subject.target) })
    } catch (error) {
      found.push({ policy, binding, failure: `failed to configure binding: ${mistakeOf(error)}` })
    }
  }
  return found
}

/** Only what is known to be somebody's mistake is told; the rest is ours. */
function mistakeOf(error: unknown): string {
  if (isApiError(error) || error instanceof ParamError) return error.message
  throw error
}
