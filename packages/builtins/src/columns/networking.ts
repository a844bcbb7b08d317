/**
 * Columns of Services, Ingresses, endpoints and network kinds.
 */
import {
  ageColumn,
  column,
  columnsOf,
  formatLabels,
  nameColumn,
  qualifiedName,
  selectorText,
  wideColumn,
  withMore,
  type FieldReader,
  type TableColumns,
} from './column.ts'

const shownMax = 3

export const networkingColumns: Readonly<Record<string, TableColumns>> = {
  Service: columnsOf(
    nameColumn,
    column('Type', 'The type of the Service.', (o) => o.text('spec', 'type')),
    column(
      'Cluster-IP',
      'The cluster IP.',
      (o) => o.texts('spec', 'clusterIPs')[0] ?? (o.text('spec', 'clusterIP') || '<none>'),
    ),
    column('External-IP', 'The external addresses.', externalAddress),
    column(
      'Port(s)',
      'The ports of the Service.',
      (o) => o.list('spec', 'ports').map(formatPort).join(',') || '<none>',
    ),
    ageColumn,
    wideColumn(
      column('Selector', 'The label selector of the Pods behind the Service.', (o) =>
        formatLabels(o.at('spec', 'selector')),
      ),
    ),
  ),
  Endpoints: columnsOf(nameColumn, column('Endpoints', 'The addresses of the endpoints.', formatEndpoints), ageColumn),
  'EndpointSlice.discovery.k8s.io': columnsOf(
    nameColumn,
    column('AddressType', 'The address type.', (o) => o.text('addressType')),
    column('Ports', 'The ports of the endpoints.', (o) => firstOr(o.list('ports').map(slicePort))),
    column('Endpoints', 'The addresses of the endpoints.', (o) =>
      firstOr(o.list('endpoints').flatMap((endpoint) => endpoint.texts('addresses'))),
    ),
    ageColumn,
  ),
  'Ingress.networking.k8s.io': columnsOf(
    nameColumn,
    column('Class', 'The IngressClass.', (o) => o.optionalText('spec', 'ingressClassName') ?? '<none>'),
    column('Hosts', 'The host names of the rules.', formatHosts),
    column('Address', 'The address of the load balancer.', (o) => balancerAddresses(o).join(',')),
    column('Ports', 'The exposed ports.', (o) => (o.size('spec', 'tls') > 0 ? '80, 443' : '80')),
    ageColumn,
  ),
  'IngressClass.networking.k8s.io': columnsOf(
    { ...nameColumn, cell: (o) => o.text('metadata', 'name') + (isDefaultClass(o) ? ' (default)' : '') },
    column('Controller', 'The controller of this class.', (o) => o.text('spec', 'controller')),
    column('Parameters', 'The parameters of the class.', classParameters),
    ageColumn,
  ),
  'NetworkPolicy.networking.k8s.io': columnsOf(
    nameColumn,
    column('Pod-Selector', 'The label selector of the affected Pods.', (o) =>
      selectorText(o.at('spec', 'podSelector')),
    ),
    ageColumn,
  ),
  'ServiceCIDR.networking.k8s.io': columnsOf(
    nameColumn,
    column('CIDRs', 'The address ranges.', (o) => o.texts('spec', 'cidrs').join(',')),
    ageColumn,
  ),
  // kube-apiserver adds a third cell, the age, without a column.
  'IPAddress.networking.k8s.io': columnsOf(
    nameColumn,
    column('ParentRef', 'The object that uses the address.', parentReference),
  ),
}

function firstOr(all: readonly string[]): string {
  return withMore(all.slice(0, shownMax), { total: all.length }) || '<unset>'
}

function externalAddress(service: FieldReader): string {
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

function balancerAddresses(object: FieldReader): string[] {
  const points = object
    .list('status', 'loadBalancer', 'ingress')
    .map((point) => point.text('ip') || point.text('hostname'))
  return [...new Set(points.filter((address) => address !== ''))].sort()
}

function formatPort(port: FieldReader): string {
  const node = port.number('nodePort')
  return `${port.number('port')}${node > 0 ? `:${node}` : ''}/${port.text('protocol')}`
}

function formatEndpoints(endpoints: FieldReader): string {
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

function slicePort(port: FieldReader): string {
  return port.has('port') ? String(port.number('port')) : (port.optionalText('name') ?? '*')
}

/** Rules without a host are not shown; they count as "more" only after three hosts. */
function formatHosts(ingress: FieldReader): string {
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

function isDefaultClass(ingressClass: FieldReader): boolean {
  return ingressClass.text('metadata', 'annotations', 'ingressclass.kubernetes.io/is-default-class') === 'true'
}

function classParameters(ingressClass: FieldReader): string {
  const parameters = ingressClass.at('spec', 'parameters')
  if (!parameters.has()) return '<none>'
  const group = parameters.optionalText('apiGroup')
  return `${parameters.text('kind')}${group === undefined ? '' : `.${group}`}/${parameters.text('name')}`
}

function parentReference(address: FieldReader): string {
  const parent = address.at('spec', 'parentRef')
  if (!parent.has()) return '<none>'
  const resource = qualifiedName(parent.text('resource'), parent.text('group')).toLowerCase()
  return [resource, ...(parent.text('namespace') === '' ? [] : [parent.text('namespace')]), parent.text('name')].join(
    '/',
  )
}
