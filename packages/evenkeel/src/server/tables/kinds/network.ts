/**
 * Kinds that say who can be reached where.
 */
import { column, columnsOf, created, name, wide } from '../column.ts'
import type { Columns } from '../columns.ts'
import type { View } from '../view.ts'
import { formatLabels, qualifiedName, selectorText, withMore } from './formats.ts'

const shownMax = 3

export const networkKinds: Readonly<Record<string, Columns>> = {
  Service: columnsOf(
    name,
    column('Type', 'How the service is offered.', (o) => o.text('spec', 'type')),
    column(
      'Cluster-IP',
      'Its address inside.',
      (o) => o.texts('spec', 'clusterIPs')[0] ?? (o.text('spec', 'clusterIP') || '<none>'),
    ),
    column('External-IP', 'Its addresses outside.', externalAddress),
    column('Port(s)', 'Its ports.', (o) => o.list('spec', 'ports').map(formatPort).join(',') || '<none>'),
    created,
    wide(column('Selector', 'Which pods serve it.', (o) => formatLabels(o.at('spec', 'selector')))),
  ),
  Endpoints: columnsOf(name, column('Endpoints', 'Where the service is served.', formatEndpoints), created),
  'EndpointSlice.discovery.k8s.io': columnsOf(
    name,
    column('AddressType', 'What kind of addresses these are.', (o) => o.text('addressType')),
    column('Ports', 'The ports at each address.', (o) => firstOr(o.list('ports').map(slicePort))),
    column('Endpoints', 'The addresses.', (o) =>
      firstOr(o.list('endpoints').flatMap((endpoint) => endpoint.texts('addresses'))),
    ),
    created,
  ),
  'Ingress.networking.k8s.io': columnsOf(
    name,
    column(
      'Class',
      'Which class of controllers serves it.',
      (o) => o.optionalText('spec', 'ingressClassName') ?? '<none>',
    ),
    column('Hosts', 'The names it answers to.', formatHosts),
    column('Address', 'Where it can be reached.', (o) => balancerAddresses(o).join(',')),
    column('Ports', 'The ports it listens on.', (o) => (o.size('spec', 'tls') > 0 ? '80, 443' : '80')),
    created,
  ),
  'IngressClass.networking.k8s.io': columnsOf(
    { ...name, cell: (o) => o.text('metadata', 'name') + (isDefaultClass(o) ? ' (default)' : '') },
    column('Controller', 'Who serves ingresses of this class.', (o) => o.text('spec', 'controller')),
    column('Parameters', 'Where more is said about the class.', classParameters),
    created,
  ),
  'NetworkPolicy.networking.k8s.io': columnsOf(
    name,
    column('Pod-Selector', 'Which pods it is about.', (o) => selectorText(o.at('spec', 'podSelector'))),
    created,
  ),
  'ServiceCIDR.networking.k8s.io': columnsOf(
    name,
    column('CIDRs', 'The ranges of addresses.', (o) => o.texts('spec', 'cidrs').join(',')),
    created,
  ),
  // Upstream gives a third cell, the age, for which it has no column.
  'IPAddress.networking.k8s.io': columnsOf(name, column('ParentRef', 'Who has the address.', parentReference)),
}

function firstOr(all: readonly string[]): string {
  return withMore(all.slice(0, shownMax), { total: all.length }) || '<unset>'
}

function externalAddress(service: View): string {
  const own = service.texts('spec', 'externalIPs')
  switch (service.text('spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return own.length > 0 ? own.join(',') : '<none>'
    case 'LoadBalancer':
      return [...balancerAddresses(service), ...own].join(',') || (own.length > 0 ? '' : '<pending>')
    case 'ExternalName':
      return service.text('spec', 'externalName')
    default:
      return '<unknown>'
  }
}

function balancerAddresses(object: View): string[] {
  const points = object
    .list('status', 'loadBalancer', 'ingress')
    .map((point) => point.text('ip') || point.text('hostname'))
  return [...new Set(points.filter((address) => address !== ''))].sort()
}

function formatPort(port: View): string {
  const node = port.number('nodePort')
  return `${port.number('port')}${node > 0 ? `:${node}` : ''}/${port.text('protocol')}`
}

function formatEndpoints(endpoints: View): string {
  if (endpoints.size('subsets') === 0) return '<none>'
  const all = endpoints.list('subsets').flatMap((subset) => {
    const addresses = subset.list('addresses').map((address) => address.text('ip'))
    const ports = subset.list('ports').map((port) => port.number('port'))
    return ports.length === 0
      ? addresses
      : ports.flatMap((port) => addresses.map((address) => joinHostPort(address, port)))
  })
  return withMore(all.slice(0, shownMax), { total: all.length })
}

function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function slicePort(port: View): string {
  return port.has('port') ? String(port.number('port')) : (port.optionalText('name') ?? '*')
}

/** Rules without a host are not shown; they count as "more" only if there were three hosts before them. */
function formatHosts(ingress: View): string {
  const rules = ingress.list('spec', 'rules').map((rule) => rule.text('host'))
  const hosts: string[] = []
  let more = false
  for (const host of rules) {
    if (hosts.length === shownMax) more = true
    else if (host !== '') hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - shownMax} more...` : hosts.join(',')
}

function isDefaultClass(ingressClass: View): boolean {
  return ingressClass.text('metadata', 'annotations', 'ingressclass.kubernetes.io/is-default-class') === 'true'
}

function classParameters(ingressClass: View): string {
  const parameters = ingressClass.at('spec', 'parameters')
  if (!parameters.has()) return '<none>'
  const group = parameters.optionalText('apiGroup')
  return `${parameters.text('kind')}${group === undefined ? '' : `.${group}`}/${parameters.text('name')}`
}

function parentReference(address: View): string {
  const parent = address.at('spec', 'parentRef')
  if (!parent.has()) return '<none>'
  const resource = qualifiedName(parent.text('resource'), parent.text('group')).toLowerCase()
  return [resource, ...(parent.text('namespace') === '' ? [] : [parent.text('namespace')]), parent.text('name')].join(
    '/',
  )
}
