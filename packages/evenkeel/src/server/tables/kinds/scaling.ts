/**
 * Kinds that say how many or how much: autoscalers, budgets, quotas.
 */
import { column, columnsOf, created, integer, name, plainName } from '../column.ts'
import type { Columns } from '../columns.ts'
import { View } from '../view.ts'
import { formatAmount, withMore } from './formats.ts'

export const scalingKinds: Readonly<Record<string, Columns>> = {
  'HorizontalPodAutoscaler.autoscaling': columnsOf(
    name,
    column(
      'Reference',
      'What it scales.',
      (o) => `${o.text('spec', 'scaleTargetRef', 'kind')}/${o.text('spec', 'scaleTargetRef', 'name')}`,
    ),
    column('Targets', 'What it measures: the value now, and the one it wants.', targets),
    column('MinPods', 'The fewest pods.', (o) =>
      o.has('spec', 'minReplicas') ? String(o.number('spec', 'minReplicas')) : '<unset>',
    ),
    column('MaxPods', 'The most pods.', (o) => o.number('spec', 'maxReplicas')),
    column('Replicas', 'How many pods there are.', (o) => o.number('status', 'currentReplicas')),
    created,
  ),
  'Scale.autoscaling': columnsOf(
    plainName,
    integer('Desired', 'How many there should be.', (o) => o.number('spec', 'replicas')),
    integer('Available', 'How many there are.', (o) => o.number('status', 'replicas')),
    created,
  ),
  'PodDisruptionBudget.policy': columnsOf(
    name,
    column('Min Available', 'How many pods must stay.', (o) => countOrShare(o.at('spec', 'minAvailable'))),
    column('Max Unavailable', 'How many pods may be missing.', (o) => countOrShare(o.at('spec', 'maxUnavailable'))),
    integer('Allowed Disruptions', 'How many pods may be evicted now.', (o) =>
      o.number('status', 'disruptionsAllowed'),
    ),
    created,
  ),
  ResourceQuota: columnsOf(
    name,
    column('Request', 'What is used of what may be requested.', (o) =>
      quota(o, (resource) => !resource.startsWith('limits.')),
    ),
    column('Limit', 'What is used of what limits may add up to.', (o) =>
      quota(o, (resource) => resource.startsWith('limits.')),
    ),
    created,
  ),
}

function countOrShare(value: View): string {
  if (!value.has()) return 'N/A'
  return typeof value.value === 'number' ? String(value.value) : value.text()
}

function quota(object: View, belongs: (resource: string) => boolean): string {
  return object
    .entries('status', 'hard')
    .filter(([resource]) => belongs(resource))
    .map(([resource, hard]) => {
      const used = object.at('status', 'used', resource)
      return `${resource}: ${used.has() ? formatAmount(used) : '0'}/${formatAmount(hard)}`
    })
    .join(', ')
}

function targets(autoscaler: View): string {
  const { specs, statuses } = metricsOf(autoscaler)
  const shown = specs.slice(0, 2).map((spec, index) => formatMetric(spec, statuses[index] ?? new View(undefined)))
  return withMore(shown, { total: specs.length, separator: ', ' }) || '<none>'
}

/** The first version knows only the use of processors; 80 % is what it wants when it does not say. */
function metricsOf(autoscaler: View): { specs: View[]; statuses: View[] } {
  if (autoscaler.text('apiVersion') !== 'autoscaling/v1') {
    return { specs: autoscaler.list('spec', 'metrics'), statuses: autoscaler.list('status', 'currentMetrics') }
  }
  const metric = (field: string, averageUtilization: number): View =>
    new View({ type: 'Resource', resource: { name: 'cpu', [field]: { averageUtilization } } })
  const [wanted, current] = [
    autoscaler.at('spec', 'targetCPUUtilizationPercentage'),
    autoscaler.at('status', 'currentCPUUtilizationPercentage'),
  ]
  return {
    specs: [metric('target', wanted.has() ? wanted.number() : 80)],
    statuses: current.has() ? [metric('current', current.number())] : [],
  }
}

function formatMetric(spec: View, status: View): string {
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

function valueMetric(spec: View, status: View): string {
  if (spec.has('target', 'averageValue')) {
    const current = status.has('current', 'averageValue') ? amount(status.at('current', 'averageValue')) : '<unknown>'
    return `${current}/${amount(spec.at('target', 'averageValue'))} (avg)`
  }
  return `${status.has() ? amount(status.at('current', 'value')) : '<unknown>'}/${amount(spec.at('target', 'value'))}`
}

function resourceMetric(spec: View, status: View): string {
  const resource = spec.text('name')
  if (spec.has('target', 'averageValue')) {
    const current = status.has() ? amount(status.at('current', 'averageValue')) : '<unknown>'
    return `${resource}: ${current}/${amount(spec.at('target', 'averageValue'))}`
  }
  return `${resource}: ${percent(status.at('current', 'averageUtilization'), '<unknown>')}/${percent(spec.at('target', 'averageUtilization'), '<auto>')}`
}

function percent(value: View, otherwise: string): string {
  return value.has() ? `${value.number()}%` : otherwise
}

function amount(value: View): string {
  return value.has() ? formatAmount(value) : '<nil>'
}
