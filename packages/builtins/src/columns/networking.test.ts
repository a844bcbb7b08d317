import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { networkingColumns } from './networking.ts'

const nowMs = 1_767_225_660_000

function row(kind: string, { metadata = {}, ...fields }: JsonObject): unknown {
  const object = {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'web', creationTimestamp: '2026-01-01T00:00:00Z', ...(metadata as JsonObject) },
    ...fields,
  }
  return networkingColumns[kind]?.cells(object, nowMs)
}

const balancer = {
  loadBalancer: { ingress: [{ ip: '2.2.2.2' }, { hostname: 'a.example.com' }, { ip: '2.2.2.2' }, {}] },
}

test.each<[string, JsonObject, readonly unknown[]]>([
  [
    'inside',
    {
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1', 'fd00::1'],
        ports: [{ port: 80, protocol: 'TCP' }],
        selector: { b: 'c', a: 'b' },
      },
    },
    ['ClusterIP', '10.0.0.1', '<none>', '80/TCP', '60s', 'a=b,b=c'],
  ],
  [
    'headless',
    { spec: { type: 'ClusterIP', clusterIP: 'None' } },
    ['ClusterIP', 'None', '<none>', '<none>', '60s', '<none>'],
  ],
  [
    'on nodes',
    {
      spec: {
        type: 'NodePort',
        externalIPs: ['1.1.1.1', '1.1.1.2'],
        ports: [
          { port: 80, nodePort: 30_080, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
    },
    ['NodePort', '<none>', '1.1.1.1,1.1.1.2', '80:30080/TCP,53/UDP', '60s', '<none>'],
  ],
  [
    'waiting for a balancer',
    { spec: { type: 'LoadBalancer' } },
    ['LoadBalancer', '<none>', '<pending>', '<none>', '60s', '<none>'],
  ],
  [
    'balanced',
    { spec: { type: 'LoadBalancer' }, status: balancer },
    ['LoadBalancer', '<none>', '2.2.2.2,a.example.com', '<none>', '60s', '<none>'],
  ],
  [
    'balanced and outside',
    { spec: { type: 'LoadBalancer', externalIPs: ['1.1.1.1'] }, status: balancer },
    ['LoadBalancer', '<none>', '2.2.2.2,a.example.com,1.1.1.1', '<none>', '60s', '<none>'],
  ],
  [
    'a name',
    { spec: { type: 'ExternalName', externalName: 'x.example.com' } },
    ['ExternalName', '<none>', 'x.example.com', '<none>', '60s', '<none>'],
  ],
  ['nothing', {}, ['', '<none>', '<unknown>', '<none>', '60s', '<none>']],
])('Service that is %s', (_, fields, cells) => {
  expect(row('Service', fields)).toEqual(['web', ...cells])
})

const addresses = [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }]

test.each<[JsonObject[] | undefined, string]>([
  [undefined, '<none>'],
  [[], '<none>'],
  [[{}], ''],
  [[{ addresses }], '10.0.0.1,fd00::1'],
  [[{ addresses, ports: [{ port: 80 }] }], '10.0.0.1:80,[fd00::1]:80'],
  [[{ addresses, ports: [{ port: 80 }, { port: 443 }] }], '10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...'],
])('Endpoints of %j', (subsets, text) => {
  expect(row('Endpoints', { ...(subsets && { subsets }) })).toEqual(['web', text, '60s'])
})

test.each<[JsonObject, readonly unknown[]]>([
  [
    {
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'dns' }, {}, { port: 1 }],
      endpoints: [{ addresses: ['a', 'b'] }, { addresses: ['c', 'd'] }],
    },
    ['IPv4', '80,dns,* + 1 more...', 'a,b,c + 1 more...'],
  ],
  [{}, ['', '<unset>', '<unset>']],
])('EndpointSlice of %j', (fields, cells) => {
  expect(row('EndpointSlice.discovery.k8s.io', fields)).toEqual(['web', ...cells, '60s'])
})

const hosts = (...names: string[]): JsonObject => ({ rules: names.map((host) => ({ host })) })

test.each<[JsonObject, readonly unknown[]]>([
  [{}, ['<none>', '*', '', '80']],
  [
    { spec: { ingressClassName: 'nginx', tls: [{}], ...hosts('a', '', 'b') }, status: balancer },
    ['nginx', 'a,b', '2.2.2.2,a.example.com', '80, 443'],
  ],
  [{ spec: hosts('a', 'b', 'c', 'd', '') }, ['<none>', 'a,b,c + 2 more...', '', '80']],
])('Ingress of %j', (fields, cells) => {
  expect(row('Ingress.networking.k8s.io', fields)).toEqual(['web', ...cells, '60s'])
})

test.each<[string, JsonObject, readonly unknown[]]>([
  ['IngressClass', { spec: { controller: 'x/y' } }, ['web', 'x/y', '<none>', '60s']],
  [
    'IngressClass',
    {
      metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { parameters: { apiGroup: 'x.io', kind: 'P', name: 'p' } },
    },
    ['web (default)', '', 'P.x.io/p', '60s'],
  ],
  ['NetworkPolicy', { spec: { podSelector: { matchLabels: { a: 'b' } } } }, ['web', 'a=b', '60s']],
  ['NetworkPolicy', {}, ['web', '<none>', '60s']],
  ['ServiceCIDR', { spec: { cidrs: ['10.0.0.0/8', 'fd00::/64'] } }, ['web', '10.0.0.0/8,fd00::/64', '60s']],
  [
    'IPAddress',
    { spec: { parentRef: { group: 'X.io', resource: 'things', namespace: 'ns', name: 'n' } } },
    ['web', 'things.x.io/ns/n'],
  ],
  ['IPAddress', { spec: { parentRef: { resource: 'services', name: 'n' } } }, ['web', 'services/n']],
  ['IPAddress', {}, ['web', '<none>']],
])('%s of %j', (kind, fields, cells) => {
  expect(row(`${kind}.networking.k8s.io`, fields)).toEqual(cells)
})
