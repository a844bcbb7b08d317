/**
 * An edge: what a referer has written somewhere about an object it depends on, and has to take back again.
 *
 *   recorded in the referer's status ──▶ written on the object ──▶ no longer wanted: taken back ──▶ out of the status
 *
 * Invariant: nothing is written on an object before the record of it, so whatever happens in between, and whatever the
 * spec says by then, a later run knows where to look.
 */
import { createHash } from 'node:crypto'
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
import type { FollowedDependencies } from './dependency-source.ts'
import { compareRefs, formatRef, refKey, refOf, type ObjectRef } from './reference.ts'
import { recordedDependencies } from './status.ts'

export interface Edge extends ObjectRef {
  readonly apiVersion: string
  /** Prefixes of the annotations it gets. */
  readonly prefixes: readonly string[]
  readonly isProtected: boolean
  /** As it was read. */
  readonly object: KubeObject
}

/** An edge of an earlier run: a place, whatever is there by now. Objects are made again with what stood on them. */
interface RecordedEdge extends ObjectRef {
  readonly apiVersion: string
}

interface EdgeContext {
  readonly base: BaseContext
  readonly referer: KubeObject
  readonly protection: ProtectionFinalizers
}

/** Each object once, with everything that is wanted of it. */
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

/** Writes what is wanted, the record first; then takes back what is not. Says what could not be marked. */
export async function applyEdges(
  wanted: readonly Edge[],
  settling: EdgeContext & { readonly lines: readonly DependencyReport[] },
): Promise<readonly string[]> {
  const { referer } = settling
  const recorded = recordedEdges(referer)
  const isRecorded = (edge: Edge): boolean => recorded.some((old) => isSameEdge(old, edge))
  if (!wanted.every(isRecorded)) await record(settling)
  const troubles: string[] = []
  for (const edge of wanted) {
    if (edge.isProtected) await settling.protection.protect(edge)
    const trouble = edge.prefixes.length > 0 ? await annotateDependency(edge, settling) : undefined
    if (trouble !== undefined) troubles.push(trouble)
  }
  await removeEdges(
    recorded.filter((old) => !wanted.some((edge) => isSameEdge(old, edge))),
    settling,
  )
  return troubles
}

/** Takes back what was written. What has gone has taken it along. */
export async function removeEdges(
  edges: readonly RecordedEdge[],
  { base, referer, protection: holds }: EdgeContext,
): Promise<void> {
  for (const edge of edges) {
    const object = await holds.read(edge)
    if (!object) continue
    const unmarked = await removeAnnotation(object, { base, referer })
    await holds.unprotect({ ...edge, object: unmarked })
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

/** New lines and old ones: nothing is forgotten before it was taken back. */
async function record({
  base: { client, signal },
  referer,
  lines,
}: EdgeContext & { readonly lines: readonly DependencyReport[] }): Promise<void> {
  const places = new Set(lines.map(refKey))
  const dependencies = [...lines, ...recordedDependencies(referer).filter((line) => !places.has(refKey(line)))].sort(
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

/*
 * Marks: an annotation for each referer on the object that it depends on, for people who look at that object.
 *
 * Each referer applies its own as a field manager of its own, so none ever stands in another's way, and taking it back
 * leaves the object as it was. The key follows from the referer's name, so whoever is made again under it finds the mark
 * that was left behind and makes it his own; the value has the UID. Nothing is decided by marks: the index finds referers.
 */

/** Sixteen hexadecimal digits that stand for a text. */
export function edgeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

interface AnnotationContext {
  readonly base: BaseContext
  readonly referer: KubeObject
}

/** Marks the object; says what kept us from it, if it is nothing that trying again would help. */
async function annotateDependency(edge: Edge, { base, referer }: AnnotationContext): Promise<string | undefined> {
  const { client, signal } = base
  const hash = hashOf(referer)
  const text = `${formatRef(refOf(referer))} ${referer.metadata.uid ?? ''}`
  const annotations = Object.fromEntries(edge.prefixes.map((prefix) => [`${prefix}/${hash}`, text]))
  if (Object.entries(annotations).every(([key, value]) => edge.object.metadata.annotations?.[key] === value))
    return undefined
  try {
    await client.apply(identityOf(edge.object, { annotations }), {
      fieldManager: ownerOf(referer),
      force: true,
      signal,
    })
    return undefined
  } catch (error) {
    if (!isForbidden(error) && !isInvalid(error) && !isRequestEntityTooLarge(error)) throw error
    return `${formatRef(edge)}: ${error.message}`
  }
}

/** The object without our mark, whoever owns it by now: objects are copied with what stands on them. */
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
      { fieldManager: ownerOf(referer), signal },
    )
  } catch (error) {
    if (isNotFound(error)) return object
    throw error
  }
}

/** With the UID: what has gone in the meantime must not be made by us. */
function identityOf(
  { apiVersion, kind, metadata: { name = '', namespace, uid } }: KubeObject,
  more: Pick<KubeObject['metadata'], 'annotations'>,
): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }), ...more },
  }
}

function ownerOf(referer: KubeObject): string {
  return `evenkeel-used-by-${hashOf(referer)}`
}

function hashOf(referer: KubeObject): string {
  return edgeHash(refKey(refOf(referer)))
}

/** Under what a referer is found when its mark is lost. */
export function annotationKey(referer: KubeObject): string {
  return keyOfHash(hashOf(referer))
}

function keyOfHash(hash: string): string {
  return formatKey({ cluster: 'mark', group: '', kind: '', name: hash })
}

/** Whose marks an event took away, if it is about marks and nothing else; all other events are everybody's. */
export function lostAnnotations({ type, old, object }: CacheEvent, prefix: string): readonly string[] | undefined {
  if (type !== 'update' || !old || old.metadata.resourceVersion === object.metadata.resourceVersion) return undefined
  const [before, after] = [splitAnnotations(old, prefix), splitAnnotations(object, prefix)]
  if (!deepEqual(before.rest as never, after.rest as never)) return undefined
  return Object.entries(before.marks)
    .filter(([key, value]) => after.marks[key] !== value)
    .map(([key]) => keyOfHash(key.slice(prefix.length + 1)))
}

function splitAnnotations(
  object: KubeObject,
  prefix: string,
): { readonly marks: Readonly<Record<string, string>>; readonly rest: object } {
  const { resourceVersion: _, managedFields: __, annotations = {}, ...metadata } = object.metadata
  const isMark = ([key]: [string, unknown]): boolean => key.startsWith(`${prefix}/`)
  const entries = Object.entries(annotations)
  const others = entries.filter((entry) => !isMark(entry))
  return {
    marks: Object.fromEntries(entries.filter(isMark)),
    rest: { ...object, metadata: { ...metadata, annotations: others } },
  }
}

/*
 * Holding an object while it is in use, by a finalizer of ours on it: for servers that know nothing of Usages.
 *
 * The finalizer is the controller's, not a referer's: it goes with the last one who uses the object. Who is last is seen
 * in the index. Whoever leaves without a word (its own finalizer was forced) is noticed when its key is gone.
 */

interface ProtectionFinalizersOptions {
  readonly base: BaseContext
  readonly finalizer: string
  /** On referers whose cleanup is not done. */
  readonly refererFinalizer: string
  /** Where it is seen who refers to what: one for each declaration that holds. */
  readonly followed: readonly FollowedDependencies[]
  /** Whoever leaves now. */
  readonly leaving: string | undefined
}

export class ProtectionFinalizers {
  readonly #options: ProtectionFinalizersOptions

  constructor(options: ProtectionFinalizersOptions) {
    this.#options = options
  }

  /** From the server: what memory shows may be older than what was written. */
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

  async unprotect({ object, ...place }: RecordedEdge & { readonly object: KubeObject }): Promise<void> {
    const {
      base: { client, signal },
      finalizer,
    } = this.#options
    if (!hasFinalizer(object, finalizer) || this.#isUsed(place)) return
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

  /** Lets everything go that nobody uses. */
  async sweep(): Promise<void> {
    const { followed, finalizer } = this.#options
    const held = followed.flatMap(({ kinds }) => kinds).flatMap((kind) => kind.withFinalizer(finalizer))
    for (const object of held) await this.unprotect({ ...refOf(object), apiVersion: object.apiVersion, object })
  }

  #isUsed(place: ObjectRef): boolean {
    const { followed, leaving, refererFinalizer } = this.#options
    return followed.some((one) =>
      one
        .referersOf(place)
        .some(
          (referer) =>
            referer.metadata.uid !== leaving &&
            (referer.metadata.deletionTimestamp === undefined || hasFinalizer(referer, refererFinalizer)),
        ),
    )
  }
}
