/**
 * Containers, programs run inside of them, and volumes.
 */
import { defineKind } from 'evenkeel'
import { healthProbes, probeResults } from './executable.ts'
import {
  anyObject,
  certificates,
  envVars,
  flag,
  int32,
  int64,
  labelList,
  listOf,
  oneOf,
  port,
  protocol,
  record,
  terminal,
  text,
  texts,
  time,
} from './fields.ts'
import { group, version } from './group.ts'

const build = record({
  context: text,
  dockerfile: text,
  tags: texts,
  args: envVars,
  secrets: listOf(record({ type: oneOf('env', 'file'), id: text, source: text, value: text })),
  stage: text,
  labels: labelList,
  platform: text,
})

/** An entry may contain entries: rules check those. */
const fileEntry = record({
  type: oneOf('file', 'openssl', 'directory', 'symlink'),
  name: text,
  owner: int32,
  group: int32,
  mode: int64,
  source: text,
  target: text,
  contents: text,
  rawContents: text,
  continueOnError: flag,
  entries: listOf(anyObject),
})

const containerSpec = record({
  image: text,
  build,
  containerName: text,
  volumeMounts: listOf(record({ type: oneOf('bind', 'volume'), source: text, target: text, readOnly: flag })),
  ports: listOf(record({ hostPort: port, containerPort: port, protocol, hostIP: text })),
  env: envVars,
  envFiles: texts,
  restartPolicy: oneOf('no', 'on-failure', 'unless-stopped', 'always'),
  command: text,
  args: texts,
  start: flag,
  stop: flag,
  networks: listOf(record({ name: text, aliases: texts })),
  mode: oneOf('session', 'persistent', 'existing', 'cleanup'),
  persistent: flag,
  monitorPid: int64,
  monitorTimestamp: time,
  runArgs: texts,
  labels: labelList,
  healthProbes,
  lifecycleKey: text,
  pullPolicy: oneOf('always', 'missing', 'never'),
  createFiles: listOf(
    record({
      destination: text,
      defaultOwner: int32,
      defaultGroup: int32,
      umask: int64,
      entries: listOf(fileEntry),
    }),
  ),
  imageLayers: listOf(record({ digest: text, source: text, sha256: text, rawContents: text })),
  pemCertificates: record({ certificates, destination: text, overwriteBundlePaths: texts, continueOnError: flag }),
  terminal,
})

export const Container = defineKind({
  group,
  version,
  kind: 'Container',
  plural: 'containers',
  shortNames: ['ctr'],
  scope: 'Cluster',
  spec: containerSpec,
  status: record({
    state: text,
    containerId: text,
    containerName: text,
    startupTimestamp: time,
    finishTimestamp: time,
    startupStdOutFile: text,
    startupStdErrFile: text,
    terminalSocketPath: text,
    exitCode: int32,
    message: text,
    effectiveEnv: envVars,
    effectiveArgs: texts,
    networks: texts,
    healthStatus: text,
    healthProbeResults: probeResults,
    lifecycleKey: text,
  }),
  printerColumns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export const ContainerExec = defineKind({
  group,
  version,
  kind: 'ContainerExec',
  plural: 'containerexecs',
  shortNames: ['ctrexec'],
  scope: 'Cluster',
  spec: record({
    containerName: text,
    env: envVars,
    envFiles: texts,
    workingDirectory: text,
    command: text,
    args: texts,
  }),
  status: record({
    state: text,
    startupTimestamp: time,
    finishTimestamp: time,
    exitCode: int32,
    stdOutFile: text,
    stdErrFile: text,
    effectiveEnv: envVars,
    effectiveArgs: texts,
  }),
})

export const ContainerVolume = defineKind({
  group,
  version,
  kind: 'ContainerVolume',
  plural: 'containervolumes',
  shortNames: ['ctrvol'],
  scope: 'Cluster',
  spec: {
    type: 'object',
    properties: { name: text, persistent: { type: 'boolean', default: true } },
  },
  status: record({ state: text }),
})
