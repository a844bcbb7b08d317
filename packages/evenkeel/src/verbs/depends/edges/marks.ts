/**
 * Marks: an annotation for each referer on the object that it depends on, for people who look at that object.
 *
 * Each referer applies its own as a field manager of its own, so none ever stands in another's way, and taking it back
 * leaves the object as it was. The key follows from the referer's name, so whoever is made again under it finds the mark
 * that was left behind and makes it his own; the value has the UID. Nothing is decided by marks: the index finds referers.
 */
import { createHash } from 'node:crypto'
import { deepEqual, formatKey, isForbidden, isInvalid, isNotFound, isRequestEntityTooLarge } from '#api'
import type { KubeObject } from '#api'
import type { CacheEvent } from '#cache'
import type { BaseContext } from '#controller'
import { formatRef, refKey, refOf } from '../reference.ts'
import type { Edge } from './edge.ts'

/** Sixteen hexadecimal digits that stand for a text. */
export function edgeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

interface AnnotationContext {
  readonly base: BaseContext
  readonly referer: KubeObject
}

/** Marks the object; says what kept us from it, if it is nothing that trying again would help. */
export async function annotateDependency(
  edge: Edge,
  { base, referer }: AnnotationContext,
): Promise<string | undefined> {
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
export async function removeAnnotation(
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
