/**
 * A child as it shall be: what the author wrote, with its name, its place, its owner and its marks.
 *
 * Invariants: the same input gives the same object; nothing that only a server can say (uid, version, managed fields) is
 * in it, also when the author built it from an object that was read.
 */
import { createHash } from 'node:crypto'
import {
  compareText,
  deepEqual,
  getOwn,
  isJsonObject,
  parseApiVersion,
  setControllerReference,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type Owner,
  type TypeMeta,
} from '#api'
import { formatOwner, ownerAnnotation, ownerUidLabel, pruneAnnotation, revisionsLabel } from './ownership-labels.ts'

/** Which child. */
export interface ChildId extends TypeMeta {
  readonly group: string
  /** Empty for objects without one. */
  readonly namespace: string
  readonly name: string
}

export interface PreparedChild {
  readonly id: ChildId
  /** The kind in full if the author has it. */
  readonly kind: Kind | TypeMeta
  /** Everything but the mark of the apply. */
  readonly object: KubeObject
  readonly digest: string
  /** Whether no owner reference reaches it. */
  readonly isOutOfReach: boolean
}

interface PrepareOptions {
  readonly kind: Kind | TypeMeta
  readonly isNamespaced: boolean
  /** @default true */
  readonly prune?: boolean
  readonly revisions?: string | undefined
}

/** What an author may leave out is filled in from the parent. */
export type DesiredChild = Partial<TypeMeta> & { readonly metadata?: ObjectMeta }

/** @throws {RangeError} for a child that cannot be. */
export function prepareChild(parent: Owner, desired: DesiredChild, facts: PrepareOptions): PreparedChild {
  const { apiVersion, kind } = facts.kind
  const { metadata = {}, ...rest } = JSON.parse(JSON.stringify(desired)) as KubeObject
  const content = apiVersion === 'v1' && kind === 'Secret' ? encoded(rest as JsonObject) : rest
  if (metadata.generateName !== undefined)
    throw new RangeError(
      `a child ${kind} of ${parent.kind} ${parent.metadata.name} cannot have a generateName: it would be made anew in every run. Give it a name, or use revisions`,
    )
  const name = metadata.name ?? parent.metadata.name
  const namespace = facts.isNamespaced ? (metadata.namespace ?? parent.metadata.namespace) : undefined
  if (facts.isNamespaced && namespace === undefined)
    throw new RangeError(
      `${kind} ${name} needs a namespace: its parent ${parent.kind} ${parent.metadata.name} has none to take`,
    )
  const isElsewhere = parent.metadata.namespace !== undefined && parent.metadata.namespace !== namespace
  const bare = {
    ...content,
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...withOwnership(metadata, parent, { ...facts, isElsewhere }),
    },
  }
  const object = isElsewhere ? bare : setControllerReference(parent, bare)
  const id = { apiVersion, group: parseApiVersion(apiVersion).group, kind, namespace: namespace ?? '', name }
  // What follows from the parent is compared by itself; without it the digest is the same for the same content.
  const { labels, annotations, ownerReferences, finalizers } = metadata
  const said = {
    ...content,
    apiVersion,
    kind,
    metadata: { labels, annotations, ownerReferences, finalizers },
    isElsewhere,
    prune: facts.prune ?? true,
    revisions: facts.revisions,
  }
  return { id, kind: facts.kind, object, digest: digestOf(said as unknown as JsonValue), isOutOfReach: isElsewhere }
}

/** Servers take `stringData` and keep `data`; what is said as it is kept can be compared. */
function encoded({ stringData, data, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(stringData)) return { ...rest, ...(data !== undefined && { data }) }
  const texts = Object.entries(stringData).map(
    ([name, text]) => [name, typeof text === 'string' ? Buffer.from(text).toString('base64') : text] as const,
  )
  return { ...rest, data: Object.fromEntries([...Object.entries(isJsonObject(data) ? data : {}), ...texts]) }
}

function withOwnership(
  { labels, annotations, ownerReferences, finalizers }: ObjectMeta,
  parent: Owner,
  { prune = true, revisions, isElsewhere }: PrepareOptions & { isElsewhere: boolean },
): ObjectMeta {
  const notes = {
    ...annotations,
    ...(isElsewhere && { [ownerAnnotation]: formatOwner(parent) }),
    ...(!prune && { [pruneAnnotation]: 'false' }),
  }
  return {
    labels: {
      ...labels,
      [ownerUidLabel]: parent.metadata.uid,
      ...(revisions !== undefined && { [revisionsLabel]: revisions }),
    },
    ...(Object.keys(notes).length > 0 && { annotations: notes }),
    ...(ownerReferences && { ownerReferences }),
    ...(finalizers && { finalizers }),
  }
}

/** One text for one child: by group, so that a new version of a kind is no new child. */
export function idText({
  group,
  kind,
  namespace,
  name,
}: Pick<ChildId, 'group' | 'kind' | 'namespace' | 'name'>): string {
  return JSON.stringify([group, kind, namespace, name])
}

export function childIdOf({ apiVersion, kind, metadata: { namespace = '', name = '' } }: KubeObject): ChildId {
  return { apiVersion, group: parseApiVersion(apiVersion).group, kind, namespace, name }
}

/** `Deployment web`, `ConfigMap other/web`: for people. */
export function describeId(
  { kind, namespace, name }: Pick<ChildId, 'kind' | 'namespace' | 'name'>,
  { metadata }: KubeObject,
): string {
  return namespace === '' || namespace === metadata.namespace ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}

/** @throws {RangeError} when a function gave something else the second time. */
export function checkSame(first: unknown, second: unknown, what: string): void {
  if (deepEqual(JSON.parse(JSON.stringify(first)) as JsonValue, JSON.parse(JSON.stringify(second)) as JsonValue)) return
  throw new RangeError(
    `${what} gives something else each time it is called, so its children would be written for ever: take time, chance and the order of sets and maps out of it`,
  )
}

/*
 * A short text that is the same for the same JSON, whatever the order of its fields.
 */

/** Sixteen hexadecimal digits. */
export function digestOf(value: JsonValue | undefined): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16)
}

/** Fields in order; what JSON does not have is left out. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value)
    .filter((name) => getOwn(value, name) !== undefined)
    .sort(compareText)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(getOwn(value, name))}`).join()}}`
}
