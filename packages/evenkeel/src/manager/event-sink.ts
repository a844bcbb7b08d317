/**
 * Writes one series of events to the server: creates it, or changes what is there.
 *
 * A server of the newer form does not let a note be changed; the same event in the older form does. Where we may not use
 * that one, the count alone is kept up to date.
 */
import { hostname } from 'node:os'
import {
  checkDnsSubdomain,
  declareKind,
  findCause,
  formatMicroTime,
  formatTime,
  isAlreadyExists,
  isApiError,
  isForbidden,
  isNotFound,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
} from '#api'
import { randomInt, type AbortOptions, type Random } from '#base'
import { refTo, type Client } from '#client'

interface SinkOptions {
  readonly client: Client
  readonly reporter: Reporter
  readonly api: EventApi
}

/** What came of it; `later` when the server could not be reached. */
type Written = 'written' | 'rejected' | 'later'

export class EventSink {
  readonly #options: SinkOptions
  #mayReplaceNotes = true

  constructor(options: SinkOptions) {
    this.#options = options
  }

  /** @param before what the server has, if anything. Never throws; `onError` is told. */
  async write(
    series: EventSeries,
    before: EventSeries | undefined,
    { signal, onError }: AbortOptions & { onError: (error: unknown) => void },
  ): Promise<Written> {
    try {
      if (before) await this.#change(series, before, { signal })
      else await this.#create(series, { signal })
      return 'written'
    } catch (error) {
      if (!isApiError(error)) {
        onError(error)
        return 'later'
      }
      // Nobody is interested in what happens in a namespace on its way out.
      if (findCause(error, 'NamespaceTerminating') === undefined) onError(error)
      return 'rejected'
    }
  }

  async #create(series: EventSeries, options: AbortOptions): Promise<void> {
    const { client, reporter, api } = this.#options
    try {
      await client.create(eventKinds[api], encodeEvent(series, reporter, api), options)
    } catch (error) {
      // The answer to our own create was lost.
      if (!isAlreadyExists(error)) throw error
    }
  }

  async #change(series: EventSeries, before: EventSeries, options: AbortOptions): Promise<void> {
    try {
      await this.#patch(series, before, options)
    } catch (error) {
      // The server forgets events after an hour.
      if (!isNotFound(error)) throw error
      await this.#create(series, options)
    }
  }

  async #patch(series: EventSeries, before: EventSeries, options: AbortOptions): Promise<void> {
    const { api } = this.#options
    if (api !== 'v1' && series.note !== before.note && this.#mayReplaceNotes) {
      try {
        return await this.#send('v1', series, { ...options, change: encodeNoteChange(series) })
      } catch (error) {
        if (!isForbidden(error)) throw error
        this.#mayReplaceNotes = false
      }
    }
    await this.#send(api, series, { ...options, change: encodeChange(series, api) })
  }

  async #send(
    api: EventApi,
    series: EventSeries,
    { change, ...options }: AbortOptions & { change: JsonObject },
  ): Promise<void> {
    const { client } = this.#options
    // A kind in full is found without asking the server, once the client has seen it.
    await client.resourceOf(eventKinds[api], options)
    await client.patch(refTo(eventKinds[api], series), change, options)
  }
}

/*
 * Events as the server stores them, in both forms it knows: `events.k8s.io/v1` and the older `v1`. One event has one
 * place in the server whichever form it is written in.
 *
 * Invariants: an event lies in the namespace of what it is about, or in `default` if that has none; texts are cut to what
 * the server accepts, because an event that says less is better than one that is refused.
 */

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
interface Reporter {
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

const eventKinds: Readonly<Record<EventApi, Kind>> = {
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
function encodeEvent(series: EventSeries, { controller, instance }: Reporter, api: EventApi): KubeObject {
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
function encodeChange(series: EventSeries, api: EventApi): JsonObject {
  return api === 'v1'
    ? { count: series.count, lastTimestamp: formatTime(series.lastMs), message: series.note }
    : { series: seriesField(series) }
}

/** The change of an event of the newer form, note included, as the older form lets it pass. */
function encodeNoteChange(series: EventSeries): JsonObject {
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
