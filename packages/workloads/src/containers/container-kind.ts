/**
 * The kinds of containers: `Container`, `ContainerNetwork` and `ContainerVolume`.
 *
 * A Container is what a Process is, in an image: runs are numbered, one container per run, and the status has the current one and
 * the last five. Fields that a Process has as well have the same schema.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'
import { plainEnvField, probesField as probes, programFields, restartField as restart } from '../process-kind.ts'

const { env, envFiles, stop, lifetime } = programFields
const running = { type: 'boolean', default: true } as const
const portNumber = { type: 'integer', minimum: 1, maximum: 65_535 } as const
const objectName = { type: 'string', minLength: 1, maxLength: 253 } as const
/** What Docker and Podman accept as a name. */
const runtimeName = { type: 'string', minLength: 2, maxLength: 128, pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]+$' } as const
const texts = { type: 'array', maxItems: 1000, items: { type: 'string', maxLength: 100_000 } } as const
const labels = {
  type: 'object',
  maxProperties: 100,
  additionalProperties: { type: 'string', maxLength: 4096 },
} as const

const build = {
  type: 'object',
  required: ['context'],
  properties: {
    context: { type: 'string', minLength: 1, maxLength: 4096 },
    dockerfile: { type: 'string', minLength: 1, maxLength: 4096, default: 'Dockerfile' },
    args: plainEnvField,
    target: { type: 'string', minLength: 1, maxLength: 128 },
    labels,
  },
} as const

const ports = {
  type: 'array',
  maxItems: 50,
  items: {
    type: 'object',
    required: ['name', 'containerPort'],
    properties: {
      name: { type: 'string', maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' },
      containerPort: portNumber,
      hostPort: { type: 'integer', minimum: 0, maximum: 65_535, default: 0 },
      hostIP: { type: 'string', maxLength: 45, pattern: '^[0-9a-fA-F.:]+$', default: '127.0.0.1' },
      protocol: { type: 'string', enum: ['TCP', 'UDP'], default: 'TCP' },
    },
  },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
} as const

const volumeMounts = {
  type: 'array',
  maxItems: 50,
  items: {
    type: 'object',
    required: ['target'],
    properties: {
      volume: { ...objectName, description: 'The name of a ContainerVolume in the namespace.' },
      bind: { type: 'string', minLength: 1, maxLength: 4096, description: 'A path of this machine.' },
      target: { type: 'string', maxLength: 4096, pattern: '^/' },
      readOnly: { type: 'boolean', default: false },
    },
    'x-kubernetes-validations': [
      {
        rule: 'has(self.volume) != has(self.bind)',
        message: 'write either volume (a ContainerVolume) or bind (a path)',
      },
    ],
  },
} as const

const networks = {
  type: 'array',
  maxItems: 20,
  items: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { ...objectName, description: 'The name of a ContainerNetwork in the namespace.' },
      aliases: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 253 } },
    },
  },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
} as const

const dependsOn = {
  type: 'array',
  maxItems: 50,
  items: {
    ...programFields.dependsOn.items,
    properties: {
      ...programFields.dependsOn.items.properties,
      kind: { ...programFields.dependsOn.items.properties.kind, default: 'Container' },
    },
  },
} as const

const run = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    containerId: { type: 'string' },
    containerName: { type: 'string' },
    imageId: { type: 'string' },
    startedAt: { type: 'string', format: 'date-time' },
    finishedAt: { type: 'string', format: 'date-time' },
    exitCode: { type: 'integer' },
    signal: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    cause: { type: 'string' },
    /** Which parts of the spec it was started from, as digests. */
    specHash: { type: 'string' },
    token: { type: 'string' },
    ports: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'port'],
        properties: { name: { type: 'string' }, port: portNumber, containerPort: portNumber },
      },
    },
    networks: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, address: { type: 'string' } } },
    },
    /** Names only. */
    env: { type: 'array', items: { type: 'string' } },
  },
} as const

export const Container = defineKind({
  group: 'workloads.evenkeel.dev',
  version: 'v1',
  kind: 'Container',
  shortNames: ['ctr'],
  categories: ['app'],
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Run', type: 'integer', jsonPath: '.status.run.number' },
    { name: 'Restarts', type: 'integer', jsonPath: '.status.restarts' },
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Name', type: 'string', jsonPath: '.status.run.containerName', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    properties: {
      image: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^\\S+$' },
      build,
      pullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
      containerName: runtimeName,
      command: { ...texts, minItems: 1 },
      args: texts,
      env,
      envFiles,
      ports,
      volumeMounts,
      networks,
      user: { type: 'string', minLength: 1, maxLength: 128 },
      workingDir: { type: 'string', minLength: 1, maxLength: 4096 },
      labels,
      limits: {
        type: 'object',
        properties: {
          memory: { type: 'string', maxLength: 32, pattern: '^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$' },
          cpu: { type: 'string', maxLength: 32, pattern: '^[0-9]+(\\.[0-9]+)?m?$' },
        },
      },
      running,
      restart,
      stop,
      probes,
      dependsOn,
      lifetime,
    },
    'x-kubernetes-validations': [
      { rule: 'has(self.image) || has(self.build)', message: 'write image, or build, or both (image is then the tag)' },
    ],
  },
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string' },
      run,
      runs: { type: 'array', items: run },
      restarts: { type: 'integer' },
      nextRestartAt: { type: 'string', format: 'date-time' },
      lastProbe: { type: 'object', properties: { probe: { type: 'string' }, output: { type: 'string' } } },
    },
  },
  reports: ['actions', 'dependencies'],
} as const)

export type ContainerObject = Stored<ObjectOf<typeof Container>>
export type ContainerStatus = NonNullable<ContainerObject['status']>

const networkIsFixed =
  'networkName, existing, internal, ipv6 and persistent cannot be changed: make another ContainerNetwork'
const volumeIsFixed =
  'volumeName and persistent cannot be changed, because the labels of a volume cannot: make another ContainerVolume'
/** A field that keeps its first value. */
const fixed = (message: string) => ({ 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message }] })

export const ContainerNetwork = defineKind({
  group: 'workloads.evenkeel.dev',
  version: 'v1',
  kind: 'ContainerNetwork',
  shortNames: ['ctrnet'],
  categories: ['app'],
  printerColumns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Network', type: 'string', jsonPath: '.status.networkName' },
    { name: 'Subnet', type: 'string', jsonPath: '.status.subnets[0]' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    properties: {
      networkName: { ...runtimeName, ...fixed(networkIsFixed) },
      existing: { type: 'boolean', default: false, ...fixed(networkIsFixed) },
      internal: { type: 'boolean', default: false, ...fixed(networkIsFixed) },
      ipv6: { type: 'boolean', default: false, ...fixed(networkIsFixed) },
      persistent: { type: 'boolean', default: false, ...fixed(networkIsFixed) },
      labels,
    },
    'x-kubernetes-validations': [
      { rule: '!self.existing || has(self.networkName)', message: 'an existing network needs its networkName' },
      { rule: 'has(self.networkName) == has(oldSelf.networkName)', message: networkIsFixed },
    ],
  },
  status: {
    type: 'object',
    properties: {
      networkName: { type: 'string' },
      networkId: { type: 'string' },
      driver: { type: 'string' },
      subnets: { type: 'array', items: { type: 'string' } },
      gateways: { type: 'array', items: { type: 'string' } },
    },
  },
} as const)

export type ContainerNetworkObject = Stored<ObjectOf<typeof ContainerNetwork>>

export const ContainerVolume = defineKind({
  group: 'workloads.evenkeel.dev',
  version: 'v1',
  kind: 'ContainerVolume',
  shortNames: ['ctrvol'],
  categories: ['app'],
  printerColumns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Volume', type: 'string', jsonPath: '.status.volumeName' },
    { name: 'Owned', type: 'boolean', jsonPath: '.status.owned' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    properties: {
      volumeName: { ...runtimeName, ...fixed(volumeIsFixed) },
      persistent: { type: 'boolean', default: true, ...fixed(volumeIsFixed) },
      labels,
    },
    'x-kubernetes-validations': [{ rule: 'has(self.volumeName) == has(oldSelf.volumeName)', message: volumeIsFixed }],
  },
  status: {
    type: 'object',
    properties: {
      volumeName: { type: 'string' },
      driver: { type: 'string' },
      /** Whether Evenkeel made it: only then it is deleted. */
      owned: { type: 'boolean' },
    },
  },
} as const)

export type ContainerVolumeObject = Stored<ObjectOf<typeof ContainerVolume>>
