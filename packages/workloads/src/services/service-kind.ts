/**
 * The kinds `Service` and `Endpoint`: an address that exists before the programs behind it, and where those are.
 *
 * A Service listens on one TCP port and passes each connection on to one of its Endpoints. Endpoints of Processes are made
 * by the Service while those are Ready; for servers elsewhere a user writes them. There is no UDP.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'

const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
const group = { group: 'workloads.evenkeel.dev', version: 'v1', categories: ['app'] } as const

const serviceSpec = {
  type: 'object',
  properties: {
    selector: {
      type: 'object',
      required: ['matchLabels'],
      properties: {
        matchLabels: {
          type: 'object',
          description: 'Processes and Containers of the namespace with all of these labels.',
          additionalProperties: { type: 'string', maxLength: 63 },
          minProperties: 1,
          maxProperties: 50,
        },
      },
    },
    targetPort: {
      'x-kubernetes-int-or-string': true,
      description:
        'A number, or the name of a port of the workload. Without it, the first port. Of a Container a number is the port in it.',
    },
    address: {
      type: 'string',
      enum: ['127.0.0.1', '::1', '0.0.0.0', '::'],
      default: '127.0.0.1',
      description: 'Where it listens, by TCP: this machine only, or with 0.0.0.0 and :: every network.',
    },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 0,
      description: '0: any free port, which then stays the same.',
    },
    appProtocol: {
      type: 'string',
      maxLength: 63,
      pattern: '^[a-z][-+.a-z0-9]*$',
      default: 'tcp',
      description: 'The scheme of status.url. A Service with http is also served by the router, by its host name.',
    },
    proxyless: {
      type: 'boolean',
      default: false,
      description: 'Does not listen: its address is that of its first ready endpoint.',
    },
    drainSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 86_400,
      default: 5,
      description: 'How long connections may go on when the Service is deleted.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.targetPort) || (type(self.targetPort) == int ? int(self.targetPort) >= 1 && int(self.targetPort) <= 65535 : string(self.targetPort).matches("^[a-z]([-a-z0-9]*[a-z0-9])?$"))',
      message: 'must be a port from 1 to 65535, or the name of a port of the workload',
      fieldPath: '.targetPort',
    },
    {
      rule: '!self.proxyless || self.port == 0',
      message: 'must be 0 or absent with proxyless: the port is that of the endpoint',
      fieldPath: '.port',
    },
  ],
} as const

export const Service = defineKind({
  ...group,
  kind: 'Service',
  shortNames: ['wsvc'],
  printerColumns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Endpoints', type: 'integer', jsonPath: '.status.endpoints' },
    { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Host', type: 'string', jsonPath: '.status.hostUrl', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: serviceSpec,
  status: {
    type: 'object',
    properties: {
      /** Where to connect to from this machine. */
      address: { type: 'string' },
      port,
      url: { type: 'string' },
      /** At the router. */
      hostUrl: { type: 'string' },
      /** How many are ready. */
      endpoints: { type: 'integer' },
    },
  },
  reports: ['children'],
} as const)

export const Endpoint = defineKind({
  ...group,
  kind: 'Endpoint',
  shortNames: ['wep'],
  printerColumns: [
    { name: 'Service', type: 'string', jsonPath: '.spec.service' },
    { name: 'Address', type: 'string', jsonPath: '.spec.address' },
    { name: 'Port', type: 'integer', jsonPath: '.spec.port' },
    { name: 'Target', type: 'string', jsonPath: '.spec.targetRef.name' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    required: ['service', 'port'],
    properties: {
      service: { type: 'string', minLength: 1, maxLength: 253 },
      address: { type: 'string', minLength: 1, maxLength: 253, default: '127.0.0.1', pattern: '^[-.:0-9A-Za-z_]+$' },
      port,
      targetRef: {
        type: 'object',
        required: ['kind', 'name'],
        description: 'What it leads to, for people.',
        properties: { kind: { type: 'string', maxLength: 63 }, name: { type: 'string', maxLength: 253 } },
      },
    },
  },
  status: { type: 'object', properties: {} },
} as const)

export type ServiceObject = Stored<ObjectOf<typeof Service>>
export type EndpointObject = Stored<ObjectOf<typeof Endpoint>>
