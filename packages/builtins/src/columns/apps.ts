/**
 * Columns of workload kinds and ControllerRevisions.
 */
import { humanDuration, toMs } from './age.ts'
import {
  ageColumn,
  booleanColumn,
  column,
  columnsOf,
  conditionStatus,
  containerColumns,
  formatLabels,
  formatSelector,
  integerColumn,
  nameColumn,
  qualifiedName,
  selectorColumn,
  wideColumn,
  type Column,
  type FieldReader,
  type TableColumns,
} from './column.ts'
import { podColumns } from './pod.ts'

const replicaCounts: readonly Column[] = [
  integerColumn('Desired', 'The desired number of Pods.', (o) => o.number('spec', 'replicas')),
  integerColumn('Current', 'The current number of Pods.', (o) => o.number('status', 'replicas')),
  integerColumn('Ready', 'The number of ready Pods.', (o) => o.number('status', 'readyReplicas')),
]
const readyOfDesired = column(
  'Ready',
  'Ready Pods and desired Pods.',
  (o) => `${o.number('status', 'readyReplicas')}/${o.number('spec', 'replicas')}`,
)

export const appsColumns: Readonly<Record<string, TableColumns>> = {
  Pod: podColumns,
  PodTemplate: columnsOf(
    nameColumn,
    ...containerColumns('template').map(({ definition, cell }) => ({
      definition: { ...definition, priority: 0 },
      cell,
    })),
    column('Pod Labels', 'The labels of Pods of this template.', (o) =>
      formatLabels(o.at('template', 'metadata', 'labels')),
    ),
  ),
  ReplicationController: columnsOf(
    nameColumn,
    ...replicaCounts,
    ageColumn,
    ...containerColumns('spec', 'template'),
    wideColumn(column('Selector', 'The label selector of its Pods.', (o) => formatLabels(o.at('spec', 'selector')))),
  ),
  'ReplicaSet.apps': columnsOf(
    nameColumn,
    ...replicaCounts,
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ),
  'Deployment.apps': columnsOf(
    nameColumn,
    readyOfDesired,
    column('Up-to-date', 'How many pods are of the latest template.', (o) => o.number('status', 'updatedReplicas')),
    column('Available', 'The number of available Pods.', (o) => o.number('status', 'availableReplicas')),
    ageColumn,
    ...containerColumns('spec', 'template'),
    wideColumn(
      column(
        'Selector',
        'The label selector of its Pods.',
        (o) => formatSelector(o.at('spec', 'selector')) ?? '<invalid>',
      ),
    ),
  ),
  'StatefulSet.apps': columnsOf(nameColumn, readyOfDesired, ageColumn, ...containerColumns('spec', 'template')),
  'DaemonSet.apps': columnsOf(
    nameColumn,
    integerColumn('Desired', 'The number of Nodes that should run a Pod.', (o) =>
      o.number('status', 'desiredNumberScheduled'),
    ),
    integerColumn('Current', 'The number of Nodes that should run a Pod and do.', (o) =>
      o.number('status', 'currentNumberScheduled'),
    ),
    integerColumn('Ready', 'The number of Nodes with a ready Pod.', (o) => o.number('status', 'numberReady')),
    integerColumn('Up-to-date', 'On how many the pod is of the latest template.', (o) =>
      o.number('status', 'updatedNumberScheduled'),
    ),
    integerColumn('Available', 'The number of Nodes with an available Pod.', (o) =>
      o.number('status', 'numberAvailable'),
    ),
    column('Node Selector', 'The node selector of the Pods.', (o) =>
      formatLabels(o.at('spec', 'template', 'spec', 'nodeSelector')),
    ),
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ),
  'ControllerRevision.apps': columnsOf(
    nameColumn,
    column('Controller', 'The controller of the revision.', controllerName),
    column('Revision', 'The revision number.', (o) => o.number('revision')),
    ageColumn,
  ),
  'Job.batch': columnsOf(
    nameColumn,
    column('Status', 'The state of the Job.', jobStatus),
    column('Completions', 'Succeeded Pods and required completions.', completions),
    column('Duration', 'The run time of the Job.', jobDuration),
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ),
  'CronJob.batch': columnsOf(
    nameColumn,
    column('Schedule', 'The schedule in cron format.', (o) => o.text('spec', 'schedule')),
    column('Timezone', 'The time zone of the schedule.', (o) => o.optionalText('spec', 'timeZone') ?? '<none>'),
    booleanColumn('Suspend', 'Whether the CronJob is suspended.', suspended),
    integerColumn('Active', 'The number of running Jobs.', (o) => o.size('status', 'active')),
    column('Last Schedule', 'The time since the last scheduled Job.', (o, nowMs) =>
      o.has('status', 'lastScheduleTime') ? o.age(nowMs, 'status', 'lastScheduleTime') : '<none>',
    ),
    ageColumn,
    ...containerColumns('spec', 'jobTemplate', 'spec', 'template'),
    selectorColumn('spec', 'jobTemplate', 'spec', 'selector'),
  ),
}

function controllerName(revision: FieldReader): string {
  const controller = revision.list('metadata', 'ownerReferences').find((owner) => owner.flag('controller'))
  if (!controller) return '<none>'
  const [group = '', version] = controller.text('apiVersion').split('/')
  const kind = qualifiedName(controller.text('kind'), version === undefined ? '' : group).toLowerCase()
  return kind === '' ? controller.text('name') : `${kind}/${controller.text('name')}`
}

function suspended(job: FieldReader): string {
  if (!job.has('spec', 'suspend')) return '<unset>'
  return job.flag('spec', 'suspend') ? 'True' : 'False'
}

function jobStatus(job: FieldReader): string {
  const conditions = job.list('status', 'conditions')
  const holds = (type: string): boolean => conditionStatus(conditions, type) === 'True'
  const ended = ['Complete', 'Failed'].find(holds)
  if (ended) return ended
  if (job.has('metadata', 'deletionTimestamp')) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running'
}

function completions(job: FieldReader): string {
  const succeeded = job.number('status', 'succeeded')
  if (job.has('spec', 'completions')) return `${succeeded}/${job.number('spec', 'completions')}`
  const parallelism = job.number('spec', 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: FieldReader, nowMs: number): string {
  const startMs = toMs(job.at('status', 'startTime').value)
  if (startMs === undefined) return ''
  return humanDuration((toMs(job.at('status', 'completionTime').value) ?? nowMs) - startMs)
}
