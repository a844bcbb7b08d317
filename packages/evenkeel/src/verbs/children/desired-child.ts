/**
 * A desired child: the author's object with name, namespace, owner reference and ownership labels.
 *
 * Invariants: the same input gives the same object; fields that only a server sets (uid, resourceVersion, managedFields)
 * are dropped, so an author may start from an object that was read.
 */
import {
  deepEqual,
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
  asJson,
  parseJson,
  stringifyJson,
} from '#api'
import { digestOf } from '../digest.ts'
import {
  formatOwner,
  keepAnnotation,
  onceLabel,
  ownerAnnotation,
  ownerUidLabel,
  pruneAnnotation,
  readyAnnotation,
  revisionsLabel,
  type OnceSeries,
} from './ownership-labels.ts'

/** Identifies a child. */
export interface ChildId extends TypeMeta {
  readonly group: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export interface PreparedChild {
  readonly id: ChildId
  /** The full kind if the author passed it. */
  readonly kind: Kind | TypeMeta
  /** Complete except for the annotation of the apply. */
  readonly object: KubeObject
  readonly digest: string
  /** Whether it is in a namespace that an owner reference to the parent cannot cross into. */
  readonly isElsewhere: boolean
}

interface PrepareOptions {
  readonly kind: Kind | TypeMeta
  readonly isNamespaced: boolean
  /** @default true */
  readonly prune?: boolean
  readonly revisions?: string | undefined
  /** The series of a child that is made once. */
  readonly once?: OnceSeries | undefined
  /** An expression that says when it is ready; stored if later runs need not declare the child. */
  readonly ready?: string | undefined
}

/** The author's object; missing fields come from the parent. */
export type DesiredChild = Partial<TypeMeta> & { readonly metadata?: ObjectMeta }

/** @throws {RangeError} for an invalid child. */
export function prepareChild(parent: Owner, desired: DesiredChild, options: PrepareOptions): PreparedChild {
  const { apiVersion, kind } = options.kind
  const { metadata = {}, ...rest } = parseJson(stringifyJson(desired)) as KubeObject
  const content = apiVersion === 'v1' && kind === 'Secret' ? encodeStringData(rest as JsonObject) : rest
  if (metadata.generateName !== undefined)
    throw new RangeError(
      `a child ${kind} of ${parent.kind} ${parent.metadata.name} cannot have generateName: every run would create another one. Set a name, or use revisions`,
    )
  const name = metadata.name ?? parent.metadata.name
  const namespace = options.isNamespaced ? (metadata.namespace ?? parent.metadata.namespace) : undefined
  if (options.isNamespaced && namespace === undefined)
    throw new RangeError(
      `${kind} ${name} needs a namespace: its parent ${parent.kind} ${parent.metadata.name} is cluster-scoped and has none to inherit`,
    )
  const isElsewhere = parent.metadata.namespace !== undefined && parent.metadata.namespace !== namespace
  const bare = {
    ...content,
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...withOwnership(metadata, parent, { ...options, isElsewhere }),
    },
  }
  const object = isElsewhere ? bare : setControllerReference(parent, bare)
  const id = { apiVersion, group: parseApiVersion(apiVersion).group, kind, namespace: namespace ?? '', name }
  // The digest covers the author's content only. What comes from the parent is compared field by field.
  const { labels, annotations, ownerReferences, finalizers } = metadata
  const digested = {
    ...content,
    apiVersion,
    kind,
    metadata: { labels, annotations, ownerReferences, finalizers },
    isElsewhere,
    prune: options.prune ?? true,
    revisions: options.revisions,
  }
  return { id, kind: options.kind, object, digest: digestOf(asJson(digested)), isElsewhere }
}

/** A server stores `stringData` as `data`. Encoding it here makes the Secret comparable with the stored one. */
function encodeStringData({ stringData, data, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(stringData)) return { ...rest, ...(data !== undefined && { data }) }
  const texts = Object.entries(stringData).map(
    ([name, text]) => [name, typeof text === 'string' ? Buffer.from(text).toString('base64') : text] as const,
  )
  return { ...rest, data: Object.fromEntries([...Object.entries(isJsonObject(data) ? data : {}), ...texts]) }
}

function withOwnership(
  { labels, annotations, ownerReferences, finalizers }: ObjectMeta,
  parent: Owner,
  { prune = true, revisions, ready, once, isElsewhere }: PrepareOptions & { isElsewhere: boolean },
): ObjectMeta {
  const allAnnotations = {
    ...annotations,
    ...(isElsewhere && { [ownerAnnotation]: formatOwner(parent) }),
    ...(!prune && { [pruneAnnotation]: 'false' }),
    ...(!prune && ready !== undefined && { [readyAnnotation]: ready }),
    ...(once && { [keepAnnotation]: JSON.stringify(once.keep) }),
  }
  return {
    labels: {
      ...labels,
      [ownerUidLabel]: parent.metadata.uid,
      ...(revisions !== undefined && { [revisionsLabel]: revisions }),
      ...(once && { [onceLabel]: once.series }),
    },
    ...(Object.keys(allAnnotations).length > 0 && { annotations: allAnnotations }),
    ...(ownerReferences && { ownerReferences }),
    ...(finalizers && { finalizers }),
  }
}

/** A key for a child: by group, without version, so that another version of a kind is the same child. */
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

/** For messages: `Deployment web`, `ConfigMap other/web`. */
export function describeId(
  { kind, namespace, name }: Pick<ChildId, 'kind' | 'namespace' | 'name'>,
  { metadata }: KubeObject,
): string {
  return namespace === '' || namespace === metadata.namespace ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}

/** @throws {RangeError} if a function returned something else the second time. */
export function checkSame(first: unknown, second: unknown, what: string): void {
  if (deepEqual(parseJson(stringifyJson(first)) as JsonValue, parseJson(stringifyJson(second)) as JsonValue)) return
  throw new RangeError(
    `${what} is not deterministic, so its children would be written in every run: do not use time, random values or the order of sets and maps in it`,
  )
}
