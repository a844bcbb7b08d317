/**
 * Kinds every cluster has: namespaces, nodes, settings, leases, accounts, and who may do what.
 */
import { boolean, column, columnsOf, created, integer, name, wide } from '../column.ts'
import type { Columns } from '../columns.ts'
import type { View } from '../view.ts'
import { conditionStatus } from './formats.ts'

export const clusterKinds: Readonly<Record<string, Columns>> = {
  Namespace: columnsOf(
    name,
    column('Status', 'Whether it is in use or going away.', (o) => o.text('status', 'phase')),
    created,
  ),
  ConfigMap: columnsOf(
    name,
    column('Data', 'How many entries it has.', (o) => o.size('data') + o.size('binaryData')),
    created,
  ),
  Secret: columnsOf(
    name,
    column('Type', 'What it is for.', (o) => o.text('type')),
    column('Data', 'How many entries it has.', (o) => o.size('data')),
    created,
  ),
  ServiceAccount: columnsOf(name, created),
  Node: columnsOf(
    name,
    column('Status', 'Whether it is ready for pods.', nodeStatus),
    column('Roles', 'What it is for.', (o) => nodeRoles(o).join(',') || '<none>'),
    created,
    column('Version', 'The version of its agent.', (o) => o.text('status', 'nodeInfo', 'kubeletVersion')),
    wide(column('Internal-IP', 'Its address inside.', (o) => nodeAddress(o, 'InternalIP'))),
    wide(column('External-IP', 'Its address outside.', (o) => nodeAddress(o, 'ExternalIP'))),
    wide(column('OS-Image', 'Its operating system.', (o) => o.text('status', 'nodeInfo', 'osImage') || '<unknown>')),
    wide(column('Kernel-Version', 'Its kernel and architecture.', kernelVersion)),
    wide(
      column(
        'Container-Runtime',
        'What runs its containers.',
        (o) => o.text('status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
      ),
    ),
  ),
  ComponentStatus: columnsOf(
    name,
    column('Status', 'Whether the component is well.', componentStatus),
    column('Message', 'What it says.', (o) => healthCondition(o)?.text('message') ?? ''),
    column('Error', 'What is wrong with it.', (o) => healthCondition(o)?.text('error') ?? ''),
  ),
  'Lease.coordination.k8s.io': columnsOf(
    name,
    column('Holder', 'Who has it.', (o) => o.text('spec', 'holderIdentity')),
    created,
  ),
  'LeaseCandidate.coordination.k8s.io': columnsOf(
    name,
    column('LeaseName', 'Which lease it is a candidate for.', (o) => o.text('spec', 'leaseName')),
    column('BinaryVersion', 'The version it is.', (o) => o.text('spec', 'binaryVersion')),
    column('EmulationVersion', 'The version it behaves as.', (o) => o.text('spec', 'emulationVersion')),
    created,
  ),
  'RoleBinding.rbac.authorization.k8s.io': roleBinding(),
  'ClusterRoleBinding.rbac.authorization.k8s.io': roleBinding(),
  'RuntimeClass.node.k8s.io': columnsOf(
    name,
    column('Handler', 'What runs its pods.', (o) => o.text('handler')),
    created,
  ),
  'PriorityClass.scheduling.k8s.io': columnsOf(
    name,
    integer('Value', 'The priority.', (o) => o.number('value')),
    boolean('Global-Default', 'Whether pods without a class have this one.', (o) => o.flag('globalDefault')),
    created,
    column('PreemptionPolicy', 'Whether its pods may push others aside.', (o) => o.text('preemptionPolicy')),
  ),
}

function roleBinding(): Columns {
  const subjects =
    (kind: string, format: (subject: View) => string) =>
    (binding: View): string =>
      binding
        .list('subjects')
        .filter((subject) => subject.text('kind') === kind)
        .map(format)
        .join(', ')
  return columnsOf(
    name,
    column('Role', 'Which role is given.', (o) => `${o.text('roleRef', 'kind')}/${o.text('roleRef', 'name')}`),
    created,
    wide(
      column(
        'Users',
        'The users who get it.',
        subjects('User', (subject) => subject.text('name')),
      ),
    ),
    wide(
      column(
        'Groups',
        'The groups that get it.',
        subjects('Group', (subject) => subject.text('name')),
      ),
    ),
    wide(
      column(
        'ServiceAccounts',
        'The accounts that get it.',
        subjects('ServiceAccount', (subject) => `${subject.text('namespace')}/${subject.text('name')}`),
      ),
    ),
  )
}

function nodeStatus(node: View): string {
  const ready = conditionStatus(node.list('status', 'conditions').reverse(), 'Ready')
  const status = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady'
  return node.flag('spec', 'unschedulable') ? `${status},SchedulingDisabled` : status
}

function nodeRoles(node: View): string[] {
  const roles = node.entries('metadata', 'labels').map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length)
    return key === 'kubernetes.io/role' ? value.text() : ''
  })
  return [...new Set(roles.filter((role) => role !== ''))].sort()
}

const rolePrefix = 'node-role.kubernetes.io/'

function nodeAddress(node: View, type: string): string {
  return (
    node
      .list('status', 'addresses')
      .find((address) => address.text('type') === type)
      ?.text('address') ?? '<none>'
  )
}

function kernelVersion(node: View): string {
  const architecture = node.text('status', 'nodeInfo', 'architecture')
  return `${node.text('status', 'nodeInfo', 'kernelVersion') || '<unknown>'}${architecture === '' ? '' : ` (${architecture})`}`
}

function healthCondition(component: View): View | undefined {
  return component.list('conditions').find((condition) => condition.text('type') === 'Healthy')
}

function componentStatus(component: View): string {
  const condition = healthCondition(component)
  if (!condition) return 'Unknown'
  return condition.text('status') === 'True' ? 'Healthy' : 'Unhealthy'
}
