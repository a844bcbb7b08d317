/**
 * Policies and their bindings: read once each, joined by name, with the parameters of a binding.
 *
 * A policy without a binding does nothing, and neither does a binding without its policy. What cannot be resolved is
 * a failure of the policy or the binding; the failure policy decides whether it refuses the write. Parameters are
 * read from the store for each write, so a changed parameter is in effect with the next one.
 *
 * Invariant: while an object of the informer is the same, so is the value read from it; compiled expressions are
 * kept with it.
 */
import {
  isApiError,
  labelRequirementsOf,
  matchesLabels,
  objectIn,
  optionalObjectIn,
  parseApiVersion,
  textIn,
  textsIn,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { Informer } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import type { ResourceRef } from '../request-context.ts'
import { prepareConversions, toServed } from '../storage/codec.ts'
import { objectKey, type Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { policyCriteria, type MatchCriteria, type Matcher, type MatchSubject } from './matching.ts'

export interface AdmissionPolicy {
  readonly name: string
  readonly spec: JsonObject
  readonly criteria: MatchCriteria
  /** An error does not refuse the write. */
  readonly ignoresFailure: boolean
  readonly paramKind: ParamKind | undefined
}

interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface PolicyBinding {
  readonly name: string
  readonly policyName: string
  /** Undefined: the match criteria of the policy. */
  readonly criteria: MatchCriteria | undefined
  readonly paramRef: JsonObject | undefined
  /** Deny, Warn, Audit; empty for mutating policies. */
  readonly actions: readonly string[]
}

/** A policy with one or more bindings. */
interface BoundPolicy {
  readonly policy: AdmissionPolicy
  readonly bindings: readonly PolicyBinding[]
}

/** All bound policies of one kind, by name. */
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

/** A policy to evaluate. */
interface PolicyInvocation {
  readonly policy: AdmissionPolicy
  readonly binding: PolicyBinding
  /** The version in which the write matched. */
  readonly resource: Resource
  /** The policy is evaluated once for each; undefined for a policy without parameters. */
  readonly params: readonly (UnstructuredObject | undefined)[]
  readonly failure?: undefined
}

/** A policy that cannot be evaluated. */
interface PolicyFailure {
  readonly policy: AdmissionPolicy
  /** Absent when the policy itself failed. */
  readonly binding?: PolicyBinding
  readonly failure: string
}

interface DispatchOptions {
  readonly matching: Matcher
  readonly params: ParamResolver
}

/** Sorted by name, without ignored failures. */
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

/** The text of an error that the author of a policy can fix; other errors are internal and not shown. */
function errorText(error: unknown): string {
  if (isApiError(error) || error instanceof ParamError) return error.message
  throw error
}

/** A parameter that cannot be resolved: an error in the policy or its binding. */
class ParamError extends Error {}

export class ParamResolver {
  readonly #storage: Storage
  readonly #registry: Registry
  #generation = 0
  readonly #known = new Map<string, Resource | undefined>()

  constructor({ storage, registry }: { readonly storage: Storage; readonly registry: Registry }) {
    this.#storage = storage
    this.#registry = registry
  }

  /**
   * The resource of a parameter kind.
   *
   * @throws {ParamError} when it is not served.
   */
  resourceOf({ apiVersion, kind }: ParamKind): Resource {
    const registry = this.#registry
    const { group, version } = parseApiVersion(apiVersion)
    if (this.#generation !== registry.generation) this.#known.clear()
    this.#generation = registry.generation
    const key = `${apiVersion} ${kind}`
    if (!this.#known.has(key))
      this.#known.set(
        key,
        registry
          .all()
          .find((one) => one.kind === kind && one.group === group && one.version === version && !one.virtual),
      )
    const resource = this.#known.get(key)
    if (resource === undefined)
      throw new ParamError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`)
    return resource
  }

  /**
   * The parameters for a write; one undefined value for a policy without parameters.
   *
   * @throws {ParamError} when they cannot be read, or are missing and `parameterNotFoundAction` is `Deny`.
   */
  async resolve(
    kind: ParamKind | undefined,
    { paramRef }: PolicyBinding,
    target: ResourceRef,
  ): Promise<readonly (UnstructuredObject | undefined)[]> {
    if (kind === undefined || paramRef === undefined) return [undefined]
    const resource = this.resourceOf(kind)
    const params = await this.#read(resource, paramRef, namespaceFor(resource, paramRef, target))
    if (params.length === 0 && textIn(paramRef, 'parameterNotFoundAction') === 'Deny') {
      throw new ParamError('no params found for policy binding with `Deny` parameterNotFoundAction')
    }
    return params
  }

  async #read(resource: Resource, paramRef: JsonObject, namespace: string): Promise<readonly UnstructuredObject[]> {
    const name = textIn(paramRef, 'name')
    if (name !== '') return this.#readOne(resource, { namespace, name })
    if (optionalObjectIn(paramRef, 'selector') === undefined)
      throw new ParamError('one of name or selector must be provided')
    const selector = labelRequirementsOf(objectIn(paramRef, 'selector')) ?? []
    const stored = await this.#storage.list(resource, { namespace })
    const chosen = stored.filter(({ object }) => matchesLabels(selector, object.metadata.labels))
    return toServedObjects(chosen, resource)
  }

  async #readOne(
    resource: Resource,
    place: { namespace: string; name: string },
  ): Promise<readonly UnstructuredObject[]> {
    const { store, cluster } = this.#storage
    const found = await store.get(objectKey(cluster, resource.storage, place))
    return found.ok && found.entry
      ? toServedObjects([new StoredObject(found.entry.value, found.entry.revision)], resource)
      : []
  }
}

function namespaceFor({ scope }: Resource, paramRef: JsonObject, { resource, namespace, name }: ResourceRef): string {
  const chosen = textIn(paramRef, 'namespace')
  if (scope === 'Cluster') {
    if (chosen !== '') throw new ParamError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    return ''
  }
  const own = resource.isNamespace ? name : namespace
  if (chosen === '' && own === '')
    throw new ParamError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  return chosen === '' ? own : chosen
}

async function toServedObjects(
  stored: readonly StoredObject[],
  resource: Resource,
): Promise<readonly UnstructuredObject[]> {
  await prepareConversions(stored, resource)
  return stored.map((one) => toServed(one, resource))
}
