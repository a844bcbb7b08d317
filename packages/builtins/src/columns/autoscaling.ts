/**
 * Columns of HorizontalPodAutoscalers, PodDisruptionBudgets and ResourceQuotas.
 */
import {
  ageColumn,
  column,
  columnsOf,
  FieldReader,
  formatQuantityCell,
  integerColumn,
  nameColumn,
  unformattedNameColumn,
  withMore,
  type TableColumns,
} from './column.ts'

export const autoscalingColumns: Readonly<Record<string, TableColumns>> = {
  'HorizontalPodAutoscaler.autoscaling': columnsOf(
    nameColumn,
    column(
      'Reference',
      'The scale target.',
      (o) => `${o.text('spec', 'scaleTargetRef', 'kind')}/${o.text('spec', 'scaleTargetRef', 'name')}`,
    ),
    column('Targets', 'Current and target values of the metrics.', targets),
    column('MinPods', 'The minimum number of Pods.', (o) =>
      o.has('spec', 'minReplicas') ? String(o.number('spec', 'minReplicas')) : '<unset>',
    ),
    column('MaxPods', 'The maximum number of Pods.', (o) => o.number('spec', 'maxReplicas')),
    column('Replicas', 'The current number of Pods.', (o) => o.number('status', 'currentReplicas')),
    ageColumn,
  ),
  'Scale.autoscaling': columnsOf(
    unformattedNameColumn,
    integerColumn('Desired', 'The desired number of replicas.', (o) => o.number('spec', 'replicas')),
    integerColumn('Available', 'The current number of replicas.', (o) => o.number('status', 'replicas')),
    ageColumn,
  ),
  'PodDisruptionBudget.policy': columnsOf(
    nameColumn,
    column('Min Available', 'The minimum number of available Pods.', (o) => countOrShare(o.at('spec', 'minAvailable'))),
    column('Max Unavailable', 'The maximum number of unavailable Pods.', (o) =>
      countOrShare(o.at('spec', 'maxUnavailable')),
    ),
    integerColumn('Allowed Disruptions', 'The number of currently allowed disruptions.', (o) =>
      o.number('status', 'disruptionsAllowed'),
    ),
    ageColumn,
  ),
  ResourceQuota: columnsOf(
    nameColumn,
    column('Request', 'Used and maximum requests.', (o) => quota(o, (resource) => !resource.startsWith('limits.'))),
    column('Limit', 'Used and maximum limits.', (o) => quota(o, (resource) => resource.startsWith('limits.'))),
    ageColumn,
  ),
}

function countOrShare(value: FieldReader): string {
  if (!value.has()) return 'N/A'
  return typeof value.value === 'number' ? String(value.value) : value.text()
}

function quota(object: FieldReader, belongs: (resource: string) => boolean): string {
  return object
    .entries('status', 'hard')
    .filter(([resource]) => belongs(resource))
    .map(([resource, hard]) => {
      const used = object.at('status', 'used', resource)
      return `${resource}: ${used.has() ? formatQuantityCell(used) : '0'}/${formatQuantityCell(hard)}`
    })
    .join(', ')
}

function targets(autoscaler: FieldReader): string {
  const { specs, statuses } = metricsOf(autoscaler)
  const shown = specs
    .slice(0, 2)
    .map((spec, index) => formatMetric(spec, statuses[index] ?? new FieldReader(undefined)))
  return withMore(shown, { total: specs.length, separator: ', ' }) || '<none>'
}

/** autoscaling/v1 has CPU utilization only, with a default target of 80 %. */
function metricsOf(autoscaler: FieldReader): { specs: FieldReader[]; statuses: FieldReader[] } {
  if (autoscaler.text('apiVersion') !== 'autoscaling/v1') {
    return { specs: autoscaler.list('spec', 'metrics'), statuses: autoscaler.list('status', 'currentMetrics') }
  }
  const metric = (field: string, averageUtilization: number): FieldReader =>
    new FieldReader({ type: 'Resource', resource: { name: 'cpu', [field]: { averageUtilization } } })
  const [wanted, current] = [
    autoscaler.at('spec', 'targetCPUUtilizationPercentage'),
    autoscaler.at('status', 'currentCPUUtilizationPercentage'),
  ]
  return {
    specs: [metric('target', wanted.has() ? wanted.number() : 80)],
    statuses: current.has() ? [metric('current', current.number())] : [],
  }
}

function formatMetric(spec: FieldReader, status: FieldReader): string {
  switch (spec.text('type')) {
    case 'External':
      return valueMetric(spec.at('external'), status.at('external'))
    case 'Object':
      return valueMetric(spec.at('object'), status.at('object'))
    case 'Pods':
      return `${status.has('pods') ? amount(status.at('pods', 'current', 'averageValue')) : '<unknown>'}/${amount(spec.at('pods', 'target', 'averageValue'))}`
    case 'Resource':
      return resourceMetric(spec.at('resource'), status.at('resource'))
    case 'ContainerResource':
      return resourceMetric(spec.at('containerResource'), status.at('containerResource'))
    default:
      return '<unknown type>'
  }
}

function valueMetric(spec: FieldReader, status: FieldReader): string {
  if (spec.has('target', 'averageValue')) {
    const current = status.has('current', 'averageValue') ? amount(status.at('current', 'averageValue')) : '<unknown>'
    return `${current}/${amount(spec.at('target', 'averageValue'))} (avg)`
  }
  return `${status.has() ? amount(status.at('current', 'value')) : '<unknown>'}/${amount(spec.at('target', 'value'))}`
}

function resourceMetric(spec: FieldReader, status: FieldReader): string {
  const resource = spec.text('name')
  if (spec.has('target', 'averageValue')) {
    const current = status.has() ? amount(status.at('current', 'averageValue')) : '<unknown>'
    return `${resource}: ${current}/${amount(spec.at('target', 'averageValue'))}`
  }
  return `${resource}: ${percent(status.at('current', 'averageUtilization'), '<unknown>')}/${percent(spec.at('target', 'averageUtilization'), '<auto>')}`
}

function percent(value: FieldReader, otherwise: string): string {
  return value.has() ? `${value.number()}%` : otherwise
}

function amount(value: FieldReader): string {
  return value.has() ? formatQuantityCell(value) : '<nil>'
}
