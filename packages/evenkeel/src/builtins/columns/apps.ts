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
  integerColumn('Desired', 'How many pods there should be.', (o) => o.number('spec', 'replicas')),
  integerColumn('Current', 'How many pods there are.', (o) => o.number('status', 'replicas')),
  integerColumn('Ready', 'How many pods are ready.', (o) => o.number('status', 'readyReplicas')),
]
const readyOfDesired = column(
  'Ready',
  'How many pods are ready, of how many.',
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
    column('Pod Labels', 'The labels a pod of this template gets.', (o) =>
      formatLabels(o.at('template', 'metadata', 'labels')),
    ),
  ),
  ReplicationController: columnsOf(
    nameColumn,
    ...replicaCounts,
    ageColumn,
    ...containerColumns('spec', 'template'),
    wideColumn(column('Selector', 'Which pods belong to it.', (o) => formatLabels(o.at('spec', 'selector')))),
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
    column('Available', 'How many pods have been ready for long enough.', (o) =>
      o.number('status', 'availableReplicas'),
    ),
    ageColumn,
    ...containerColumns('spec', 'template'),
    wideColumn(
      column('Selector', 'Which pods belong to it.', (o) => formatSelector(o.at('spec', 'selector')) ?? '<invalid>'),
    ),
  ),
  'StatefulSet.apps': columnsOf(nameColumn, readyOfDesired, ageColumn, ...containerColumns('spec', 'template')),
  'DaemonSet.apps': columnsOf(
    nameColumn,
    integerColumn('Desired', 'On how many nodes a pod should run.', (o) =>
      o.number('status', 'desiredNumberScheduled'),
    ),
    integerColumn('Current', 'On how many nodes a pod should run and does.', (o) =>
      o.number('status', 'currentNumberScheduled'),
    ),
    integerColumn('Ready', 'On how many of these the pod is ready.', (o) => o.number('status', 'numberReady')),
    integerColumn('Up-to-date', 'On how many the pod is of the latest template.', (o) =>
      o.number('status', 'updatedNumberScheduled'),
    ),
    integerColumn('Available', 'On how many the pod has been ready for long enough.', (o) =>
      o.number('status', 'numberAvailable'),
    ),
    column('Node Selector', 'Which nodes are meant.', (o) =>
      formatLabels(o.at('spec', 'template', 'spec', 'nodeSelector')),
    ),
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ),
  'ControllerRevision.apps': columnsOf(
    nameColumn,
    column('Controller', 'Whose revision it is.', controllerName),
    column('Revision', 'Its number.', (o) => o.number('revision')),
    ageColumn,
  ),
  'Job.batch': columnsOf(
    nameColumn,
    column('Status', 'How far the job is.', jobStatus),
    column('Completions', 'How many pods have ended well, of how many.', completions),
    column('Duration', 'How long the job took, or has been running.', jobDuration),
    ageColumn,
    ...containerColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ),
  'CronJob.batch': columnsOf(
    nameColumn,
    column('Schedule', 'When jobs are started.', (o) => o.text('spec', 'schedule')),
    column('Timezone', 'Where the schedule is meant.', (o) => o.optionalText('spec', 'timeZone') ?? '<none>'),
    booleanColumn('Suspend', 'Whether no jobs are started for now.', suspended),
    integerColumn('Active', 'How many jobs are running.', (o) => o.size('status', 'active')),
    column('Last Schedule', 'How long ago a job was started.', (o, nowMs) =>
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
