/**
 * Conversion of built-in kinds whose served version differs from the storage version by more than its `apiVersion`.
 */
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import type { Resource } from './resource.ts'

// HorizontalPodAutoscalers: `autoscaling/v1`, which has CPU only, and `autoscaling/v2`, the storage version.
//
// Fields that v1 lacks (other metrics, conditions, behavior) are kept in annotations, so that a round trip through v1
// loses nothing.

const metricsNote = 'autoscaling.alpha.kubernetes.io/metrics'
const statusNote = 'autoscaling.alpha.kubernetes.io/current-metrics'
const conditionsNote = 'autoscaling.alpha.kubernetes.io/conditions'
const behaviorNote = 'autoscaling.alpha.kubernetes.io/behavior'

/** Converts a stored autoscaler to v1. */
function autoscalerFromV2(object: UnstructuredObject): JsonObject {
  const { spec, status, metadata, ...rest } = object
  const { metrics, behavior, ...plain } = objectOf(spec)
  const { currentMetrics, conditions, ...state } = objectOf(status)
  const [cpu, others] = splitCpu(listOf(metrics))
  const [currentCpu, currentOthers] = splitCpu(listOf(currentMetrics))
  const notes: JsonObjectDraft = {
    ...(others.length > 0 && { [metricsNote]: stringifyJson(others) }),
    ...(currentOthers.length > 0 && { [statusNote]: stringifyJson(currentOthers) }),
    ...(listOf(conditions).length > 0 && { [conditionsNote]: stringifyJson(conditions) }),
    ...(isJsonObject(behavior) && { [behaviorNote]: stringifyJson(behavior) }),
  }
  const target = utilization(cpu, 'target')
  const current = utilization(currentCpu, 'current')
  return {
    ...rest,
    metadata: withNotes(objectOf(metadata), notes),
    spec: { ...plain, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    ...(status !== undefined && {
      status: { ...state, ...(current !== undefined && { currentCPUUtilizationPercentage: current }) },
    }),
  }
}

/** Converts a v1 autoscaler to the storage version. */
function autoscalerToV2(object: UnstructuredObject): JsonObject {
  const { spec, status, metadata, ...rest } = object
  const { targetCPUUtilizationPercentage: target, ...plain } = objectOf(spec)
  const { currentCPUUtilizationPercentage: current, ...state } = objectOf(status)
  const { notes, metadata: kept } = takeNotes(objectOf(metadata))
  const metrics = [...(target === undefined ? [] : [cpuMetric('target', target)]), ...listOf(notes[metricsNote])]
  const currentMetrics = [
    ...(current === undefined ? [] : [cpuMetric('current', current)]),
    ...listOf(notes[statusNote]),
  ]
  const behavior = notes[behaviorNote]
  return {
    ...rest,
    metadata: kept,
    spec: { ...plain, ...(metrics.length > 0 && { metrics }), ...(isJsonObject(behavior) && { behavior }) },
    ...(status !== undefined && {
      status: {
        ...state,
        ...(currentMetrics.length > 0 && { currentMetrics }),
        ...(notes[conditionsNote] !== undefined && { conditions: notes[conditionsNote] }),
      },
    }),
  }
}

function cpuMetric(side: 'target' | 'current', value: JsonValue): JsonObject {
  return {
    type: 'Resource',
    resource: { name: 'cpu', [side]: { ...(side === 'target' && { type: 'Utilization' }), averageUtilization: value } },
  }
}

function splitCpu(metrics: readonly JsonValue[]): [JsonValue | undefined, JsonValue[]] {
  const at = metrics.findIndex(
    (metric) =>
      isJsonObject(metric) &&
      metric['type'] === 'Resource' &&
      objectOf(metric['resource'])['name'] === 'cpu' &&
      (utilization(metric, 'target') ?? utilization(metric, 'current')) !== undefined,
  )
  return at < 0 ? [undefined, [...metrics]] : [metrics[at], metrics.filter((_, index) => index !== at)]
}

function utilization(metric: JsonValue | undefined, side: string): JsonValue | undefined {
  return objectOf(objectOf(objectOf(metric)['resource'])[side])['averageUtilization']
}

function withNotes(metadata: JsonObjectDraft, notes: JsonObjectDraft): JsonObjectDraft {
  if (Object.keys(notes).length === 0) return metadata
  return { ...metadata, annotations: { ...objectOf(metadata['annotations']), ...notes } }
}

function takeNotes(metadata: JsonObjectDraft): {
  notes: Record<string, JsonValue | undefined>
  metadata: JsonObjectDraft
} {
  const annotations = { ...objectOf(metadata['annotations']) }
  const notes: Record<string, JsonValue | undefined> = {}
  for (const name of [metricsNote, statusNote, conditionsNote, behaviorNote]) {
    const value = parsed(annotations[name])
    if (value === undefined) continue
    notes[name] = value
    delete annotations[name]
  }
  const { annotations: _, ...others } = metadata
  return { notes, metadata: Object.keys(annotations).length > 0 ? { ...others, annotations } : others }
}

function parsed(text: JsonValue | undefined): JsonValue | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return parseJson(text) as JsonValue
  } catch {
    return undefined // an invalid value stays an annotation
  }
}

function objectOf(value: JsonValue | undefined): JsonObjectDraft {
  return isJsonObject(value) ? value : {}
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}

// Events: `v1`, the storage version, and `events.k8s.io/v1`, which has other names for some fields.
//
//     v1                    events.k8s.io/v1
//     involvedObject        regarding
//     message               note
//     source                deprecatedSource
//     firstTimestamp        deprecatedFirstTimestamp
//     lastTimestamp         deprecatedLastTimestamp
//     count                 deprecatedCount
//     reportingComponent    reportingController
//
// Both directions only rename fields, so a round trip gives the same object. An object that already has
// the target version is returned unchanged.

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

interface Converter {
  fromStored(object: UnstructuredObject): JsonObject | UnstructuredObject
  toStored(object: UnstructuredObject): JsonObject | UnstructuredObject
}

const converters: Readonly<Record<string, Converter>> = {
  'events.k8s.io/v1 Event': { fromStored: coreToEvents, toStored: eventsToCore },
  'autoscaling/v1 HorizontalPodAutoscaler': { fromStored: autoscalerFromV2, toStored: autoscalerToV2 },
}

/** The converter of a resource, if it needs one. */
export function converterFor({ group, version, kind }: Resource): Converter | undefined {
  return converters[`${group}/${version} ${kind}`]
}
