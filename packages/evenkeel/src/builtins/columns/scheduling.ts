/**
 * Columns of dynamic resource allocation and PodGroups.
 */
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
  [`ResourceClaim.${group}`]: columnsOf(nameColumn, column('State', 'How far the claim is.', claimState), ageColumn),
  [`ResourceSlice.${group}`]: columnsOf(
    nameColumn,
    column('Node', 'Where the devices are.', (o) => o.text('spec', 'nodeName')),
    column('Driver', 'Who serves them.', (o) => o.text('spec', 'driver')),
    column('Pool', 'Which pool they belong to.', (o) => o.text('spec', 'pool', 'name')),
    ageColumn,
  ),
  [`DeviceTaintRule.${group}`]: columnsOf(
    nameColumn,
    column('Key', 'What the taint is called.', (o) => o.text('spec', 'taint', 'key')),
    column('Value', 'What it says.', (o) => o.text('spec', 'taint', 'value')),
    column('Effect', 'What it does to pods.', (o) => o.text('spec', 'taint', 'effect')),
    column('TimeAdded', 'How long ago it was added.', (o, nowMs) =>
      o.has('spec', 'taint', 'timeAdded') ? o.age(nowMs, 'spec', 'taint', 'timeAdded') : '',
    ),
    ageColumn,
  ),
  [`ResourcePoolStatusRequest.${group}`]: columnsOf(
    nameColumn,
    column('Driver', 'Whose pools are asked for.', (o) => o.text('spec', 'driver')),
    sum('Total'),
    sum('Available'),
    sum('Allocated'),
    sum('Unavailable'),
    column('Errors', 'How many pools are not valid.', (o) =>
      isCounted(o) ? String(o.list('status', 'pools').filter((pool) => pool.has('validationError')).length) : '-',
    ),
    integerColumn('Pools', 'How many pools there are.', (o) => o.number('status', 'poolCount')),
    column('Status', 'How far the request is.', requestStatus),
    column('Completed', 'How long ago it was answered.', (o, nowMs) =>
      outcome(o)?.text('type') === 'Complete' ? (outcome(o)?.age(nowMs, 'lastTransitionTime') ?? '') : '<none>',
    ),
  ),
  'Workload.scheduling.k8s.io': columnsOf(nameColumn, ageColumn),
  'PodGroup.scheduling.k8s.io': columnsOf(
    nameColumn,
    column('Policy', 'Whether its pods start only together.', (o) =>
      o.has('spec', 'schedulingPolicy', 'gang') ? 'Gang' : 'Basic',
    ),
    column('Workload', 'Which workload it belongs to.', (o) =>
      o.has('spec', 'podGroupTemplateRef')
        ? o.text('spec', 'podGroupTemplateRef', 'workload', 'workloadName')
        : '<none>',
    ),
    column('Status', 'How far it is.', groupStatus),
    ageColumn,
  ),
}

function claimState(claim: FieldReader): string {
  const deleted = claim.has('metadata', 'deletionTimestamp')
  const states = deleted ? ['deleted'] : []
  if (claim.has('status', 'allocation'))
    states.push('allocated', ...(claim.size('status', 'reservedFor') > 0 ? ['reserved'] : []))
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
