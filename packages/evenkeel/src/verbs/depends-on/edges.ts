/**
 * Edges: what a referer has written on an object that it depends on, and must remove later.
 *
 *   recorded in the status of the referer ──▶ written on the dependency ──▶ removed there ──▶ removed from the status
 *
 * Invariant: the record comes first, so a later run finds every edge after any crash, whatever the spec says by then.
 *
 * Example: Route a/front moves from App x to App y, with `annotate: true` and `protect: 'finalizer'`:
 *
 *   1  status.dependencies of front: [x, y]                      y is recorded, x is not forgotten
 *   2  y gets the finalizer route.dev/in-use-by-route and the annotation
 *      used-by.route.dev/3f1c9a0b7d22e481: "Route a/front 6b1e…" the key is the hash of the referer, the value has its UID
 *   3  x loses the annotation, and the finalizer unless another Route refers to x
 *   4  status.dependencies of front: [y]
 *
 * Annotations inform people and decide nothing: referers are found by the index. Each referer applies its annotation with
 * a field manager of its own, so referers never conflict, and removing it restores the object. A referer that is created
 * again under its name has the same key and takes over an annotation that was left behind.
 *
 * The finalizer is for servers without Usages. It belongs to the controller, not to a referer, and is removed with the
 * last referer in the index.
 */
import {
  deepEqual,
  formatKey,
  hasFinalizer,
  isForbidden,
  isInvalid,
  isNotFound,
  isRequestEntityTooLarge,
  type DependencyReport,
  type KubeObject,
} from '#api'
import type { CacheEvent } from '#cache'
import { isUnknownKind } from '#client'
import type { BaseContext } from '#controller'
import { shortHash } from '../digest.ts'
import type { FollowedDependencies } from './dependency-source.ts'
import { compareRefs, formatRef, refKey, refOf, type ObjectRef } from './reference.ts'
import { recordedDependencies } from './status.ts'

export interface Edge extends ObjectRef {
  readonly apiVersion: string
  /** Prefixes of its annotations. */
  readonly prefixes: readonly string[]
  readonly isProtected: boolean
  /** The dependency as read from the cache. */
  readonly object: KubeObject
}

/** An edge of an earlier run, by name: a backup may restore the object with our annotation and another UID. */
interface RecordedEdge extends ObjectRef {
  readonly apiVersion: string
}

interface EdgeContext {
  readonly base: BaseContext
  readonly referer: KubeObject
  readonly protection: ProtectionFinalizers
}

/** One edge for each dependency, with all prefixes and the protection of all declarations. */
export function mergeEdges(edges: readonly Edge[]): readonly Edge[] {
  const merged = new Map<string, Edge>()
  for (const edge of edges) {
    const known = merged.get(refKey(edge))
    merged.set(
      refKey(edge),
      known
        ? {
            ...known,
            prefixes: [...new Set([...known.prefixes, ...edge.prefixes])].sort(),
            isProtected: known.isProtected || edge.isProtected,
          }
        : edge,
    )
  }
  return [...merged.values()].sort(compareRefs)
}

/** Writes the desired edges, after recording them, and removes the others. @returns the annotations that failed */
export async function applyEdges(
  desired: readonly Edge[],
  context: EdgeContext & { readonly lines: readonly DependencyReport[] },
): Promise<readonly string[]> {
  const { referer } = context
  const recorded = recordedEdges(referer)
  const isRecorded = (edge: Edge): boolean => recorded.some((old) => isSameEdge(old, edge))
  if (!desired.every(isRecorded)) await record(context)
  const problems: string[] = []
  for (const edge of desired) {
    if (edge.isProtected) await context.protection.protect(edge)
    const problem = edge.prefixes.length > 0 ? await annotateDependency(edge, context) : undefined
    if (problem !== undefined) problems.push(problem)
  }
  await removeEdges(
    recorded.filter((old) => !desired.some((edge) => isSameEdge(old, edge))),
    context,
  )
  return problems
}

/** Removes edges. A dependency that is gone has none. */
export async function removeEdges(
  edges: readonly RecordedEdge[],
  { base, referer, protection }: EdgeContext,
): Promise<void> {
  for (const edge of edges) {
    const object = await protection.read(edge)
    if (!object) continue
    const unannotated = await removeAnnotation(object, { base, referer })
    await protection.unprotect({ ...edge, object: unannotated })
  }
}

export function recordedEdges(referer: KubeObject): readonly RecordedEdge[] {
  return recordedDependencies(referer).flatMap(({ group, kind, namespace, name, apiVersion }) =>
    apiVersion === undefined ? [] : [{ group, kind, namespace, name, apiVersion }],
  )
}

export function isSameEdge(a: RecordedEdge, b: RecordedEdge): boolean {
  return refKey(a) === refKey(b)
}

/** Records the new entries and keeps the old ones until their edges are removed. */
async function record({
  base: { client, signal },
  referer,
  lines,
}: EdgeContext & { readonly lines: readonly DependencyReport[] }): Promise<void> {
  const keys = new Set(lines.map(refKey))
  const dependencies = [...lines, ...recordedDependencies(referer).filter((line) => !keys.has(refKey(line)))].sort(
    compareRefs,
  )
  await client.subresource('status').patch(
    referer,
    {
      metadata: { resourceVersion: referer.metadata.resourceVersion ?? '' },
      status: { dependencies: dependencies as never },
    },
    { signal },
  )
}

interface AnnotationContext {
  readonly base: BaseContext
  readonly referer: KubeObject
}

/** Annotates the dependency. @returns why it failed, if a retry would not help */
async function annotateDependency(edge: Edge, { base, referer }: AnnotationContext): Promise<string | undefined> {
  const { client, signal } = base
  const hash = hashOf(referer)
  const text = `${formatRef(refOf(referer))} ${referer.metadata.uid ?? ''}`
  const annotations = Object.fromEntries(edge.prefixes.map((prefix) => [`${prefix}/${hash}`, text]))
  if (Object.entries(annotations).every(([key, value]) => edge.object.metadata.annotations?.[key] === value))
    return undefined
  try {
    await client.apply(identityOf(edge.object, { annotations }), {
      fieldManager: fieldManagerOf(referer),
      force: true,
      signal,
    })
    return undefined
  } catch (error) {
    if (!isForbidden(error) && !isInvalid(error) && !isRequestEntityTooLarge(error)) throw error
    return `${formatRef(edge)}: ${error.message}`
  }
}

/** The object without our annotation, whichever field manager owns it: objects are copied with their annotations. */
async function removeAnnotation(
  object: KubeObject,
  { base: { client, signal }, referer }: AnnotationContext,
): Promise<KubeObject> {
  const hash = hashOf(referer)
  const keys = Object.keys(object.metadata.annotations ?? {}).filter((key) => key.endsWith(`/${hash}`))
  if (keys.length === 0) return object
  try {
    return await client.patch(
      object,
      { metadata: { annotations: Object.fromEntries(keys.map((key) => [key, null])) } },
      { fieldManager: fieldManagerOf(referer), signal },
    )
  } catch (error) {
    if (isNotFound(error)) return object
    throw error
  }
}

/** An apply body with the UID, so that the apply fails instead of creating a dependency that is gone. */
function identityOf(
  { apiVersion, kind, metadata: { name = '', namespace, uid } }: KubeObject,
  metadata: Pick<KubeObject['metadata'], 'annotations'>,
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }), ...metadata },
  }
}

function fieldManagerOf(referer: KubeObject): string {
  return `evenkeel-used-by-${hashOf(referer)}`
}

function hashOf(referer: KubeObject): string {
  return shortHash(refKey(refOf(referer)))
}

/** The index key of a referer by the hash in its annotation. */
export function annotationKey(referer: KubeObject): string {
  return keyOfHash(hashOf(referer))
}

function keyOfHash(hash: string): string {
  return formatKey({ cluster: 'annotation', group: '', kind: '', name: hash })
}

/**
 * The index keys of the referers whose annotation an event removed. Undefined if the event changed anything else: then
 * it concerns all referers.
 */
export function lostAnnotations({ type, old, object }: CacheEvent, prefix: string): readonly string[] | undefined {
  if (type !== 'update' || !old || old.metadata.resourceVersion === object.metadata.resourceVersion) return undefined
  const [before, after] = [splitAnnotations(old, prefix), splitAnnotations(object, prefix)]
  if (!deepEqual(before.rest as never, after.rest as never)) return undefined
  return Object.entries(before.annotations)
    .filter(([key, value]) => after.annotations[key] !== value)
    .map(([key]) => keyOfHash(key.slice(prefix.length + 1)))
}

function splitAnnotations(
  object: KubeObject,
  prefix: string,
): { readonly annotations: Readonly<Record<string, string>>; readonly rest: object } {
  const { resourceVersion: _, managedFields: __, annotations = {}, ...metadata } = object.metadata
  const isOurs = ([key]: [string, unknown]): boolean => key.startsWith(`${prefix}/`)
  const entries = Object.entries(annotations)
  const others = entries.filter((entry) => !isOurs(entry))
  return {
    annotations: Object.fromEntries(entries.filter(isOurs)),
    rest: { ...object, metadata: { ...metadata, annotations: others } },
  }
}

interface ProtectionFinalizersOptions {
  readonly base: BaseContext
  readonly finalizer: string
  /** The finalizer of referers whose cleanup is not complete. */
  readonly refererFinalizer: string
  /** The indexes of referers, one for each declaration with `protect: 'finalizer'`. */
  readonly followed: readonly FollowedDependencies[]
  /** UID of the referer that is being removed. */
  readonly leaving: string | undefined
}

/** Protects dependencies with a finalizer while they are in use. */
export class ProtectionFinalizers {
  readonly #options: ProtectionFinalizersOptions

  constructor(options: ProtectionFinalizersOptions) {
    this.#options = options
  }

  /** Reads a dependency from the server: the cache may lag behind our writes. */
  async read({ apiVersion, kind, namespace, name }: RecordedEdge): Promise<KubeObject | undefined> {
    const { client, signal } = this.#options.base
    try {
      return await client.find(
        { apiVersion, kind },
        { name, ...(namespace !== '' && { namespace }) },
        { live: true, signal },
      )
    } catch (error) {
      if (isUnknownKind(error)) return undefined
      throw error
    }
  }

  async protect({ object }: Edge): Promise<void> {
    const {
      base: { client, signal },
      finalizer,
    } = this.#options
    if (hasFinalizer(object, finalizer) || object.metadata.deletionTimestamp !== undefined) return
    const { finalizers = [], resourceVersion = '', uid = '' } = object.metadata
    await client.patch(
      object,
      { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } },
      { signal },
    )
  }

  async unprotect({ object, ...ref }: RecordedEdge & { readonly object: KubeObject }): Promise<void> {
    const {
      base: { client, signal },
      finalizer,
    } = this.#options
    if (!hasFinalizer(object, finalizer) || this.#isUsed(ref)) return
    const { finalizers = [], resourceVersion = '', uid = '' } = object.metadata
    try {
      const left = finalizers.filter((one) => one !== finalizer)
      await client.patch(
        object,
        { metadata: { uid, resourceVersion, finalizers: left.length === 0 ? null : left } },
        { signal },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Removes the finalizer from all dependencies that are no longer in use. */
  async sweep(): Promise<void> {
    const { followed, finalizer } = this.#options
    const protectedObjects = followed.flatMap(({ kinds }) => kinds).flatMap((kind) => kind.withFinalizer(finalizer))
    for (const object of protectedObjects)
      await this.unprotect({ ...refOf(object), apiVersion: object.apiVersion, object })
  }

  #isUsed(ref: ObjectRef): boolean {
    const { followed, leaving, refererFinalizer } = this.#options
    return followed.some((one) =>
      one
        .referersOf(ref)
        .some(
          (referer) =>
            referer.metadata.uid !== leaving &&
            (referer.metadata.deletionTimestamp === undefined || hasFinalizer(referer, refererFinalizer)),
        ),
    )
  }
}
