/**
 * Whether a webhook or policy applies to a write: rules, then selectors, combined as in kube-apiserver.
 *
 * Rules that do not need the object are checked first ({@link Matcher.couldMatch}), so that a write without webhooks
 * and policies costs almost nothing. A resource pattern names a subresource after a slash; `*` alone does not match
 * `pods/status`. With the match policy `Equivalent` a rule about one version applies to all versions of the same
 * objects. Selectors look at the new and the old labels, so removing a label does not avoid the check. The namespace
 * of a Namespace is itself.
 *
 * Invariant: what `match` finds, `couldMatch` finds.
 */
import {
  isJsonObject,
  labelRequirementsOf,
  matchesLabels,
  notFound,
  type JsonObject,
  type JsonValue,
  type LabelRequirement,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { Informer } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import type { ResourceRef } from '../request-context.ts'
import type { AdmissionAttributes, AdmissionOperation } from './admission.ts'

/** The match criteria of a webhook or policy. */
export interface MatchCriteria {
  /** One of them has to match. Undefined: everything does. */
  readonly rules: readonly ResourceRule[] | undefined
  readonly excludeRules: readonly ResourceRule[]
  /** Rules apply to all served versions of the same objects. */
  readonly isEquivalent: boolean
  /** Empty selects everything. */
  readonly namespaceSelector: readonly LabelRequirement[]
  readonly objectSelector: readonly LabelRequirement[]
}

/** The input of a match. */
export interface MatchSubject extends Pick<AdmissionAttributes, 'operation' | 'target' | 'old'> {
  /** The new object; absent for DELETE. */
  readonly object?: Pick<UnstructuredObject, 'metadata'> | undefined
}

/** Criteria as webhooks have them: without rules they match nothing. */
export function webhookCriteria(webhook: JsonObject): MatchCriteria {
  return { ...selectorsOf(webhook), rules: readResourceRules(webhook['rules']), excludeRules: [] }
}

/** Criteria as policies and bindings have them: without rules they match everything. */
export function policyCriteria(match: JsonObject): MatchCriteria {
  const rules = readResourceRules(match['resourceRules'])
  return {
    ...selectorsOf(match),
    rules: rules.length === 0 ? undefined : rules,
    excludeRules: readResourceRules(match['excludeResourceRules']),
  }
}

/**
 * Kinds that configure admission: webhooks are not called for their writes, so that a bad configuration can be undone.
 */
export function isAdmissionConfiguration({ resource: { group, kind } }: Pick<ResourceRef, 'resource'>): boolean {
  return group === 'admissionregistration.k8s.io' && configurationKinds.has(kind)
}

/**
 * Whether policies apply to a resource at all. They do not apply to policies and their bindings, so that a bad one can be
 * undone, and not to reviews, so that no policy can stop authentication or authorization.
 */
export function acceptsPolicies({ resource: { group, kind } }: Pick<ResourceRef, 'resource'>): boolean {
  return !(kindsWithoutPolicies[group]?.has(kind) ?? false)
}

export class Matcher {
  readonly #equivalents: EquivalentResources
  readonly #namespaces: Informer

  constructor({ registry, namespaces }: { registry: Registry; namespaces: Informer }) {
    this.#equivalents = new EquivalentResources(registry)
    this.#namespaces = namespaces
  }

  /** Whether a write may match, judged without its object. */
  couldMatch(
    { rules, isEquivalent }: MatchCriteria,
    { operation, target }: Pick<AdmissionAttributes, 'operation' | 'target'>,
  ): boolean {
    if (rules === undefined) return true
    const forms = isEquivalent ? [target.resource, ...this.#equivalents.of(target)] : [target.resource]
    return forms.some((resource) => rules.some((rule) => coversResource(rule, { operation, target, resource })))
  }

  /**
   * The resource version in which a write matches: the requested one if a rule names it; undefined without a match.
   *
   * @throws {ApiError} `NotFound`, when the criteria need the labels of a namespace that does not exist.
   */
  match(criteria: MatchCriteria, subject: MatchSubject): Resource | undefined {
    if (!selectsObject(criteria, subject)) return undefined
    if (this.#find(criteria.excludeRules, criteria, subject)) return undefined
    const resource =
      criteria.rules === undefined ? subject.target.resource : this.#find(criteria.rules, criteria, subject)
    return resource && this.#selectsNamespace(criteria, subject) ? resource : undefined
  }

  /** The current namespace of a target; undefined for cluster-scoped objects, including Namespaces. */
  namespaceOf({ namespace }: ResourceRef): UnstructuredObject | undefined {
    if (namespace === '') return undefined
    const found = this.#namespaces.get(namespace)
    if (found === undefined) throw notFound({ kind: 'namespaces', name: namespace })
    return found
  }

  #find(
    rules: readonly ResourceRule[],
    { isEquivalent }: MatchCriteria,
    { operation, target }: MatchSubject,
  ): Resource | undefined {
    const covers = (rule: ResourceRule, resource: Resource): boolean =>
      coversResource(rule, { operation, target, resource }) && coversName(rule, target.name)
    if (rules.some((rule) => covers(rule, target.resource))) return target.resource
    if (!isEquivalent || rules.length === 0) return undefined
    const others = this.#equivalents.of(target)
    for (const rule of rules) {
      const found = others.find((resource) => covers(rule, resource))
      if (found) return found
    }
    return undefined
  }

  #selectsNamespace({ namespaceSelector }: MatchCriteria, { operation, target, object }: MatchSubject): boolean {
    if (namespaceSelector.length === 0) return true
    const isNamespace = target.resource.isNamespace === true
    if (target.namespace === '' && !isNamespace) return true
    if (isNamespace && target.subresource === undefined && operation !== 'DELETE')
      return matchesLabels(namespaceSelector, object?.metadata.labels)
    return matchesLabels(
      namespaceSelector,
      this.namespaceOf(isNamespace ? { ...target, namespace: target.name } : target)?.metadata.labels,
    )
  }
}

function selectsObject({ objectSelector }: MatchCriteria, { object, old }: MatchSubject): boolean {
  if (objectSelector.length === 0) return true
  return [object, old].some((one) => one !== undefined && matchesLabels(objectSelector, one.metadata.labels))
}

function selectorsOf(match: JsonObject): Pick<MatchCriteria, 'isEquivalent' | 'namespaceSelector' | 'objectSelector'> {
  return {
    isEquivalent: match['matchPolicy'] !== 'Exact',
    namespaceSelector: selectorIn(match, 'namespaceSelector'),
    objectSelector: selectorIn(match, 'objectSelector'),
  }
}

function selectorIn(match: JsonObject, field: string): readonly LabelRequirement[] {
  const selector = match[field]
  // Both are defaulted to the empty selector when they are written.
  return isJsonObject(selector) ? (labelRequirementsOf(selector) ?? []) : []
}

const policyKinds = [
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]

const configurationKinds: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  ...policyKinds,
])

const kindsWithoutPolicies: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  'admissionregistration.k8s.io': new Set(policyKinds),
  'authentication.k8s.io': new Set(['TokenReview', 'SelfSubjectReview']),
  'authorization.k8s.io': new Set([
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ]),
}

interface ResourceRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly scope: string
  /** Empty for every name; webhooks have none. */
  readonly resourceNames: readonly string[]
}

/** The input of rule matching: an operation on a target, in one of the versions of the resource. */
interface RuleMatchInput {
  readonly operation: AdmissionOperation
  readonly target: ResourceRef
  readonly resource: Resource
}

/** Rules as configurations have them. */
function readResourceRules(list: JsonValue | undefined): readonly ResourceRule[] {
  if (!Array.isArray(list)) return []
  return list.filter(isJsonObject).map((rule) => ({
    operations: texts(rule, 'operations'),
    apiGroups: texts(rule, 'apiGroups'),
    apiVersions: texts(rule, 'apiVersions'),
    resources: texts(rule, 'resources'),
    resourceNames: texts(rule, 'resourceNames'),
    scope: typeof rule['scope'] === 'string' ? rule['scope'] : '*',
  }))
}

/** Whether a rule covers an operation on a resource, for any object name. */
function coversResource(
  { operations, apiGroups, apiVersions, resources, scope }: ResourceRule,
  { operation, target, resource }: RuleMatchInput,
): boolean {
  return (
    coversScope(scope, resource) &&
    includes(operations, operation) &&
    includes(apiGroups, resource.group) &&
    includes(apiVersions, resource.version) &&
    resources.some((pattern) => coversPath(pattern, resource.plural, target.subresource?.name ?? ''))
  )
}

/** Whether a rule covers an object name. */
function coversName({ resourceNames }: ResourceRule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name)
}

function coversPath(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const [first, second] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return (first === '*' || first === plural) && (second === '*' || second === subresource)
}

function coversScope(scope: string, resource: Resource): boolean {
  return scope === '*' || scope === resource.scope
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

function texts(rule: JsonObject, field: string): readonly string[] {
  const list = rule[field]
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : []
}

class EquivalentResources {
  readonly #registry: Registry
  #generation = 0
  readonly #known = new Map<string, readonly Resource[]>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** All versions of a target except the requested one. */
  of({ resource, subresource }: ResourceRef): readonly Resource[] {
    const others = this.#formsOf(resource).filter(
      ({ group, version }) => group !== resource.group || version !== resource.version,
    )
    return subresource === undefined
      ? others
      : others.filter(({ subresources }) => subresources.some(({ name }) => name === subresource.name))
  }

  #formsOf({ storage }: Resource): readonly Resource[] {
    if (this.#generation !== this.#registry.generation) this.#known.clear()
    this.#generation = this.#registry.generation
    const key = `${storage.group}/${storage.plural}`
    let forms = this.#known.get(key)
    if (forms === undefined) {
      forms = this.#registry
        .all()
        .filter((one) => one.storage.group === storage.group && one.storage.plural === storage.plural)
      this.#known.set(key, forms)
    }
    return forms
  }
}
