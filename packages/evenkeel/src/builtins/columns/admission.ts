/**
 * Columns of admission webhooks and policies, flow control, APIServices and CertificateSigningRequests.
 */
import { humanDuration } from './age.ts'
import {
  ageColumn,
  column,
  columnsOf,
  conditionStatus,
  formatLabels,
  integerColumn,
  nameColumn,
  qualifiedName,
  unformattedNameColumn,
  withMore,
  type Cell,
  type FieldReader,
  type TableColumns,
} from './column.ts'

const group = 'admissionregistration.k8s.io'
const webhooks = columnsOf(
  nameColumn,
  integerColumn('Webhooks', 'How many there are.', (o) => o.size('webhooks')),
  ageColumn,
)
const policyBinding = columnsOf(
  nameColumn,
  column('PolicyName', 'Which policy it puts in force.', (o) => o.text('spec', 'policyName')),
  column('ParamRef', 'With which parameters.', parameterReference),
  ageColumn,
)

export const admissionColumns: Readonly<Record<string, TableColumns>> = {
  [`MutatingWebhookConfiguration.${group}`]: webhooks,
  [`ValidatingWebhookConfiguration.${group}`]: webhooks,
  [`ValidatingAdmissionPolicy.${group}`]: policy('Validations'),
  [`MutatingAdmissionPolicy.${group}`]: policy('Mutations'),
  [`ValidatingAdmissionPolicyBinding.${group}`]: policyBinding,
  [`MutatingAdmissionPolicyBinding.${group}`]: policyBinding,
  'FlowSchema.flowcontrol.apiserver.k8s.io': columnsOf(
    nameColumn,
    column('PriorityLevel', 'At which level its requests are served.', (o) =>
      o.text('spec', 'priorityLevelConfiguration', 'name'),
    ),
    column('MatchingPrecedence', 'Its place among schemas; the lowest that matches counts.', (o) =>
      o.number('spec', 'matchingPrecedence'),
    ),
    column('DistinguisherMethod', 'What tells its flows apart.', (o) =>
      o.has('spec', 'distinguisherMethod') ? o.text('spec', 'distinguisherMethod', 'type') : '<none>',
    ),
    ageColumn,
    column(
      'MissingPL',
      'Whether its level does not exist.',
      (o) => conditionStatus(o.list('status', 'conditions'), 'Dangling') ?? '?',
    ),
  ),
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': columnsOf(
    nameColumn,
    column('Type', 'Whether it is limited at all.', (o) => o.text('spec', 'type')),
    column('NominalConcurrencyShares', 'Its share of the seats.', (o) =>
      limit(o.at('spec', 'limited'), 'nominalConcurrencyShares'),
    ),
    column('Queues', 'How many queues it has.', (o) => limit(queuing(o), 'queues')),
    column('HandSize', 'Over how many queues a flow is spread.', (o) => limit(queuing(o), 'handSize')),
    column('QueueLengthLimit', 'How many may wait in a queue.', (o) => limit(queuing(o), 'queueLengthLimit')),
    ageColumn,
  ),
  'APIService.apiregistration.k8s.io': columnsOf(
    nameColumn,
    column('Service', 'Who serves this API.', (o) =>
      o.has('spec', 'service')
        ? `${o.text('spec', 'service', 'namespace')}/${o.text('spec', 'service', 'name')}`
        : 'Local',
    ),
    column('Available', 'Whether it can be reached.', availability),
    ageColumn,
  ),
  'CertificateSigningRequest.certificates.k8s.io': columnsOf(
    nameColumn,
    ageColumn,
    column('SignerName', 'Who is asked to sign.', (o) => o.text('spec', 'signerName') || '<none>'),
    column('Requestor', 'Who asks.', (o) => o.text('spec', 'username')),
    column('RequestedDuration', 'For how long.', (o) =>
      o.has('spec', 'expirationSeconds') ? humanDuration(o.number('spec', 'expirationSeconds') * 1000) : '<none>',
    ),
    column('Condition', 'How far it is.', signingStatus),
  ),
  'ClusterTrustBundle.certificates.k8s.io': columnsOf(
    nameColumn,
    column('SignerName', 'Whose roots these are.', (o) => o.text('spec', 'signerName') || '<none>'),
  ),
  'PodCertificateRequest.certificates.k8s.io': columnsOf(
    nameColumn,
    column('PodName', 'For which pod.', (o) => o.text('spec', 'podName')),
    column('ServiceAccountName', 'As which account it runs.', (o) => o.text('spec', 'serviceAccountName')),
    column('NodeName', 'On which node it runs.', (o) => o.text('spec', 'nodeName')),
    column('SignerName', 'Who is asked to sign.', (o) => o.text('spec', 'signerName')),
    column('State', 'How far it is.', requestState),
    column('UnverifiedUserAnnotations', 'What the pod says about itself.', (o) =>
      formatLabels(o.at('spec', 'unverifiedUserAnnotations')),
    ),
  ),
  'StorageVersion.internal.apiserver.k8s.io': columnsOf(
    nameColumn,
    column(
      'CommonEncodingVersion',
      'The version all servers write.',
      (o) => o.optionalText('status', 'commonEncodingVersion') ?? '<unset>',
    ),
    column('StorageVersions', 'The version each server writes.', storageVersions),
    ageColumn,
  ),
  'StorageVersionMigration.storagemigration.k8s.io': columnsOf(
    unformattedNameColumn,
    column('Resource', 'What is migrated.', (o) =>
      qualifiedName(o.text('spec', 'resource', 'resource'), o.text('spec', 'resource', 'group')),
    ),
    column('Status', 'How far it is.', migrationStatus),
  ),
}

function policy(rules: 'Validations' | 'Mutations'): TableColumns {
  return columnsOf(
    nameColumn,
    integerColumn(rules, 'How many rules it has.', (o) => o.size('spec', rules.toLowerCase())),
    column('ParamKind', 'What its parameters are.', (o) =>
      o.has('spec', 'paramKind')
        ? `${o.text('spec', 'paramKind', 'apiVersion')}/${o.text('spec', 'paramKind', 'kind')}`
        : '<unset>',
    ),
    ageColumn,
  )
}

function parameterReference(binding: FieldReader): string {
  const reference = binding.at('spec', 'paramRef')
  if (reference.text('name') !== '') return `${reference.text('namespace') || '*'}/${reference.text('name')}`
  return reference.has('selector') ? dumpSelector(reference.at('selector')) : '<unset>'
}

/** A selector as Go prints the struct, which is what this column shows. */
function dumpSelector(selector: FieldReader): string {
  const labels = selector
    .entries('matchLabels')
    .map(([key, value]) => `${key}: ${value.text()},`)
    .join('')
  const expressions = selector
    .list('matchExpressions')
    .map(
      (one) =>
        `LabelSelectorRequirement{Key:${one.text('key')},Operator:${one.text('operator')},Values:[${one.texts('values').join(' ')}],},`,
    )
    .join('')
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`
}

function queuing(level: FieldReader): FieldReader {
  return level.at('spec', 'limited', 'limitResponse', 'queuing')
}

function limit(limits: FieldReader, field: string): Cell {
  return limits.has() ? limits.number(field) : '<none>'
}

function availability(service: FieldReader): string {
  const condition = service.list('status', 'conditions').find((one) => one.text('type') === 'Available')
  if (!condition) return 'Unknown'
  const [status, reason] = [condition.text('status'), condition.text('reason')]
  return status === 'True' || reason === '' ? status : `${status} (${reason})`
}

function signingStatus(request: FieldReader): string {
  const types = new Set(request.list('status', 'conditions').map((condition) => condition.text('type')))
  const verdict = ['Denied', 'Approved'].find((type) => types.has(type)) ?? 'Pending'
  return `${verdict}${types.has('Failed') ? ',Failed' : ''}${request.text('status', 'certificate') === '' ? '' : ',Issued'}`
}

function requestState(request: FieldReader): string {
  return (
    request
      .list('status', 'conditions')
      .map((condition) => condition.text('type'))
      .findLast((type) => ['Issued', 'Denied', 'Failed'].includes(type)) ?? 'Pending'
  )
}

function storageVersions(version: FieldReader): string {
  const all = version
    .list('status', 'storageVersions')
    .map((one) => `${one.text('apiServerID')}=${one.text('encodingVersion')}`)
  return withMore(all.slice(0, 3), { total: all.length }) || '<unset>'
}

function migrationStatus(migration: FieldReader): string {
  return (
    migration
      .list('status', 'conditions')
      .filter((condition) => condition.text('status') === 'True')
      .map((condition) => condition.text('type'))
      .findLast((type) => ['Running', 'Failed', 'Succeeded'].includes(type)) ?? 'Unknown'
  )
}
