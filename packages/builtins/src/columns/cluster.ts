/**
 * Columns of Namespaces, Nodes, ConfigMaps, Secrets, Leases, ServiceAccounts, RBAC kinds and Events.
 */
import {
  ageColumn,
  booleanColumn,
  column,
  columnsOf,
  conditionStatus,
  integerColumn,
  nameColumn,
  wideColumn,
  type FieldReader,
  type TableColumns,
} from './column.ts'

export const clusterColumns: Readonly<Record<string, TableColumns>> = {
  Namespace: columnsOf(
    nameColumn,
    column('Status', 'The phase of the Namespace.', (o) => o.text('status', 'phase')),
    ageColumn,
  ),
  ConfigMap: columnsOf(
    nameColumn,
    column('Data', 'The number of entries.', (o) => o.size('data') + o.size('binaryData')),
    ageColumn,
  ),
  Secret: columnsOf(
    nameColumn,
    column('Type', 'The type of the Secret.', (o) => o.text('type')),
    column('Data', 'The number of entries.', (o) => o.size('data')),
    ageColumn,
  ),
  ServiceAccount: columnsOf(nameColumn, ageColumn),
  Node: columnsOf(
    nameColumn,
    column('Status', 'The state of the Node.', nodeStatus),
    column('Roles', 'The roles of the Node.', (o) => nodeRoles(o).join(',') || '<none>'),
    ageColumn,
    column('Version', 'The kubelet version.', (o) => o.text('status', 'nodeInfo', 'kubeletVersion')),
    wideColumn(column('Internal-IP', 'The internal IP address.', (o) => nodeAddress(o, 'InternalIP'))),
    wideColumn(column('External-IP', 'The external IP address.', (o) => nodeAddress(o, 'ExternalIP'))),
    wideColumn(
      column('OS-Image', 'The operating system image.', (o) => o.text('status', 'nodeInfo', 'osImage') || '<unknown>'),
    ),
    wideColumn(column('Kernel-Version', 'The kernel version and architecture.', kernelVersion)),
    wideColumn(
      column(
        'Container-Runtime',
        'The container runtime and its version.',
        (o) => o.text('status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
      ),
    ),
  ),
  ComponentStatus: columnsOf(
    nameColumn,
    column('Status', 'The health of the component.', componentStatus),
    column('Message', 'The message of the component.', (o) => healthCondition(o)?.text('message') ?? ''),
    column('Error', 'The error of the component.', (o) => healthCondition(o)?.text('error') ?? ''),
  ),
  'Lease.coordination.k8s.io': columnsOf(
    nameColumn,
    column('Holder', 'The holder of the lease.', (o) => o.text('spec', 'holderIdentity')),
    ageColumn,
  ),
  'LeaseCandidate.coordination.k8s.io': columnsOf(
    nameColumn,
    column('LeaseName', 'The lease of this candidate.', (o) => o.text('spec', 'leaseName')),
    column('BinaryVersion', 'The binary version of the candidate.', (o) => o.text('spec', 'binaryVersion')),
    column('EmulationVersion', 'The emulation version of the candidate.', (o) => o.text('spec', 'emulationVersion')),
    ageColumn,
  ),
  'RoleBinding.rbac.authorization.k8s.io': roleBinding(),
  'ClusterRoleBinding.rbac.authorization.k8s.io': roleBinding(),
  'RuntimeClass.node.k8s.io': columnsOf(
    nameColumn,
    column('Handler', 'The container runtime handler.', (o) => o.text('handler')),
    ageColumn,
  ),
  'PriorityClass.scheduling.k8s.io': columnsOf(
    nameColumn,
    integerColumn('Value', 'The priority value.', (o) => o.number('value')),
    booleanColumn('Global-Default', 'Whether this is the default class.', (o) => o.flag('globalDefault')),
    ageColumn,
    column('PreemptionPolicy', 'Whether its Pods may preempt others.', (o) => o.text('preemptionPolicy')),
  ),
}

function roleBinding(): TableColumns {
  const subjects =
    (kind: string, format: (subject: FieldReader) => string) =>
    (binding: FieldReader): string =>
      binding
        .list('subjects')
        .filter((subject) => subject.text('kind') === kind)
        .map(format)
        .join(', ')
  return columnsOf(
    nameColumn,
    column('Role', 'The bound role.', (o) => `${o.text('roleRef', 'kind')}/${o.text('roleRef', 'name')}`),
    ageColumn,
    wideColumn(
      column(
        'Users',
        'The bound users.',
        subjects('User', (subject) => subject.text('name')),
      ),
    ),
    wideColumn(
      column(
        'Groups',
        'The bound groups.',
        subjects('Group', (subject) => subject.text('name')),
      ),
    ),
    wideColumn(
      column(
        'ServiceAccounts',
        'The bound ServiceAccounts.',
        subjects('ServiceAccount', (subject) => `${subject.text('namespace')}/${subject.text('name')}`),
      ),
    ),
  )
}

function nodeStatus(node: FieldReader): string {
  const ready = conditionStatus(node.list('status', 'conditions').reverse(), 'Ready')
  const status = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady'
  return node.flag('spec', 'unschedulable') ? `${status},SchedulingDisabled` : status
}

function nodeRoles(node: FieldReader): string[] {
  const roles = node.entries('metadata', 'labels').map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length)
    return key === 'kubernetes.io/role' ? value.text() : ''
  })
  return [...new Set(roles.filter((role) => role !== ''))].sort()
}

const rolePrefix = 'node-role.kubernetes.io/'

function nodeAddress(node: FieldReader, type: string): string {
  return (
    node
      .list('status', 'addresses')
      .find((address) => address.text('type') === type)
      ?.text('address') ?? '<none>'
  )
}

function kernelVersion(node: FieldReader): string {
  const architecture = node.text('status', 'nodeInfo', 'architecture')
  return `${node.text('status', 'nodeInfo', 'kernelVersion') || '<unknown>'}${architecture === '' ? '' : ` (${architecture})`}`
}

function healthCondition(component: FieldReader): FieldReader | undefined {
  return component.list('conditions').find((condition) => condition.text('type') === 'Healthy')
}

function componentStatus(component: FieldReader): string {
  const condition = healthCondition(component)
  if (!condition) return 'Unknown'
  return condition.text('status') === 'True' ? 'Healthy' : 'Unhealthy'
}

// Events, in the core group and in `events.k8s.io`, which has other names for the same fields.

/** The field names of a group. */
interface EventFields {
  readonly about: string
  readonly message: string
  readonly first: string
  readonly last: string
  readonly count: string
  readonly source: string
  readonly reporter: string
}

export const eventColumnsByKind: Readonly<Record<string, TableColumns>> = {
  Event: eventColumns({
    about: 'involvedObject',
    message: 'message',
    first: 'firstTimestamp',
    last: 'lastTimestamp',
    count: 'count',
    source: 'source',
    reporter: 'reportingComponent',
  }),
  'Event.events.k8s.io': eventColumns({
    about: 'regarding',
    message: 'note',
    first: 'deprecatedFirstTimestamp',
    last: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
    source: 'deprecatedSource',
    reporter: 'reportingController',
  }),
}

function eventColumns(fields: EventFields): TableColumns {
  return columnsOf(
    column('Last Seen', 'The time since the last occurrence.', (o, nowMs) => lastSeen(o, fields, nowMs)),
    column('Type', 'The type: Normal or Warning.', (o) => o.text('type')),
    column('Reason', 'The reason of the event.', (o) => o.text('reason')),
    column('Object', 'The involved object.', (o) => target(o.at(fields.about))),
    wideColumn(column('Subobject', 'The involved part of the object.', (o) => o.text(fields.about, 'fieldPath'))),
    wideColumn(column('Source', 'The reporting component.', (o) => source(o, fields))),
    column('Message', 'The message of the event.', (o) => o.text(fields.message).trim()),
    wideColumn(column('First Seen', 'The time since the first occurrence.', (o, nowMs) => firstSeen(o, fields, nowMs))),
    wideColumn(
      column('Count', 'The number of occurrences.', (o) =>
        o.has('series') ? o.number('series', 'count') : o.number(fields.count) || 1,
      ),
    ),
    wideColumn(nameColumn),
  )
}

function firstSeen(event: FieldReader, { first }: EventFields, nowMs: number): string {
  const seen = event.age(nowMs, first)
  return seen === '<unknown>' ? event.age(nowMs, 'eventTime') : seen
}

function lastSeen(event: FieldReader, fields: EventFields, nowMs: number): string {
  if (event.has('series')) return event.age(nowMs, 'series', 'lastObservedTime')
  const seen = event.age(nowMs, fields.last)
  return seen === '<unknown>' ? firstSeen(event, fields, nowMs) : seen
}

function target(about: FieldReader): string {
  const kind = about.text('kind').toLowerCase()
  return about.text('name') === '' ? kind : `${kind}/${about.text('name')}`
}

function source(event: FieldReader, fields: EventFields): string {
  const component = event.text(fields.source, 'component') || event.text(fields.reporter)
  const instance = event.text(fields.source, 'host') || event.text('reportingInstance')
  return instance === '' ? component : `${component}, ${instance}`
}
