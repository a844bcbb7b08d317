/**
 * References between objects, and their targets.
 *
 * References are untrusted: an invalid name leads to a target that does not exist. The version of a kind is not part of a
 * reference: every served version shows the same object.
 *
 * Example: in Route a/front, the reference `{ name: 'web' }` with the declared kind App is the target `App a/web`;
 * `{ kind: 'Database', apiVersion: 'db.dev/v2', name: 'x', namespace: 'b' }` is the target `Database b/x` of group `db.dev`.
 */
import { compareText, formatKey, parseApiVersion } from '#api'
import type { Kind, KubeObject } from '#api'

/** A reference in a spec; it may have further fields. */
export interface Reference {
  readonly name: string
  /** @default the namespace of the referer */
  readonly namespace?: string | undefined
  /** For references that name their kind; or `apiVersion`, of which the version is ignored. */
  readonly group?: string | undefined
  readonly apiVersion?: string | undefined
  /** @default the kind of the declaration */
  readonly kind?: string | undefined
}

/** A kind without a version. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
  /** For RBAC rules. @default the kind in lower case, in the plural */
  readonly plural?: string
}

/** The kinds that references may name. */
export type KindChoice = readonly (Kind | GroupKind)[] | 'any'

/** Identifies an object; the namespace is empty for cluster-scoped kinds. */
export interface ObjectRef {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** A reference, resolved to an object. */
export interface Target<R extends Reference = Reference> extends ObjectRef {
  readonly reference: R
  /** The declared kind; undefined if the reference may not name this kind. */
  readonly choice: Kind | GroupKind | undefined
}

/** Limits the size of the index and of the status. */
const referencesMax = 1000

export type RefsOf<T, R extends Reference> = (object: T) => R | string | readonly (R | string)[] | undefined

/** The targets of an object, in the order of its references. @throws {RangeError} for more than 1000 references. */
export function targetsOf<R extends Reference>(
  object: KubeObject,
  refsOf: RefsOf<never, R>,
  kinds: KindChoice,
): Target<R>[] {
  const found = refsOf(object as never)
  const references =
    found === undefined || found === null
      ? []
      : Array.isArray(found)
        ? (found as readonly (R | string)[])
        : [found as R | string]
  if (references.length > referencesMax)
    throw new RangeError(
      `${object.kind} ${object.metadata.name ?? ''} refers to ${references.length} objects; at most ${referencesMax} are allowed`,
    )
  return references.map((reference) =>
    targetOf(typeof reference === 'string' ? ({ name: reference } as R) : reference, { object, kinds }),
  )
}

function targetOf<R extends Reference>(
  reference: R,
  { object, kinds }: { object: KubeObject; kinds: KindChoice },
): Target<R> {
  const { name, namespace } = reference
  const groupKind = groupKindOf(reference, kinds)
  const choice =
    kinds === 'any'
      ? groupKind.kind === ''
        ? undefined
        : groupKind
      : kinds.find(({ group, kind }) => group === groupKind.group && kind === groupKind.kind)
  const isCluster = choice !== undefined && 'scope' in choice && choice.scope === 'Cluster'
  return {
    ...groupKind,
    reference,
    choice,
    namespace: isCluster ? '' : textOf(namespace) || (object.metadata.namespace ?? ''),
    name: textOf(name),
  }
}

/** The group and kind of a reference, completed by the declaration if that is unambiguous. */
function groupKindOf(reference: Reference, kinds: KindChoice): GroupKind {
  const only = kinds !== 'any' && kinds.length === 1 ? kinds[0] : undefined
  const { kind = only?.kind ?? '', apiVersion } = reference
  const named = kinds === 'any' ? undefined : kinds.find((one) => one.kind === kind)
  const group =
    reference.group ??
    (typeof apiVersion === 'string' && apiVersion.split('/').length <= 2
      ? parseApiVersion(apiVersion).group
      : undefined)
  return { group: textOf(group ?? named?.group), kind: textOf(kind) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Index key: the referers of an object. */
export function refKey({ group, kind, namespace, name }: ObjectRef): string {
  return formatKey({ cluster: 'at', group, kind, namespace, name })
}

/** Index key: the referers of any object of a kind. */
export function kindKey({ group, kind }: Pick<ObjectRef, 'group' | 'kind'>): string {
  return formatKey({ cluster: 'of', group, kind, name: '' })
}

/** Index key: the referers from other namespaces of any object in a namespace. */
export function namespaceKey(namespace: string): string {
  return formatKey({ cluster: 'into', group: '', kind: '', namespace, name: '' })
}

/** For messages: `App default/web`. */
export function formatRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}

export function compareRefs(a: ObjectRef, b: ObjectRef): number {
  return (
    compareText(a.group, b.group) ||
    compareText(a.kind, b.kind) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  )
}

export function refOf(object: KubeObject): ObjectRef {
  const {
    apiVersion,
    kind,
    metadata: { name = '', namespace = '' },
  } = object
  return { group: parseApiVersion(apiVersion).group, kind, namespace, name }
}
