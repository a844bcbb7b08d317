/**
 * HorizontalPodAutoscalers between `autoscaling/v1`, which knows CPU only, and `autoscaling/v2`, in which they are kept.
 *
 * What v1 cannot say (other metrics, conditions, behavior) travels in annotations, so that reading and writing back
 * through v1 loses nothing.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonObjectDraft, JsonValue, UnstructuredObject } from '#api'

const metricsNote = 'autoscaling.alpha.kubernetes.io/metrics'
const statusNote = 'autoscaling.alpha.kubernetes.io/current-metrics'
const conditionsNote = 'autoscaling.alpha.kubernetes.io/conditions'
const behaviorNote = 'autoscaling.alpha.kubernetes.io/behavior'

/** The v1 form of a stored autoscaler. */
export function autoscalerFromV2(object: UnstructuredObject): JsonObject {
  const { spec, status, metadata, ...rest } = object as unknown as JsonObjectDraft
  const { metrics, behavior, ...plain } = objectOf(spec)
  const { currentMetrics, conditions, ...state } = objectOf(status)
  const [cpu, others] = splitCpu(listOf(metrics))
  const [currentCpu, currentOthers] = splitCpu(listOf(currentMetrics))
  const notes: JsonObjectDraft = {
    ...(others.length > 0 && { [metricsNote]: JSON.stringify(others) }),
    ...(currentOthers.length > 0 && { [statusNote]: JSON.stringify(currentOthers) }),
    ...(listOf(conditions).length > 0 && { [conditionsNote]: JSON.stringify(conditions) }),
    ...(isJsonObject(behavior) && { [behaviorNote]: JSON.stringify(behavior) }),
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

/** The stored form of an autoscaler that was written as v1. */
export function autoscalerToV2(object: UnstructuredObject): JsonObject {
  const { spec, status, metadata, ...rest } = object as unknown as JsonObjectDraft
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
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined // a note that is none stays an annotation
  }
}

function objectOf(value: JsonValue | undefined): JsonObjectDraft {
  return isJsonObject(value) ? (value as JsonObjectDraft) : {}
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
