/**
 * The Events of an object, oldest first.
 */
import { isJsonObject, parseTime, type JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'

export interface EventSummary {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly from: string
  readonly count: number
  /** The ISO time of the server; empty when there is none. */
  readonly lastTime: string
}

const eventKind = { apiVersion: 'v1', kind: 'Event' }

/** The Events of this uid, not of an earlier object with its name. */
export async function eventsOf(
  client: Client,
  object: KubeObject,
  { signal }: { signal: AbortSignal },
): Promise<readonly EventSummary[]> {
  const { items } = await client.list(eventKind, { ...eventSelector(object), signal })
  return items
    .filter((event) => isEventOf(event, object))
    .map((event) => eventSummaryOf(event))
    .sort(byTime)
}

/** Where the Events of an object are: those of a cluster-scoped one are in `default`. */
export function eventSelector({ metadata: { name = '', namespace } }: KubeObject): {
  readonly namespace: string
  readonly fieldSelector: string
} {
  return { namespace: namespace ?? 'default', fieldSelector: `involvedObject.name=${name}` }
}

export function isEventOf(event: KubeObject, { kind, metadata: { uid } }: KubeObject): boolean {
  const { involvedObject } = event as { involvedObject?: JsonObject }
  if (!isJsonObject(involvedObject) || involvedObject['kind'] !== kind) return false
  return uid === undefined || involvedObject['uid'] === undefined || involvedObject['uid'] === uid
}

/** The fields of an Event that are printed. */
export function eventSummaryOf(event: object): EventSummary {
  const {
    type = 'Normal',
    reason = '',
    message = '',
    source,
    reportingComponent,
    lastTimestamp,
    eventTime,
    count = 1,
    series,
    metadata,
  } = event as JsonObject
  const { component } = isJsonObject(source) ? source : {}
  const { count: seen, lastObservedTime } = isJsonObject(series) ? series : {}
  const { creationTimestamp } = isJsonObject(metadata) ? metadata : {}
  return {
    type: String(type),
    reason: String(reason),
    message: String(message),
    from: String(reportingComponent || component || ''),
    count: Number(seen ?? count ?? 1),
    lastTime: String(lastObservedTime ?? lastTimestamp ?? eventTime ?? creationTimestamp ?? ''),
  }
}

/** When it was last seen, in milliseconds since 1970; 0 when it does not say. */
export function eventMs({ lastTime }: EventSummary): number {
  return parseTime(lastTime) ?? 0
}

/** Oldest first. Times have seconds or microseconds, so that they cannot be compared as text. */
function byTime(a: EventSummary, b: EventSummary): number {
  return eventMs(a) - eventMs(b)
}
