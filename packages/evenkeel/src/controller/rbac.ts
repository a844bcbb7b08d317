/**
 * The RBAC rules of a controller, derived from its declaration. What its reconcile does beyond that is declared in
 * `rbac`.
 */
import { compareText } from '#api'
import type { Kind } from '#api'
import type { CacheKind } from '#cache'
import type { ControllerDeclaration, PolicyRule, ScopedPolicyRule } from './declaration.ts'

/** The rules, each group of resources once, in order: the same declaration gives the same text. */
export function rulesFor(
  declaration: Pick<ControllerDeclaration, 'for' | 'owns' | 'watches' | 'cleanup' | 'rbac'>,
): ScopedPolicyRule[] {
  const { for: kind, owns = [], watches = [], cleanup, rbac = [] } = declaration
  const verbs = new Verbs()
  verbs.add(kind.group, kind.plural, [
    'get',
    'list',
    'watch',
    ...(cleanup ? ['patch', 'update'] : []),
    ...(owns.some(isElsewhere) ? ['patch'] : []),
  ])
  if (kind.subresources.status) verbs.add(kind.group, `${kind.plural}/status`, ['get', 'patch', 'update'])
  // A controller that sets an owner with blockOwnerDeletion must be allowed to update the owner's finalizers.
  if (cleanup || owns.length > 0) verbs.add(kind.group, `${kind.plural}/finalizers`, ['update'])
  for (const owned of owns) {
    const { group, plural } = wholeKind('kind' in owned && 'group' in owned ? owned : owned.kind)
    verbs.add(group, plural, ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'])
  }
  for (const watched of watches) {
    const { group, plural } = wholeKind(watched.kind)
    verbs.add(group, plural, ['get', 'list', 'watch'])
  }
  for (const group of ['', 'events.k8s.io']) verbs.add(group, 'events', ['create', 'patch', 'update'])
  verbs.add('coordination.k8s.io', 'leases', ['get', 'create', 'update'])
  return [...verbs.rules(), ...rbac]
}

/** @throws {RangeError} when the plural of the kind is not known: rules need it. */
function wholeKind(kind: CacheKind): Kind {
  const whole = 'of' in kind ? kind.of : kind
  if (!('plural' in whole && 'scope' in whole))
    throw new RangeError(
      `cannot derive RBAC rules for ${kind.kind} (${kind.apiVersion}): its plural is not known; use a kind made by defineKind or declareKind`,
    )
  return whole as Kind
}

/** The list of children that no owner reference reaches is stored on the parent. */
function isElsewhere(owned: NonNullable<ControllerDeclaration['owns']>[number]): boolean {
  return 'elsewhere' in owned && owned.elsewhere === true
}

const verbOrder = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete']

class Verbs {
  readonly #byResource = new Map<string, Set<string>>()

  add(group: string, resource: string, verbs: readonly string[]): void {
    const key = JSON.stringify([group, resource])
    const known = this.#byResource.get(key) ?? new Set()
    for (const verb of verbs) known.add(verb)
    this.#byResource.set(key, known)
  }

  /** Resources of a group that need the same verbs share a rule. */
  rules(): PolicyRule[] {
    const bySet = new Map<string, { group: string; verbs: string[]; resources: string[] }>()
    for (const [key, set] of this.#byResource) {
      const [group = '', resource = ''] = JSON.parse(key) as string[]
      const verbs = verbOrder.filter((verb) => set.has(verb))
      const id = JSON.stringify([group, verbs])
      const rule = bySet.get(id) ?? { group, verbs, resources: [] }
      rule.resources.push(resource)
      bySet.set(id, rule)
    }
    return [...bySet.values()]
      .map(({ group, verbs, resources }) => ({ apiGroups: [group], resources: resources.sort(compareText), verbs }))
      .sort(
        (a, b) =>
          compareText(a.apiGroups[0] ?? '', b.apiGroups[0] ?? '') ||
          compareText(a.resources.join(), b.resources.join()),
      )
  }
}
