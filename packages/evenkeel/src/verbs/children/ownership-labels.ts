/**
 * What is written on a child so that it can be told from everybody else's objects.
 *
 * A label with the UID of the parent (a UID fits into a label, a name need not), and an annotation that says which
 * controller applied it, for which generation of the parent, and a digest of what was applied. Marks are found beside an
 * owner reference, never instead of it, as far as owner references reach.
 */
import { getControllerOf, parseApiVersion } from '#api'
import type { Kind, KubeObject, OwnerReference } from '#api'

/** The UID of the parent. */
export const ownerUidLabel = 'evenkeel.dev/owner-uid'
/** Which series of revisions it belongs to. */
export const revisionsLabel = 'evenkeel.dev/revisions'
/** `controller/generation/digest` of the last apply. */
export const appliedAnnotation = 'evenkeel.dev/applied'
/** `false`: it stays when it is no longer declared. */
export const pruneAnnotation = 'evenkeel.dev/prune'
/** `Kind.group/namespace/name` of a parent that no owner reference can name. */
export const ownerAnnotation = 'evenkeel.dev/owner'

interface AppliedAnnotation {
  readonly controller: string
  /** That of the parent. */
  readonly generation: number
  readonly digest: string
}

export function formatApplied({ controller, generation, digest }: AppliedAnnotation): string {
  return `${controller}/${generation}/${digest}`
}

/** The mark of an object; undefined when it has none, or one that nobody of us wrote. */
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

/** Name and namespace of the parent of this kind that an object names in its annotation. */
export function readOwner(
  { metadata: { annotations } }: KubeObject,
  { kind, group }: Pick<Kind, 'kind' | 'group'>,
): { name: string; namespace?: string } | undefined {
  const [type, namespace = '', name = '', ...rest] = (annotations?.[ownerAnnotation] ?? '').split('/')
  // A group has dots and no slash, so there are always three parts.
  if (type !== `${kind}.${group}` || name === '' || rest.length > 0) return undefined
  return { name, ...(namespace !== '' && { namespace }) }
}

/** Whether it is the child of a parent: by its controller, or by our marks where no controller is named. */
export function belongsTo(object: KubeObject, parent: KubeObject): boolean {
  const controller: OwnerReference | undefined = getControllerOf(object)
  if (controller) return controller.uid === parent.metadata.uid
  return object.metadata.labels?.[ownerUidLabel] === parent.metadata.uid && readApplied(object) !== undefined
}
