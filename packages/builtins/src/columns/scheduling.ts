/**
 * Columns of dynamic resource allocation and PodGroups.
 */
import { pushAll } from 'evenkeel/unstable/builtins'
import {
  ageColumn,
  column,
  columnsOf,
  conditionStatus,
  integerColumn,
  nameColumn,
  type Column,
  type FieldReader,
  type TableColumns,
} from './column.ts'

const group = 'resource.k8s.io'

export const schedulingColumns: Readonly<Record<string, TableColumns>> = {
  [`DeviceClass.${group}`]: columnsOf(nameColumn, ageColumn),
  [`ResourceClaimTemplate.${group}`]: columnsOf(nameColumn, ageColumn),
  [`ResourceClaim.${group}`]: columnsOf(nameColumn, column('State', 'The state of the claim.', claimState), ageColumn),
  [`ResourceSlice.${group}`]: columnsOf(
    nameColumn,
    column('Node', 'The Node of the devices.', (o) => o.text('spec', 'nodeName')),
    column('Driver', 'The driver of the devices.', (o) => o.text('spec', 'driver')),
    column('Pool', 'The pool of the devices.', (o) => o.text('spec', 'pool', 'name')),
    ageColumn,
  ),
  [`DeviceTaintRule.${group}`]: columnsOf(
    nameColumn,
    column('Key', 'The key of the taint.', (o) => o.text('spec', 'taint', 'key')),
    column('Value', 'The value of the taint.', (o) => o.text('spec', 'taint', 'value')),
    column('Effect', 'The effect of the taint.', (o) => o.text('spec', 'taint', 'effect')),
    column('TimeAdded', 'The time since the taint was added.', (o, nowMs) =>
      o.has('spec', 'taint', 'timeAdded') ? o.age(nowMs, 'spec', 'taint', 'timeAdded') : '',
    ),
    ageColumn,
  ),
  [`ResourcePoolStatusRequest.${group}`]: columnsOf(
    nameColumn,
    column('Driver', 'The driver of the requested pools.', (o) => o.text('spec', 'driver')),
    sum('Total'),
    sum('Available'),
    sum('Allocated'),
    sum('Unavailable'),
    column('Errors', 'The number of invalid pools.', (o) =>
      isCounted(o) ? String(o.list('status', 'pools').filter((pool) => pool.has('validationError')).length) : '-',
    ),
    integerColumn('Pools', 'The number of pools.', (o) => o.number('status', 'poolCount')),
    column('Status', 'The state of the request.', requestStatus),
    column('Completed', 'The time since completion.', (o, nowMs) =>
      outcome(o)?.text('type') === 'Complete' ? (outcome(o)?.age(nowMs, 'lastTransitionTime') ?? '') : '<none>',
    ),
  ),
  'Workload.scheduling.k8s.io': columnsOf(nameColumn, ageColumn),
  'PodGroup.scheduling.k8s.io': columnsOf(
    nameColumn,
    column('Policy', 'The scheduling policy of the group.', (o) =>
      o.has('spec', 'schedulingPolicy', 'gang') ? 'Gang' : 'Basic',
    ),
    column('Workload', 'The workload of the group.', (o) =>
      o.has('spec', 'podGroupTemplateRef')
        ? o.text('spec', 'podGroupTemplateRef', 'workload', 'workloadName')
        : '<none>',
    ),
    column('Status', 'The current state.', groupStatus),
    ageColumn,
  ),
}

function claimState(claim: FieldReader): string {
  const deleted = claim.has('metadata', 'deletionTimestamp')
  const states = deleted ? ['deleted'] : []
  if (claim.has('status', 'allocation'))
    pushAll(states, ['allocated', ...(claim.size('status', 'reservedFor') > 0 ? ['reserved'] : [])])
  else if (!deleted) states.push('pending')
  return states.join(',')
}

/** The first terminal condition of the request. */
function outcome(request: FieldReader): FieldReader | undefined {
  return request
    .list('status', 'conditions')
    .find((one) => one.text('status') === 'True' && ['Complete', 'Failed'].includes(one.text('type')))
}

function isCounted(request: FieldReader): boolean {
  return request.has('status') && outcome(request)?.text('type') !== 'Failed'
}

function sum(which: string): Column {
  const field = `${which.toLowerCase()}Devices`
  const total = (request: FieldReader): number =>
    request.list('status', 'pools').reduce((count, pool) => count + pool.number(field), 0)
  return column(which, `How many devices there are: ${which.toLowerCase()}.`, (o) =>
    isCounted(o) ? String(total(o)) : '-',
  )
}

function requestStatus(request: FieldReader): string {
  const status = outcome(request)?.text('type') ?? 'Pending'
  const [shown, all] = [request.list('status', 'pools').length, request.number('status', 'poolCount')]
  return status === 'Complete' && all > shown ? `Complete (${shown}/${all} pools)` : status
}

function groupStatus(podGroup: FieldReader): string {
  const conditions = podGroup.list('status', 'conditions').reverse()
  const disruption = conditions.find((condition) => condition.text('type') === 'DisruptionTarget')
  if (disruption) return disruption.text('reason')
  const scheduled = conditionStatus(conditions, 'PodGroupScheduled')
  if (scheduled === undefined) return 'Pending'
  return scheduled === 'True' ? 'Scheduled' : 'Unschedulable'
}
