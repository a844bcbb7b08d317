/**
 * Whether an object already is what would be applied, so that nothing need be sent.
 *
 * A server changes what it stores: it fills in defaults, writes quantities its own way, and others add to lists. So what
 * counts is only where we say something; and where that differs from what we said, it may be what the server made of it.
 * That is remembered when it answers an apply. What is forgotten (a restart) costs one apply that changes nothing.
 */
import { deepEqual, getOwn, isJsonObject, setOwn } from '#api'
import type { JsonObject, JsonObjectDraft, JsonValue, KubeObject } from '#api'
import { digestOf } from './digest.ts'
import { appliedAnnotation } from './marks.ts'

const appliedMax = 20_000

/** What servers made of what we applied, by the UID of the child. */
export class AppliedCache {
  readonly #byUid = new Map<string, string>()

  /** After an apply: what the server made of it, unless that is what was applied. */
  note(stored: KubeObject, wanted: KubeObject): void {
    const { uid = '' } = stored.metadata
    this.#byUid.delete(uid)
    if (holds(stored, wanted)) return
    if (this.#byUid.size >= appliedMax)
      for (const oldest of this.#byUid.keys()) {
        this.#byUid.delete(oldest)
        break
      }
    this.#byUid.set(uid, fingerprintOf(stored, wanted))
  }

  /** Whether an apply would change nothing, as far as can be told from the object. */
  isSame(live: KubeObject, wanted: KubeObject): boolean {
    if (holds(live, wanted)) return true
    const remembered = this.#byUid.get(live.metadata.uid ?? '')
    return remembered !== undefined && remembered === fingerprintOf(live, wanted)
  }
}

function fingerprintOf(live: KubeObject, wanted: KubeObject): string {
  return `${digestOf(contentOf(wanted))} ${digestOf(project(contentOf(live), contentOf(wanted)))}`
}

/** Whether everything that is wanted is there as it is wanted. */
function holds(live: KubeObject, wanted: KubeObject): boolean {
  const { ownerReferences = [], finalizers = [] } = wanted.metadata
  return (
    ownerReferences.every((reference) => live.metadata.ownerReferences?.some((other) => deepEqual(other, reference))) &&
    finalizers.every((finalizer) => live.metadata.finalizers?.includes(finalizer)) &&
    covers(contentOf(live), contentOf(wanted))
  )
}

/** Labels, annotations and everything beside metadata; the mark of the apply itself is compared apart. */
function contentOf({ metadata, ...rest }: KubeObject): JsonObject {
  const { [appliedAnnotation]: _, ...annotations } = metadata.annotations ?? {}
  return { ...rest, metadata: { labels: metadata.labels ?? {}, annotations } } as unknown as JsonObject
}

function covers(live: JsonValue | undefined, wanted: JsonValue | undefined): boolean {
  if (wanted === null || wanted === undefined) return live === undefined || live === null
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => covers(live[index] as JsonValue | undefined, item as JsonValue))
    )
  if (!isJsonObject(wanted)) return live === wanted
  return isJsonObject(live) && Object.keys(wanted).every((name) => covers(getOwn(live, name), getOwn(wanted, name)))
}

/** What of the live value stands where something is wanted; lists of another length as a whole. */
function project(live: JsonValue | undefined, wanted: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(live) && Array.isArray(wanted) && live.length === wanted.length) {
    return live.map((item, index) => project(item as JsonValue, wanted[index] as JsonValue) ?? null)
  }
  if (!isJsonObject(live) || !isJsonObject(wanted)) return live
  const part: JsonObjectDraft = {}
  for (const name of Object.keys(wanted)) {
    const value = project(getOwn(live, name), getOwn(wanted, name))
    if (value !== undefined) setOwn(part, name, value)
  }
  return part
}
