/**
 * The Events of an object, oldest first.
 */
import { isJsonObject } from 'evenkeel/unstable/api'
import type { JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { Event } from 'evenkeel/kinds/core/v1'

export interface EventSummary {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly from: string
  readonly count: number
  /** The ISO time of the server; empty when there is none. */
  readonly lastTime: string
}

/** The Events of this uid, not of an earlier object with its name. Empty when they may not be read. */
export async function eventsOf(
  client: Client,
  { kind, metadata: { name = '', namespace, uid } }: KubeObject,
  { signal }: { signal: AbortSignal },
): Promise<readonly EventSummary[]> {
  const { items } = await client.list(Event, {
    namespace: namespace ?? 'default',
    fieldSelector: `involvedObject.name=${name}`,
    signal,
  })
  return items
    .filter(
      ({ involvedObject }) =>
        involvedObject.kind === kind &&
        (uid === undefined || involvedObject.uid === undefined || involvedObject.uid === uid),
    )
    .map((event) => eventSummaryOf(event as unknown as JsonObject))
    .sort((a, b) => (a.lastTime < b.lastTime ? -1 : a.lastTime > b.lastTime ? 1 : 0))
}

/** The fields of an Event that are printed. */
export function eventSummaryOf(event: JsonObject): EventSummary {
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
  } = event
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
