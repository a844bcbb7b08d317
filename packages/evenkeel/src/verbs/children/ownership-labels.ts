/**
 * Ownership labels and annotations of a child.
 *
 *   label       evenkeel.dev/owner-uid: 7d3f…              the UID of the parent; a UID fits into a label value, a name may not
 *   annotation  evenkeel.dev/applied: website/4/0f9a12…    controller, generation of the parent, digest of the applied content
 *   label       evenkeel.dev/once: backup                  only for children made once: their series
 *   annotation  evenkeel.dev/keep: {"Complete":3,"Failed":1}   the same: how many finished ones of the series stay
 *   annotation  evenkeel.dev/owner: Website.demo.dev/a/web only for children elsewhere, which cannot have an owner reference
 *
 * They supplement the controller owner reference. They replace it only for children elsewhere.
 */
import { getControllerOf, isJsonObject, parseApiVersion } from '#api'
import type { Kind, KubeObject, OwnerReference } from '#api'

/** The UID of the parent. */
export const ownerUidLabel = 'evenkeel.dev/owner-uid'
/** Which series of revisions it belongs to. */
export const revisionsLabel = 'evenkeel.dev/revisions'
/** Which series of children made once it belongs to. */
export const onceLabel = 'evenkeel.dev/once'
/** How many finished children of the series stay, as JSON. */
export const keepAnnotation = 'evenkeel.dev/keep'
/** `controller/generation/digest` of the last apply. */
export const appliedAnnotation = 'evenkeel.dev/applied'
/** `false`: the child stays when it is no longer declared. */
export const pruneAnnotation = 'evenkeel.dev/prune'
/** The CEL expression that says when a child is ready, for children that later runs do not declare. */
export const readyAnnotation = 'evenkeel.dev/ready'
/** `Kind.group/namespace/name` of the parent of a child elsewhere. */
export const ownerAnnotation = 'evenkeel.dev/owner'

/** How many finished children of a series stay, by outcome. */
export interface HistoryLimits {
  readonly Complete: number
  readonly Failed: number
}

/** The series of a child that is made once. */
export interface OnceSeries {
  readonly series: string
  readonly keep: HistoryLimits
}

/** The limits on a child. A value that was changed by hand and is no count limits nothing. */
export function readLimits({ metadata: { annotations } }: KubeObject): Partial<HistoryLimits> {
  try {
    const limits: unknown = JSON.parse(annotations?.[keepAnnotation] ?? '{}')
    const { Complete, Failed } = isJsonObject(limits) ? limits : {}
    const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0
    return { ...(isCount(Complete) && { Complete }), ...(isCount(Failed) && { Failed }) }
  } catch {
    return {}
  }
}

interface AppliedAnnotation {
  readonly controller: string
  /** Of the parent. */
  readonly generation: number
  readonly digest: string
}

export function formatApplied({ controller, generation, digest }: AppliedAnnotation): string {
  return `${controller}/${generation}/${digest}`
}

/** The annotation of the last apply; undefined if it is missing or malformed. */
export function readApplied({ metadata: { annotations } }: KubeObject): AppliedAnnotation | undefined {
  const [, controller, generation, digest] =
    /^(.+)\/(\d{1,15})\/([0-9a-f]+)$/.exec(annotations?.[appliedAnnotation] ?? '') ?? []
  return controller === undefined || digest === undefined
    ? undefined
    : { controller, generation: Number(generation), digest }
}

export function formatOwner({ apiVersion, kind, metadata: { namespace = '', name = '' } }: KubeObject): string {
  return `${kind}.${parseApiVersion(apiVersion).group}/${namespace}/${name}`
}

/** Name and namespace of the parent of this kind that the owner annotation names. */
export function readOwner(
  { metadata: { annotations } }: KubeObject,
  { kind, group }: Pick<Kind, 'kind' | 'group'>,
): { name: string; namespace?: string } | undefined {
  const [type, namespace = '', name = '', ...rest] = (annotations?.[ownerAnnotation] ?? '').split('/')
  // A group contains no slash, so there are always three parts.
  if (type !== `${kind}.${group}` || name === '' || rest.length > 0) return undefined
  return { name, ...(namespace !== '' && { namespace }) }
}

/** Whether an object is a child of a parent: by its controller reference, or by ownership labels if it has none. */
export function belongsTo(object: KubeObject, parent: KubeObject): boolean {
  const controller: OwnerReference | undefined = getControllerOf(object)
  if (controller) return controller.uid === parent.metadata.uid
  return object.metadata.labels?.[ownerUidLabel] === parent.metadata.uid && readApplied(object) !== undefined
}
