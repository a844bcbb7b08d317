/**
 * Networks of containers, tunnels out of them, and the Services and Endpoints that everything is reached by.
 */
import { defineKind } from 'evenkeel'
import { flag, int32, int64, listOf, oneOf, port, protocol, record, text, texts, time } from './fields.ts'
import { group, version } from './group.ts'

export const ContainerNetwork = defineKind({
  group,
  version,
  kind: 'ContainerNetwork',
  plural: 'containernetworks',
  shortNames: ['ctrnet'],
  scope: 'Cluster',
  spec: record({
    networkName: text,
    ipv6: flag,
    mode: oneOf('session', 'persistent', 'existing', 'cleanup'),
    persistent: flag,
  }),
  status: record({
    state: text,
    message: text,
    id: text,
    networkName: text,
    driver: text,
    ipv6: flag,
    subnets: texts,
    gateways: texts,
    containerIds: texts,
  }),
})

export const ContainerNetworkConnection = defineKind({
  group,
  version,
  kind: 'ContainerNetworkConnection',
  plural: 'containernetworkconnections',
  shortNames: ['ctrnetconn'],
  scope: 'Cluster',
  spec: record({ containerNetworkName: text, containerID: text, aliases: texts }),
})

export const ContainerNetworkTunnelProxy = defineKind({
  group,
  version,
  kind: 'ContainerNetworkTunnelProxy',
  plural: 'containernetworktunnelproxies',
  shortNames: ['cntp'],
  scope: 'Cluster',
  spec: record({
    containerNetworkName: text,
    aliases: texts,
    tunnels: listOf(
      record({
        name: text,
        serverServiceNamespace: text,
        serverServiceName: text,
        clientServiceNamespace: text,
        clientServiceName: text,
      }),
    ),
    baseImage: text,
  }),
  status: record({
    state: text,
    tunnelStatuses: listOf(
      record({
        name: text,
        tunnelId: int64,
        state: text,
        errorMessage: text,
        clientProxyAddresses: texts,
        clientProxyPort: int32,
        timestamp: time,
      }),
    ),
    tunnelConfigurationVersion: int32,
    clientProxyContainerImage: text,
    clientProxyContainerId: text,
    serverProxyProcessId: int64,
    serverProxyStartupTimestamp: time,
    serverProxyStdOutFile: text,
    serverProxyStdErrFile: text,
    clientProxyControlPort: int32,
    clientProxyDataPort: int32,
    serverProxyControlPort: int32,
    message: text,
  }),
})

export const Service = defineKind({
  group,
  version,
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  scope: 'Cluster',
  spec: record({
    address: text,
    port,
    protocol,
    addressAllocationMode: oneOf(
      'Localhost',
      'IPv4ZeroOne',
      'IPv4Loopback',
      'IPv6ZeroOne',
      'AllInterfaces',
      'IPv4AllInterfaces',
      'IPv6AllInterfaces',
      'Proxyless',
    ),
  }),
  status: record({
    state: text,
    proxyProcessPid: int64,
    proxyConfigFile: text,
    effectiveAddress: text,
    effectivePort: int32,
    proxylessEndpointNamespace: text,
    proxylessEndpointName: text,
  }),
  printerColumns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Address', type: 'string', jsonPath: '.status.effectiveAddress' },
    { name: 'Port', type: 'integer', jsonPath: '.status.effectivePort' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export const Endpoint = defineKind({
  group,
  version,
  kind: 'Endpoint',
  plural: 'endpoints',
  shortNames: ['end'],
  scope: 'Cluster',
  spec: record({ serviceNamespace: text, serviceName: text, address: text, port }),
  status: record({}),
})
