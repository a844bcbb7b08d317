/**
 * Events as the server stores them, in both forms it knows: `events.k8s.io/v1` and the older `v1`. One event has one
 * place in the server whichever form it is written in.
 *
 * Invariants: an event lies in the namespace of what it is about, or in `default` if that has none; texts are cut to what
 * the server accepts, because an event that says less is better than one that is refused.
 */
import { hostname } from 'node:os'
import { randomInt } from '#base'
import type { Random } from '#base'
import { checkDnsSubdomain, declareKind, formatMicroTime, formatTime } from '#api'
import type { JsonObject, JsonValue, Kind, KubeObject } from '#api'

/** What to tell about an object. */
export interface EventNote {
  /** @default 'Normal' */
  readonly type?: 'Normal' | 'Warning'
  /** Why, as one word that programs can match: `FailedMount`. */
  readonly reason: string
  /**
   * What was being done, as one word.
   *
   * @default the reason
   */
  readonly action?: string
  /** For people. A later one replaces it. */
  readonly note: string
  /** Another object that has to do with it. */
  readonly related?: KubeObject
}

/** The kind of object under which events are written. */
export type EventApi = 'events.k8s.io/v1' | 'v1'

/** Who reports. */
export interface Reporter {
  readonly controller: string
  readonly instance: string
}

/** Everything that is known about a series of the same events. */
export interface EventSeries {
  readonly name: string
  readonly namespace: string
  readonly regarding: JsonObject
  readonly related?: JsonObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly count: number
  /** By the wall clock. */
  readonly firstMs: number
  readonly lastMs: number
}

const [wordMax, noteMax, instanceMax] = [128, 1024, 128]

export const eventKinds: Readonly<Record<EventApi, Kind>> = {
  'events.k8s.io/v1': declareKind({ group: 'events.k8s.io', version: 'v1', kind: 'Event', statusSubresource: false }),
  v1: declareKind({ group: '', version: 'v1', kind: 'Event', statusSubresource: false }),
}

/** Where and by whom, as the server wants it. */
export function makeReporter(controller: string): Reporter {
  return { controller, instance: cut(`${controller}-${hostname()}`, instanceMax) }
}

export function beginSeries(
  object: KubeObject,
  note: EventNote,
  { nowMs, random }: { nowMs: number; random: Random },
): EventSeries {
  const { type = 'Normal', reason, action = reason, related } = note
  const regarding = referenceTo(object)
  return {
    name: eventName(object.metadata.name ?? '', nowMs, random),
    namespace: object.metadata.namespace || 'default',
    regarding,
    ...(related && { related: referenceTo(related) }),
    type,
    reason: cut(reason, wordMax),
    action: cut(action, wordMax),
    note: cut(note.note, noteMax),
    count: 1,
    firstMs: nowMs,
    lastMs: nowMs,
  }
}

export function continueSeries(series: EventSeries, { note, nowMs }: { note: string; nowMs: number }): EventSeries {
  return { ...series, note: cut(note, noteMax), count: series.count + 1, lastMs: nowMs }
}

/**
 * The same for events that are the same. The version of the object is no part of it: it changes all the time, and what
 * happens again would never be counted.
 */
export function seriesKey({ regarding, related = {}, type, reason, action }: EventSeries): string {
  return JSON.stringify([objectKey(regarding), objectKey(related), type, reason, action])
}

/** The same for objects that are the same. */
export function objectKey({ apiVersion, kind, namespace, name, uid }: JsonObject): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid])
}

/** The whole event, for the server. */
export function encodeEvent(series: EventSeries, { controller, instance }: Reporter, api: EventApi): KubeObject {
  const { name, namespace, regarding, related, type, reason, action, note, count, firstMs, lastMs } = series
  const { apiVersion, kind } = eventKinds[api]
  const shared = {
    apiVersion,
    kind,
    metadata: { name, namespace },
    type,
    reason,
    reportingInstance: instance,
    ...(related && { related }),
  }
  const event =
    api === 'v1'
      ? {
          ...shared,
          involvedObject: regarding,
          message: note,
          action,
          source: { component: controller },
          reportingComponent: controller,
          firstTimestamp: formatTime(firstMs),
          lastTimestamp: formatTime(lastMs),
          count,
        }
      : {
          ...shared,
          regarding,
          note,
          action,
          reportingController: controller,
          eventTime: formatMicroTime(firstMs),
          ...(count > 1 && { series: seriesField(series) }),
        }
  return event
}

/** What changed since it was written; in the newer form a note cannot be changed. */
export function encodeChange(series: EventSeries, api: EventApi): JsonObject {
  return api === 'v1'
    ? { count: series.count, lastTimestamp: formatTime(series.lastMs), message: series.note }
    : { series: seriesField(series) }
}

/** The change of an event of the newer form, note included, as the older form lets it pass. */
export function encodeNoteChange(series: EventSeries): JsonObject {
  return { message: series.note, series: seriesField(series) }
}

function seriesField({ count, lastMs }: EventSeries): JsonObject {
  return { count: Math.max(2, count), lastObservedTime: formatMicroTime(lastMs) }
}

function referenceTo({
  apiVersion,
  kind,
  metadata: { namespace, name, uid, resourceVersion },
}: KubeObject): JsonObject {
  const fields: readonly (readonly [string, JsonValue | undefined])[] = Object.entries({
    apiVersion,
    kind,
    namespace,
    name,
    uid,
    resourceVersion,
  })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== ''))
}

/** The object's name and a number that no other event has: the time in nanoseconds, the end of it by chance. */
function eventName(name: string, nowMs: number, random: Random): string {
  const suffix = (BigInt(nowMs) * 1_000_000n + BigInt(randomInt(random, 1_000_000))).toString(16)
  const made = `${name}.${suffix}`
  return checkDnsSubdomain(made).length === 0 ? made : `event.${suffix}`
}

/** By characters that the server counts (bytes of UTF-8), without cutting one in half. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let end = bytesMax
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}
