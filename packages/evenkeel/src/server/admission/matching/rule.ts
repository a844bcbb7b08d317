/**
 * One rule of a webhook or policy: which operations on which resources it is about.
 *
 * A pattern for resources names a subresource after a slash; without one it is about the resource itself, so `*` is not
 * about `pods/status` while `*` on both sides of a slash is about everything.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'
import type { ResourceRef } from '../../call.ts'
import type { Resource } from '../../resources/resource.ts'
import type { AdmissionOperation } from '../admission.ts'

export interface ResourceRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly scope: string
  /** Empty for every name; webhooks have none. */
  readonly resourceNames: readonly string[]
}

/** What is asked: an operation on a target, as if it were about one of the forms the resource is served in. */
interface RuleMatchInput {
  readonly operation: AdmissionOperation
  readonly target: ResourceRef
  readonly resource: Resource
}

/** Rules as configurations have them. */
export function readResourceRules(list: JsonValue | undefined): readonly ResourceRule[] {
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

/** Whether a rule is about an operation on a resource, whatever the object is called. */
export function coversResource(
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

/** Whether a rule is about an object of this name. */
export function coversName({ resourceNames }: ResourceRule, name: string): boolean {
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
