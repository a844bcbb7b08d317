/**
 * Writes a series of events to the server, as `events.k8s.io/v1` or `v1` Events. Both APIs show the same stored event.
 *
 * `events.k8s.io/v1` does not allow a changed note; `v1` does. Without permission for `v1`, only the count is updated.
 *
 * Invariants: an event is in the namespace of its object, or in `default` for a cluster-scoped object; texts are cut to
 * the limits of the server, because a shortened event is better than a rejected one.
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

/** The outcome of a write; `later`: the server could not be reached. */
type WriteOutcome = 'written' | 'rejected' | 'later'

export class EventSink {
  readonly #options: SinkOptions
  #mayReplaceNotes = true

  constructor(options: SinkOptions) {
    this.#options = options
  }

  /** Creates or patches an event; never throws. @param before the state on the server, if it was written before */
  async write(
    series: EventSeries,
    before: EventSeries | undefined,
    { signal, onError }: AbortOptions & { onError: (error: unknown) => void },
  ): Promise<WriteOutcome> {
    try {
      if (before) await this.#change(series, before, { signal })
      else await this.#create(series, { signal })
      return 'written'
    } catch (error) {
      if (!isApiError(error)) {
        onError(error)
        return 'later'
      }
      // Events in a namespace that is being deleted are not worth a log line.
      if (findCause(error, 'NamespaceTerminating') === undefined) onError(error)
      return 'rejected'
    }
  }

  async #create(series: EventSeries, options: AbortOptions): Promise<void> {
    const { client, reporter, api } = this.#options
    try {
      await client.create(eventKinds[api], encodeEvent(series, reporter, api), options)
    } catch (error) {
      // The answer to our own create request was lost.
      if (!isAlreadyExists(error)) throw error
    }
  }

  async #change(series: EventSeries, before: EventSeries, options: AbortOptions): Promise<void> {
    try {
      await this.#patch(series, before, options)
    } catch (error) {
      // The server deletes events after their TTL, one hour by default.
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
    // Registers the full kind, so that the client needs no discovery.
    await client.resourceOf(eventKinds[api], options)
    await client.patch(refTo(eventKinds[api], series), change, options)
  }
}

/** An event to record: what `context.event` takes. */
export interface EventNote {
  /** `Warning` for a problem. @default 'Normal' */
  readonly type?: 'Normal' | 'Warning'
  /** The reason in CamelCase, for programs: `FailedMount`. */
  readonly reason: string
  /**
   * The action in CamelCase.
   *
   * @default the reason
   */
  readonly action?: string
  /** A sentence for people. A later one of the same series replaces it. */
  readonly note: string
  /** A related object. */
  readonly related?: KubeObject
}

/** The API version of the written events. */
export type EventApi = 'events.k8s.io/v1' | 'v1'

/** The reporting controller. */
interface Reporter {
  readonly controller: string
  readonly instance: string
}

/** The state of a series of equal events. */
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

/** The reporter with its instance: controller and host name. */
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

/** The key of a series. Without the resourceVersion of the object: it changes too often for events to be equal. */
export function seriesKey({ regarding, related = {}, type, reason, action }: EventSeries): string {
  return JSON.stringify([objectKey(regarding), objectKey(related), type, reason, action])
}

/** The key of an object. */
export function objectKey({ apiVersion, kind, namespace, name, uid }: JsonObject): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid])
}

/** The complete event. */
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

/** The patch for a later occurrence; `events.k8s.io/v1` does not allow another note. */
function encodeChange(series: EventSeries, api: EventApi): JsonObject {
  return api === 'v1'
    ? { count: series.count, lastTimestamp: formatTime(series.lastMs), message: series.note }
    : { series: seriesField(series) }
}

/** The `v1` patch of an `events.k8s.io/v1` event with another note. */
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

/** The name of the object and a unique suffix: the time in nanoseconds, with random microseconds. */
function eventName(name: string, nowMs: number, random: Random): string {
  const suffix = (BigInt(nowMs) * 1_000_000n + BigInt(randomInt(random, 1_000_000))).toString(16)
  const candidate = `${name}.${suffix}`
  return checkDnsSubdomain(candidate).length === 0 ? candidate : `event.${suffix}`
}

/** Cuts a text to a number of UTF-8 bytes, at a character boundary. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  let end = bytesMax
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}
