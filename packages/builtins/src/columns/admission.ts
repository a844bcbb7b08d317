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
  integerColumn('Webhooks', 'The number of webhooks.', (o) => o.size('webhooks')),
  ageColumn,
)
const policyBinding = columnsOf(
  nameColumn,
  column('PolicyName', 'The bound policy.', (o) => o.text('spec', 'policyName')),
  column('ParamRef', 'The parameters of the binding.', parameterReference),
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
    column('PriorityLevel', 'The priority level of its requests.', (o) =>
      o.text('spec', 'priorityLevelConfiguration', 'name'),
    ),
    column('MatchingPrecedence', 'The precedence; the matching schema with the lowest number wins.', (o) =>
      o.number('spec', 'matchingPrecedence'),
    ),
    column('DistinguisherMethod', 'The method that distinguishes flows.', (o) =>
      o.has('spec', 'distinguisherMethod') ? o.text('spec', 'distinguisherMethod', 'type') : '<none>',
    ),
    ageColumn,
    column(
      'MissingPL',
      'Whether the priority level is missing.',
      (o) => conditionStatus(o.list('status', 'conditions'), 'Dangling') ?? '?',
    ),
  ),
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': columnsOf(
    nameColumn,
    column('Type', 'Whether the level is limited or exempt.', (o) => o.text('spec', 'type')),
    column('NominalConcurrencyShares', 'The share of the concurrency limit.', (o) =>
      limit(o.at('spec', 'limited'), 'nominalConcurrencyShares'),
    ),
    column('Queues', 'The number of queues.', (o) => limit(queuing(o), 'queues')),
    column('HandSize', 'The number of queues per flow.', (o) => limit(queuing(o), 'handSize')),
    column('QueueLengthLimit', 'The maximum length of a queue.', (o) => limit(queuing(o), 'queueLengthLimit')),
    ageColumn,
  ),
  'APIService.apiregistration.k8s.io': columnsOf(
    nameColumn,
    column('Service', 'The Service that serves this API version.', (o) =>
      o.has('spec', 'service')
        ? `${o.text('spec', 'service', 'namespace')}/${o.text('spec', 'service', 'name')}`
        : 'Local',
    ),
    column('Available', 'Whether the API is available.', availability),
    ageColumn,
  ),
  'CertificateSigningRequest.certificates.k8s.io': columnsOf(
    nameColumn,
    ageColumn,
    column('SignerName', 'The requested signer.', (o) => o.text('spec', 'signerName') || '<none>'),
    column('Requestor', 'The requesting user.', (o) => o.text('spec', 'username')),
    column('RequestedDuration', 'The requested validity.', (o) =>
      o.has('spec', 'expirationSeconds') ? humanDuration(o.number('spec', 'expirationSeconds') * 1000) : '<none>',
    ),
    column('Condition', 'The current state.', signingStatus),
  ),
  'ClusterTrustBundle.certificates.k8s.io': columnsOf(
    nameColumn,
    column('SignerName', 'The signer of these trust anchors.', (o) => o.text('spec', 'signerName') || '<none>'),
  ),
  'PodCertificateRequest.certificates.k8s.io': columnsOf(
    nameColumn,
    column('PodName', 'The Pod of the request.', (o) => o.text('spec', 'podName')),
    column('ServiceAccountName', 'The ServiceAccount of the Pod.', (o) => o.text('spec', 'serviceAccountName')),
    column('NodeName', 'The Node of the Pod.', (o) => o.text('spec', 'nodeName')),
    column('SignerName', 'The requested signer.', (o) => o.text('spec', 'signerName')),
    column('State', 'The current state.', requestState),
    column('UnverifiedUserAnnotations', 'Unverified annotations of the Pod.', (o) =>
      formatLabels(o.at('spec', 'unverifiedUserAnnotations')),
    ),
  ),
  'StorageVersion.internal.apiserver.k8s.io': columnsOf(
    nameColumn,
    column(
      'CommonEncodingVersion',
      'The storage version common to all API servers.',
      (o) => o.optionalText('status', 'commonEncodingVersion') ?? '<unset>',
    ),
    column('StorageVersions', 'The storage version of each API server.', storageVersions),
    ageColumn,
  ),
  'StorageVersionMigration.storagemigration.k8s.io': columnsOf(
    unformattedNameColumn,
    column('Resource', 'The migrated resource.', (o) =>
      qualifiedName(o.text('spec', 'resource', 'resource'), o.text('spec', 'resource', 'group')),
    ),
    column('Status', 'The current state.', migrationStatus),
  ),
}

function policy(rules: 'Validations' | 'Mutations'): TableColumns {
  return columnsOf(
    nameColumn,
    integerColumn(rules, 'How many rules it has.', (o) => o.size('spec', rules.toLowerCase())),
    column('ParamKind', 'The kind of the parameters.', (o) =>
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
