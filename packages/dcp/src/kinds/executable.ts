/**
 * Executables, sets of replicas of them, and the health probes that containers have as well.
 */
import { defineKind } from 'evenkeel'
import {
  anyObject,
  certificates,
  duration,
  envVars,
  flag,
  int32,
  int64,
  listOf,
  oneOf,
  record,
  terminal,
  text,
  textMap,
  texts,
  time,
} from './fields.ts'
import { group, version } from './group.ts'

const specFields = {
  executablePath: text,
  workingDirectory: text,
  args: texts,
  env: envVars,
  envFiles: texts,
  executionType: oneOf('Process', 'IDE'),
  fallbackExecutionTypes: listOf(oneOf('Process', 'IDE')),
  ambientEnvironment: record({ behavior: oneOf('Inherit', 'DoNotInherit') }),
  start: flag,
  stop: flag,
  mode: oneOf('session', 'persistent', 'cleanup'),
  persistent: flag,
  lifecycleKey: text,
  monitorPid: int64,
  monitorTimestamp: time,
  pemCertificates: record({ certificates, continueOnError: flag }),
  terminal,
} as const

/** A probe that runs an Executable has no probes itself, by a rule. */
const probeTemplate = record({
  labels: textMap,
  annotations: textMap,
  spec: record({ ...specFields, healthProbes: listOf(anyObject) }),
})

export const healthProbes = listOf(
  record({
    name: text,
    type: oneOf('HTTP', 'Executable', 'ContainerExec'),
    executableProbe: record({ executableTemplate: probeTemplate }),
    httpProbe: record({ url: text, headers: listOf(record({ name: text, value: text })) }),
    schedule: record({
      kind: oneOf('Continuous', 'UntilSuccess'),
      interval: duration,
      timeout: duration,
      initialDelay: duration,
    }),
    annotations: textMap,
  }),
)

export const probeResults = listOf(record({ outcome: text, timestamp: time, probeName: text, reason: text }))

const executableSpec = record({ ...specFields, healthProbes })

export const Executable = defineKind({
  group,
  version,
  kind: 'Executable',
  plural: 'executables',
  shortNames: ['exe'],
  scope: 'Cluster',
  spec: executableSpec,
  status: record({
    executionID: text,
    pid: int64,
    state: text,
    startupTimestamp: time,
    finishTimestamp: time,
    exitCode: int32,
    stdOutFile: text,
    stdErrFile: text,
    terminalSocketPath: text,
    effectiveEnv: envVars,
    effectiveArgs: texts,
    healthStatus: text,
    healthProbeResults: probeResults,
  }),
  printerColumns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'PID', type: 'integer', jsonPath: '.status.pid' },
    { name: 'Path', type: 'string', jsonPath: '.spec.executablePath' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})

export const ExecutableReplicaSet = defineKind({
  group,
  version,
  kind: 'ExecutableReplicaSet',
  plural: 'executablereplicasets',
  shortNames: ['exers'],
  scope: 'Cluster',
  spec: record({
    replicas: int32,
    stopOnScaleDown: flag,
    template: record({ labels: textMap, annotations: textMap, spec: executableSpec }),
  }),
  status: record({
    observedReplicas: int32,
    runningReplicas: int32,
    failedReplicas: int32,
    finishedReplicas: int32,
    lastScaleTime: time,
    healthStatus: text,
  }),
})
