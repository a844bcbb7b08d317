/**
 * Who is bound to what: RoleBindings and ClusterRoleBindings, found by subject.
 *
 * A decision must not cost more because others have bindings too, so bindings lie under their subjects, and a binding
 * that comes, changes or goes touches only its own subjects. ServiceAccounts lie under the name their users have.
 *
 * Invariant: what lies here is what the views have shown, no more and no less.
 */
import { compareText, getOwn, isJsonObject, quote } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'
import type { User } from '../call.ts'

/** One binding, as it applies to somebody. */
export interface RoleGrant {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly role: RoleRef
  /** `RoleBinding "name/namespace" of Role "x" to User "y"` */
  describe(): string
}

export interface RoleRef {
  readonly kind: string
  readonly name: string
}

interface IndexedSubject extends RoleGrant {
  readonly binding: UnstructuredObject
  /** Which of its subjects. */
  readonly index: number
}

export class RoleBindingIndex {
  /** Namespace, then subject. */
  readonly #filed = new Map<string, Map<string, Set<IndexedSubject>>>()
  /** What was filed for a binding, so that it can be taken out again. */
  readonly #byBinding = new Map<
    UnstructuredObject,
    readonly { readonly subject: string; readonly filed: IndexedSubject }[]
  >()

  /** Follows one binding: `old` makes room for `next`. */
  change(old: UnstructuredObject | undefined, next: UnstructuredObject | undefined): void {
    if (old) this.#remove(old)
    if (next) this.#add(next)
  }

  /** What a user is given in a namespace, or (empty) everywhere; sorted by the names of the bindings. */
  of({ name, groups }: User, namespace: string): readonly RoleGrant[] {
    const scope = this.#filed.get(namespace)
    if (scope === undefined) return []
    // A binding with several subjects that are this user counts once, for the first of them.
    const found = new Map<UnstructuredObject, IndexedSubject>()
    for (const subject of [userKey(name), ...groups.map(groupKey)]) {
      for (const filed of scope.get(subject) ?? []) {
        const known = found.get(filed.binding)
        if (known === undefined || known.index > filed.index) found.set(filed.binding, filed)
      }
    }
    return [...found.values()].sort((a, b) => compareText(a.binding.metadata.name ?? '', b.binding.metadata.name ?? ''))
  }

  /** Whether anybody is bound in a namespace. */
  has(namespace: string): boolean {
    return this.#filed.has(namespace)
  }

  #add(binding: UnstructuredObject): void {
    const namespace = binding.metadata.namespace ?? ''
    const role = roleRefOf(binding)
    const subjects = getOwn(binding, 'subjects')
    const all = (Array.isArray(subjects) ? subjects : []).flatMap((subject, index) => {
      const key = isJsonObject(subject) ? subjectKey(subject, namespace) : undefined
      if (key === undefined || !isJsonObject(subject)) return []
      return [
        {
          subject: key,
          filed: { binding, namespace, role, index, describe: () => describeGrant(binding, role, subject) },
        },
      ]
    })
    this.#byBinding.set(binding, all)
    const scope = this.#filed.get(namespace) ?? new Map<string, Set<IndexedSubject>>()
    for (const { subject, filed } of all) scope.set(subject, (scope.get(subject) ?? new Set()).add(filed))
    if (scope.size > 0) this.#filed.set(namespace, scope)
  }

  #remove(binding: UnstructuredObject): void {
    const namespace = binding.metadata.namespace ?? ''
    const scope = this.#filed.get(namespace)
    for (const { subject, filed } of this.#byBinding.get(binding) ?? []) {
      const filedThere = scope?.get(subject)
      filedThere?.delete(filed)
      if (filedThere?.size === 0) scope?.delete(subject)
    }
    if (scope?.size === 0) this.#filed.delete(namespace)
    this.#byBinding.delete(binding)
  }
}

/** The role that a binding gives. */
export function roleRefOf(binding: UnstructuredObject | JsonObject): RoleRef {
  const reference = getOwn(binding as JsonObject, 'roleRef')
  return isJsonObject(reference)
    ? { kind: textOf(reference, 'kind'), name: textOf(reference, 'name') }
    : { kind: '', name: '' }
}

const userKey = (name: string): string => `user ${name}`
const groupKey = (name: string): string => `group ${name}`

function subjectKey(subject: JsonObject, namespace: string): string | undefined {
  const name = textOf(subject, 'name')
  switch (textOf(subject, 'kind')) {
    case 'User':
      return userKey(name)
    case 'Group':
      return groupKey(name)
    case 'ServiceAccount': {
      const inside = textOf(subject, 'namespace') || namespace
      return inside === '' ? undefined : userKey(`system:serviceaccount:${inside}:${name}`)
    }
    default:
      return undefined
  }
}

function describeGrant(
  { metadata: { name = '', namespace = '' } }: UnstructuredObject,
  role: RoleRef,
  subject: JsonObject,
): string {
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`
  const kind = textOf(subject, 'kind')
  const who =
    kind === 'ServiceAccount'
      ? `${textOf(subject, 'name')}/${textOf(subject, 'namespace') || namespace}`
      : textOf(subject, 'name')
  return `${binding} of ${role.kind} ${quote(role.name)} to ${kind} ${quote(who)}`
}

function textOf(object: JsonObject, key: string): string {
  const value = getOwn(object, key)
  return typeof value === 'string' ? value : ''
}
