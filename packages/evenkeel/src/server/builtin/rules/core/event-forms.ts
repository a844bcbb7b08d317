/**
 * Events in their two forms: `v1`, which is kept, and `events.k8s.io/v1`, which names some fields differently.
 *
 *     v1                    events.k8s.io/v1
 *     involvedObject        regarding
 *     message               note
 *     source                deprecatedSource
 *     firstTimestamp        deprecatedFirstTimestamp
 *     lastTimestamp         deprecatedLastTimestamp
 *     count                 deprecatedCount
 *     reportingComponent    reportingController
 *
 * Both directions rename and change nothing else, so going there and back gives the same object. An object that has
 * the wanted form already is given back as it is.
 */
import type { JsonValue, UnstructuredObject } from '#api'

const coreVersion = 'v1'
const eventsVersion = 'events.k8s.io/v1'

const fieldNames: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]
const toCore = new Map(fieldNames.map(([core, events]) => [events, core]))
const toEvents = new Map(fieldNames)

/** An Event of `events.k8s.io/v1` as one of `v1`. */
export function eventsToCore(event: UnstructuredObject): UnstructuredObject {
  return event.apiVersion === coreVersion ? event : rename(event, coreVersion, toCore)
}

/** An Event of `v1` as one of `events.k8s.io/v1`. */
export function coreToEvents(event: UnstructuredObject): UnstructuredObject {
  return event.apiVersion === eventsVersion ? event : rename(event, eventsVersion, toEvents)
}

function rename(event: UnstructuredObject, apiVersion: string, to: ReadonlyMap<string, string>): UnstructuredObject {
  const renamed: Record<string, JsonValue | UnstructuredObject['metadata'] | undefined> = {}
  for (const [key, value] of Object.entries(event)) renamed[to.get(key) ?? key] = value
  return { ...renamed, apiVersion, kind: event.kind, metadata: event.metadata }
}
