/**
 * What an object says about another one it needs, and where that one is.
 *
 * References are other people's data: a name that is none leads nowhere and harms nobody. The version of a kind is no
 * part of a reference: whichever one the server prefers shows the same object.
 */
import { compareText, formatKey, parseApiVersion } from '#api'
import type { Kind, KubeObject } from '#api'

/** Another object, as specs name it; further fields may stand beside these. */
export interface Reference {
  readonly name: string
  /** @default that of the object that has the reference */
  readonly namespace?: string | undefined
  /** For references that name their kind; or `apiVersion`, of which the version is ignored. */
  readonly group?: string | undefined
  readonly apiVersion?: string | undefined
  /** @default the kind of the declaration */
  readonly kind?: string | undefined
}

/** A kind in no particular version. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
  /** For permissions. @default the kind in lower case, in the plural */
  readonly plural?: string
}

/** Which kinds may be meant: these, or whatever the reference says. */
export type KindChoice = readonly (Kind | GroupKind)[] | 'any'

/** An object, wherever it is; the namespace is empty for kinds without. */
export interface ObjectRef {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** A reference and what it comes to. */
export interface Target<R extends Reference = Reference> extends ObjectRef {
  readonly reference: R
  /** What is known of the kind beforehand; undefined when it is not among those that may be meant. */
  readonly choice: Kind | GroupKind | undefined
}

/** Nobody means so many; an index and a status have to hold them. */
const referencesMax = 1000

export type RefsOf<T, R extends Reference> = (object: T) => R | string | readonly (R | string)[] | undefined

/** Everything an object refers to, in the order in which it does. @throws {RangeError} for more than anybody means. */
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
      `${object.kind} ${object.metadata.name ?? ''} refers to ${references.length} objects; at most ${referencesMax} are followed`,
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
  const wanted = groupKindOf(reference, kinds)
  const choice =
    kinds === 'any'
      ? wanted.kind === ''
        ? undefined
        : wanted
      : kinds.find(({ group, kind }) => group === wanted.group && kind === wanted.kind)
  const isCluster = choice !== undefined && 'scope' in choice && choice.scope === 'Cluster'
  return {
    ...wanted,
    reference,
    choice,
    namespace: isCluster ? '' : textOf(namespace) || (object.metadata.namespace ?? ''),
    name: textOf(name),
  }
}

/** What a reference says about the kind, completed by the declaration where that leaves no choice. */
function groupKindOf(reference: Reference, kinds: KindChoice): GroupKind {
  const only = kinds !== 'any' && kinds.length === 1 ? kinds[0] : undefined
  const { kind = only?.kind ?? '', apiVersion } = reference
  const named = kinds === 'any' ? undefined : kinds.find((one) => one.kind === kind)
  const said =
    reference.group ??
    (typeof apiVersion === 'string' && apiVersion.split('/').length <= 2
      ? parseApiVersion(apiVersion).group
      : undefined)
  return { group: textOf(said ?? named?.group), kind: textOf(kind) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** What indexes find referers by: the text of a place. */
export function refKey({ group, kind, namespace, name }: ObjectRef): string {
  return formatKey({ cluster: 'at', group, kind, namespace, name })
}

/** Whoever refers to anything of a kind. */
export function kindKey({ group, kind }: Pick<ObjectRef, 'group' | 'kind'>): string {
  return formatKey({ cluster: 'of', group, kind, name: '' })
}

/** Whoever refers to anything in a namespace that is not its own. */
export function namespaceKey(namespace: string): string {
  return formatKey({ cluster: 'into', group: '', kind: '', namespace, name: '' })
}

/** For people: `App default/web`. */
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
