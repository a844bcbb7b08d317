/**
 * Which policies a write has to pass, for which bindings, with which parameters.
 *
 * What cannot be found out is a failure of the policy or of the binding; whether that refuses the write is the policy's
 * own choice.
 */
import { isApiError } from '#api'
import type { UnstructuredObject } from '#api'
import type { Resource } from '../../resources/resource.ts'
import type { Matcher, MatchSubject } from '../matching/matching.ts'
import { ParamError } from './params.ts'
import type { ParamResolver } from './params.ts'
import type { PolicyBinding, BoundPolicy, AdmissionPolicy } from './policy.ts'

/** A policy to be asked. */
interface PolicyInvocation {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  /** The form in which the write matched. */
  readonly resource: Resource
  /** Asked once for each; undefined where the policy has none. */
  readonly params: readonly (UnstructuredObject | undefined)[]
  readonly failure?: undefined
}

/** A policy that cannot be asked. */
interface PolicyFailure {
  readonly policy: AdmissionPolicy
  /** Absent when the policy itself is at fault. */
  readonly binding?: PolicyBinding
  readonly failure: string
}

interface DispatchOptions {
  readonly matching: Matcher
  readonly params: ParamResolver
}

/** In the order of names; failures that are to be ignored are left out. */
export async function dispatchPolicies(
  policies: readonly BoundPolicy[],
  subject: MatchSubject,
  options: DispatchOptions,
): Promise<readonly (PolicyInvocation | PolicyFailure)[]> {
  const found: (PolicyInvocation | PolicyFailure)[] = []
  for (const bound of policies) {
    if (!options.matching.couldMatch(bound.policy.criteria, subject)) continue
    for (const one of await dispatchPolicy(bound, subject, options))
      if (one.failure === undefined || !one.policy.ignoresFailure) found.push(one)
  }
  return found
}

async function dispatchPolicy(
  { policy, bindings }: BoundPolicy,
  subject: MatchSubject,
  { matching, params }: DispatchOptions,
): Promise<readonly (PolicyInvocation | PolicyFailure)[]> {
  let resource: Resource | undefined
  try {
    resource = matching.match(policy.criteria, subject)
    if (resource && policy.paramKind) params.resourceOf(policy.paramKind)
  } catch (error) {
    return [{ policy, failure: `failed to configure policy: ${errorText(error)}` }]
  }
  const found: (PolicyInvocation | PolicyFailure)[] = []
  if (resource === undefined) return found
  for (const binding of bindings) {
    try {
      if (binding.criteria && !matching.match(binding.criteria, subject)) continue
      found.push({ policy, binding, resource, params: await params.resolve(policy.paramKind, binding, subject.target) })
    } catch (error) {
      found.push({ policy, binding, failure: `failed to configure binding: ${errorText(error)}` })
    }
  }
  return found
}

/** Only what is known to be somebody's mistake is told; the rest is ours. */
function errorText(error: unknown): string {
  if (isApiError(error) || error instanceof ParamError) return error.message
  throw error
}
