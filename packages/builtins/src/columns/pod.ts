/**
 * Columns of Pods.
 *
 * The STATUS column is determined in this order, each step overriding the one before: the phase, the reason of the status, a scheduling
 * gate, the first unfinished init container (which ends the search for a reason), the containers from last to first,
 * and finally the deletion timestamp.
 */
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { humanDuration, toMs } from './age.ts'
import {
  ageColumn,
  column,
  columnsOf,
  conditionStatus,
  FieldReader,
  nameColumn,
  wideColumn,
  type TableColumns,
} from './column.ts'

interface Restarts {
  count: number
  /** The end of the last terminated run of a container. */
  lastEndMs: number | undefined
}

interface Summary {
  ready: number
  readonly total: number
  reason: string
  restarts: Restarts
}

const shown = columnsOf(
  nameColumn,
  column('Ready', 'Ready containers and all containers.', () => null),
  column('Status', 'The aggregated state of the containers.', () => null),
  column('Restarts', 'The number of container restarts, and the time of the last one.', () => null),
  ageColumn,
  wideColumn(
    column(
      'IP',
      'The IP address of the Pod.',
      (o) => o.at('status').list('podIPs')[0]?.text('ip') || o.text('status', 'podIP') || '<none>',
    ),
  ),
  wideColumn(column('Node', 'The Node of the Pod.', (o) => o.text('spec', 'nodeName') || '<none>')),
  wideColumn(
    column(
      'Nominated Node',
      'The Node nominated after preemption.',
      (o) => o.text('status', 'nominatedNodeName') || '<none>',
    ),
  ),
  wideColumn(column('Readiness Gates', 'Satisfied readiness gates and all readiness gates.', readinessGates)),
)

export const podColumns: TableColumns = {
  definitions: shown.definitions,
  cells(object, nowMs) {
    const [podName, , , , podAge, ...rest] = shown.cells(object, nowMs)
    const {
      ready,
      total,
      reason,
      restarts: { count, lastEndMs },
    } = summarize(new FieldReader(object))
    const since = count !== 0 && lastEndMs !== undefined ? ` (${humanDuration(nowMs - lastEndMs)} ago)` : ''
    return [podName ?? '', `${ready}/${total}`, reason, `${count}${since}`, podAge ?? '', ...rest]
  },
  conditions(object) {
    return rowConditions.get(new FieldReader(object).text('status', 'phase')) ?? []
  },
}

const rowConditions = new Map<string, readonly JsonObject[]>([
  ['Succeeded', [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has ended well.' }]],
  ['Failed', [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod has ended badly.' }]],
])

function readinessGates(pod: FieldReader): string {
  const gates = pod.list('spec', 'readinessGates')
  if (gates.length === 0) return '<none>'
  const conditions = pod.list('status', 'conditions')
  const held = gates.filter((gate) => conditionStatus(conditions, gate.text('conditionType')) === 'True')
  return `${held.length}/${gates.length}`
}

function summarize(pod: FieldReader): Summary {
  const initContainers = pod.list('spec', 'initContainers')
  const summary: Summary = {
    ready: 0,
    total: pod.list('spec', 'containers').length + initContainers.filter(isSidecar).length,
    reason: initialReason(pod),
    restarts: { count: 0, lastEndMs: undefined },
  }
  const { initializing, sidecarRestarts } = readInitContainers(pod, initContainers, summary)
  if (!initializing || conditionStatus(pod.list('status', 'conditions'), 'Initialized') === 'True') {
    // After initialization, restarts of ordinary init containers are not counted.
    summary.restarts = sidecarRestarts
    readContainers(pod, summary)
  }
  summary.reason = finalReason(pod, summary.reason)
  return summary
}

function isSidecar(container: FieldReader): boolean {
  return container.text('restartPolicy') === 'Always'
}

function initialReason(pod: FieldReader): string {
  const gated = pod
    .list('status', 'conditions')
    .some((one) => one.text('type') === 'PodScheduled' && one.text('reason') === 'SchedulingGated')
  return gated ? 'SchedulingGated' : pod.text('status', 'reason') || pod.text('status', 'phase')
}

/** Reads up to the first unfinished init container; if there is one, the reason names it or its problem. */
function readInitContainers(
  pod: FieldReader,
  containers: readonly FieldReader[],
  summary: Summary,
): { initializing: boolean; sidecarRestarts: Restarts } {
  const sidecars = new Map(containers.map((container) => [container.text('name'), isSidecar(container)]))
  const sidecarRestarts: Restarts = { count: 0, lastEndMs: undefined }
  for (const [index, container] of pod.list('status', 'initContainerStatuses').entries()) {
    const sidecar = sidecars.get(container.text('name')) === true
    countRestarts(container, summary.restarts)
    if (sidecar) countRestarts(container, sidecarRestarts)
    if (container.has('state', 'terminated') && container.number('state', 'terminated', 'exitCode') === 0) continue
    if (sidecar && container.flag('started')) {
      if (container.flag('ready')) summary.ready++
      continue
    }
    summary.reason = `Init:${initReason(container) ?? `${index}/${containers.length}`}`
    return { initializing: true, sidecarRestarts }
  }
  return { initializing: false, sidecarRestarts }
}

function initReason(container: FieldReader): string | undefined {
  if (container.has('state', 'terminated')) return endReason(container)
  const waiting = container.text('state', 'waiting', 'reason')
  return waiting === '' || waiting === 'PodInitializing' ? undefined : waiting
}

function readContainers(pod: FieldReader, summary: Summary): void {
  let [running, failure] = [false, '']
  for (const container of pod.list('status', 'containerStatuses').reverse()) {
    countRestarts(container, summary.restarts)
    const waiting = container.text('state', 'waiting', 'reason')
    if (waiting !== '') summary.reason = waiting
    else if (container.has('state', 'terminated')) {
      summary.reason = endReason(container)
      if (container.number('state', 'terminated', 'exitCode') !== 0) failure = summary.reason
    } else if (container.flag('ready') && container.has('state', 'running')) {
      running = true
      summary.ready++
    }
  }
  if (summary.reason === 'Completed') summary.reason = completedReason(pod, running, failure)
}

/** The status of a Pod with a completed container and possibly running ones. */
function completedReason(pod: FieldReader, running: boolean, failure: string): string {
  const ready = pod
    .list('status', 'conditions')
    .some((one) => one.text('type') === 'Ready' && one.text('status') === 'True')
  if (running && ready) return 'Running'
  return failure || (running ? 'NotReady' : 'Completed')
}

function finalReason(pod: FieldReader, reason: string): string {
  if (!pod.has('metadata', 'deletionTimestamp')) return reason
  if (pod.text('status', 'reason') === 'NodeLost') return 'Unknown'
  return ['Succeeded', 'Failed'].includes(pod.text('status', 'phase')) ? reason : 'Terminating'
}

function endReason(container: FieldReader): string {
  const end = container.at('state', 'terminated')
  if (end.text('reason') !== '') return end.text('reason')
  return end.number('signal') === 0 ? `ExitCode:${end.number('exitCode')}` : `Signal:${end.number('signal')}`
}

function countRestarts(container: FieldReader, restarts: Restarts): void {
  restarts.count += container.number('restartCount')
  const endMs = toMs(container.at('lastState', 'terminated', 'finishedAt').value)
  if (endMs !== undefined && (restarts.lastEndMs === undefined || endMs > restarts.lastEndMs))
    restarts.lastEndMs = endMs
}
