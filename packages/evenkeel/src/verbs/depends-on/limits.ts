/**
 * Limits of a `dependsOn` declaration: in which namespace, and under which names, its dependencies are.
 *
 * Watches and RBAC rules have the same limits, so a controller that needs one Secret can read no other one:
 *
 *   { namespace: 'vault' }      informer of that namespace                  Role in that namespace
 *   { names: ['ca'] }           informer with fieldSelector metadata.name=ca     rule with resourceNames: [ca]
 *
 * RBAC checks `list` and `watch` with `resourceNames` by the field selector `metadata.name`, so each name has an informer
 * of its own. A reference beyond the limits is Forbidden, and its target is not read.
 */
import { declareKind, type Kind } from '#api'
import type { ScopedPolicyRule } from '#controller'
import type { EdgeRequest } from './dependency-run.ts'
import type { DependsOnOptions } from './depends-on.ts'
import { ReferenceGrant } from './reference-grants.ts'
import type { GroupKind, KindChoice, ObjectRef, Reference, RefsOf } from './reference.ts'
import { usageKindFor } from './usages.ts'

export interface DependencyLimits {
  /** The only namespace of the dependencies. */
  readonly namespace: string | undefined
  /** The only names of the dependencies. */
  readonly names: readonly string[] | undefined
}

/** More informers than this for one declaration are no limit any more. */
const namesMax = 50

/** @throws {RangeError} for limits that are empty or contradict another option. */
export function limitsOf({
  namespace,
  names,
  crossNamespace,
}: Pick<DependsOnOptions, 'namespace' | 'names' | 'crossNamespace'>): DependencyLimits {
  if (namespace === '') throw new RangeError('dependsOn: namespace must not be empty')
  if (namespace !== undefined && crossNamespace === 'deny')
    throw new RangeError(
      `dependsOn: namespace ${JSON.stringify(namespace)} needs references into another namespace: remove crossNamespace: 'deny'`,
    )
  if (names && (names.length === 0 || names.length > namesMax || names.some((name) => name === '')))
    throw new RangeError(`dependsOn: names must have 1 to ${namesMax} names, none of them empty`)
  return { namespace, names: names && [...new Set(names)].sort() }
}

/** References without a namespace lead into the namespace of the limits. */
export function refsWithin(
  refsOf: RefsOf<never, Reference>,
  { namespace }: DependencyLimits,
): RefsOf<never, Reference> {
  if (namespace === undefined) return refsOf
  const within = (reference: Reference | string): Reference =>
    typeof reference === 'string'
      ? { name: reference, namespace }
      : { ...reference, namespace: reference.namespace ?? namespace }
  return (object) => {
    const found: unknown = refsOf(object)
    if (found === undefined || found === null) return undefined
    return Array.isArray(found)
      ? (found as readonly (Reference | string)[]).map(within)
      : within(found as Reference | string)
  }
}

/** Why a target is beyond the limits; undefined if it is not. */
export function beyondLimits(
  { namespace, name }: Pick<ObjectRef, 'namespace' | 'name'>,
  limits: DependencyLimits,
): string | undefined {
  if (limits.namespace !== undefined && namespace !== '' && namespace !== limits.namespace)
    return `only references into namespace ${limits.namespace} are allowed`
  if (limits.names && !limits.names.includes(name)) return `only references to ${limits.names.join(', ')} are allowed`
  return undefined
}

interface RuleOptions {
  readonly choice: KindChoice
  readonly limits: DependencyLimits
  readonly options: Pick<DependsOnOptions<never>, 'crossNamespace' | 'grants'>
  readonly edges: EdgeRequest
}

/** The RBAC rules of a declaration for objects of this kind. */
export function dependencyRules(kind: Kind, { choice, limits, options, edges }: RuleOptions): ScopedPolicyRule[] {
  const { crossNamespace, grants = ReferenceGrant } = options
  const { prefix, isProtected, usage } = edges
  const verbs = ['get', 'list', 'watch', ...(prefix !== undefined || isProtected ? ['patch'] : [])]
  const usages = usageKindFor(kind)
  const scope = scopeOf(limits, { crosses: crossNamespace === 'allow' || crossNamespace === 'granted' })
  return [
    ...(choice === 'any' ? [] : choice).map((each) => ({
      apiGroups: [each.group],
      resources: [pluralOf(each)],
      verbs,
      ...(limits.names && { resourceNames: limits.names }),
      ...('scope' in each && each.scope === 'Cluster' ? { namespaces: 'all' as const } : scope),
    })),
    ...(crossNamespace === 'granted'
      ? [{ apiGroups: [grants.group], resources: [grants.plural], verbs: ['get', 'list', 'watch'], ...scope }]
      : []),
    // blockOwnerDeletion needs the permission to update the finalizers of the owner.
    ...(usage === undefined
      ? []
      : [
          {
            apiGroups: [usages.group],
            resources: [usages.plural],
            verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
          },
          { apiGroups: [kind.group], resources: [`${kind.plural}/finalizers`], verbs: ['update'] },
        ]),
  ]
}

/** Where the rules are needed: by default in the namespaces of the controller. */
function scopeOf(
  { namespace }: DependencyLimits,
  { crosses }: { crosses: boolean },
): Pick<ScopedPolicyRule, 'namespaces'> {
  if (namespace !== undefined) return { namespaces: [namespace] }
  return crosses ? { namespaces: 'all' } : {}
}

function pluralOf({ group, kind, plural }: Kind | GroupKind): string {
  return plural ?? declareKind({ group, version: 'v1', kind }).plural
}
