/**
 * Policies and their bindings as they are in force: read once each, joined by name.
 *
 * A policy without a binding does nothing, and neither does a binding without its policy.
 *
 * Invariant: as long as an object of the view is the same, so is what was read from it; whoever compiles keeps it there.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import { objectIn, optionalObjectIn, textIn, textsIn } from '../../builtin/rules/reading.ts'
import type { Informer } from '../../views/view.ts'
import { policyCriteria } from '../matching/matching.ts'
import type { MatchCriteria } from '../matching/matching.ts'

export interface AdmissionPolicy {
  readonly name: string
  readonly spec: JsonObject
  readonly criteria: MatchCriteria
  /** What goes wrong lets the write pass. */
  readonly ignoresFailure: boolean
  readonly paramKind: ParamKind | undefined
}

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface PolicyBinding {
  readonly name: string
  readonly policyName: string
  /** Undefined: whatever the policy is about. */
  readonly criteria: MatchCriteria | undefined
  readonly paramRef: JsonObject | undefined
  /** Deny, Warn, Audit; none for policies that change objects. */
  readonly actions: readonly string[]
}

/** A policy that is in force, for one or more bindings. */
export interface BoundPolicy {
  readonly policy: AdmissionPolicy
  readonly bindings: readonly PolicyBinding[]
}

/** All policies of one kind that are in force, by name. */
export class PolicySource {
  readonly #policies: Informer
  readonly #bindings: Informer
  #known: { readonly versions: readonly number[]; readonly bound: readonly BoundPolicy[] } = { versions: [], bound: [] }

  constructor(policies: Informer, bindings: Informer) {
    this.#policies = policies
    this.#bindings = bindings
  }

  bound(): readonly BoundPolicy[] {
    const {
      versions: [policies, bindings],
    } = this.#known
    if (policies !== this.#policies.version || bindings !== this.#bindings.version) {
      this.#known = { versions: [this.#policies.version, this.#bindings.version], bound: this.#join() }
    }
    return this.#known.bound
  }

  #join(): readonly BoundPolicy[] {
    const bindings = new Map<string, PolicyBinding[]>()
    for (const binding of this.#bindings.list().map(bindingOf)) {
      const own = bindings.get(binding.policyName)
      if (own) own.push(binding)
      else bindings.set(binding.policyName, [binding])
    }
    return this.#policies.list().flatMap((object) => {
      const own = bindings.get(object.metadata.name ?? '')
      return own === undefined ? [] : [{ policy: policyOf(object), bindings: own }]
    })
  }
}

const policies = new WeakMap<UnstructuredObject, AdmissionPolicy>()
const bindings = new WeakMap<UnstructuredObject, PolicyBinding>()

function policyOf(object: UnstructuredObject): AdmissionPolicy {
  let policy = policies.get(object)
  if (policy === undefined) policies.set(object, (policy = readPolicy(object)))
  return policy
}

function bindingOf(object: UnstructuredObject): PolicyBinding {
  let binding = bindings.get(object)
  if (binding === undefined) bindings.set(object, (binding = readBinding(object)))
  return binding
}

function readPolicy(object: UnstructuredObject): AdmissionPolicy {
  const spec = objectIn(object, 'spec')
  const kind = optionalObjectIn(spec, 'paramKind')
  return {
    name: object.metadata.name ?? '',
    spec,
    criteria: policyCriteria(objectIn(spec, 'matchConstraints')),
    ignoresFailure: textIn(spec, 'failurePolicy') === 'Ignore',
    paramKind: kind && { apiVersion: textIn(kind, 'apiVersion'), kind: textIn(kind, 'kind') },
  }
}

function readBinding(object: UnstructuredObject): PolicyBinding {
  const spec = objectIn(object, 'spec')
  const match = optionalObjectIn(spec, 'matchResources')
  return {
    name: object.metadata.name ?? '',
    policyName: textIn(spec, 'policyName'),
    criteria: match && policyCriteria(match),
    paramRef: optionalObjectIn(spec, 'paramRef'),
    actions: textsIn(spec, 'validationActions'),
  }
}
