/**
 * `process-compose.yaml`: processes of one machine, with dependencies, probes and restart policies.
 *
 *   processes.NAME                     Process; with `replicas` above 1 a ProcessSet, with `schedule` a Schedule
 *   depends_on.NAME.condition          dependsOn[].until
 *   readiness_probe, liveness_probe    probes; `ready_log_line` is a probe of the log
 *   availability                       restart. Without it a process is not restarted, as there
 *   namespace                          the label app.kubernetes.io/part-of
 *
 * Variables in values are replaced when the file is read; `$$` is a dollar sign.
 */
import { Findings, type FileContents, type FileObject } from './finding.ts'
import { pathIn } from './folder.ts'
import { choiceOf, flagOf, numberOf, pathOf, textOf, textsOf, variablesOf, type ReadVariable } from './field.ts'
import { interpolation, type Environment } from './interpolation.ts'
import { probesOf } from './process-compose-probe.ts'
import { cronOf } from './process-compose-schedule.ts'
import { objectName, processSet, schedule, workloadObject } from './shapes.ts'
import { parseYaml, type YamlValue } from './yaml-value.ts'

interface ProcessComposeOptions {
  readonly file: string
  /** Of the file, from where relative paths begin. @default the same */
  readonly folder?: string | undefined
  /** What stands for variables in values. @default nothing is set */
  readonly env?: Environment
}

/** Top-level fields that are errors, with what to write instead. */
const refusedOfProject: Readonly<Record<string, string>> = {
  extends: 'not supported: write the processes of both files into this one, or name both: evenkeel run A B',
  env_cmds: 'not supported: run the commands first and set the variables, or write them into .env',
  vars: 'not supported: write the values where {{ }} stands',
}

/** Fields of a process that would change its meaning if they were ignored. */
const refusedOfProcess: Readonly<Record<string, string>> = {
  is_daemon: 'not supported: run the program so that it stays in the foreground',
  is_elevated: 'not supported: start evenkeel as that user',
  vars: 'not supported: write the values where {{ }} stands',
}

export async function readProcessComposeFile(
  text: string,
  { file, folder, env = {} }: ProcessComposeOptions,
): Promise<FileContents> {
  const findings = new Findings()
  const isLiteral = /^disable_env_expansion:\s*(?:true|yes|on)\b/m.test(text)
  const expand = interpolation({ env, findings })
  const [project] = await parseYaml(text, { file, findings, ...(!isLiteral && { expand }) })
  if (!project) return findings.contents([])
  for (const name of ['version', 'disable_env_expansion']) project.take(name)
  refuse(project, refusedOfProject)
  const shared = {
    variables: variablesOf(project.take('environment')),
    shell: shellOf(project.take('shell')),
    folder,
  }
  const processes = project.take('processes')
  if (!processes?.isMap) findings.error(processes ?? project, 'processes must be a map: NAME: { command: ... }')
  const objects = (processes?.isMap === true ? processes.entries() : []).flatMap(([name, value]) =>
    objectOf(name, value, shared),
  )
  for (const value of project.rest()) value.warn('not supported; it is ignored')
  return findings.contents(objects)
}

function refuse(value: YamlValue, refused: Readonly<Record<string, string>>): void {
  for (const [name, message] of Object.entries(refused)) {
    const field = value.take(name)
    if (field && !['false', 'no'].includes(field.text ?? '')) field.error(message)
  }
}

interface SharedSettings {
  readonly variables: readonly ReadVariable[]
  /** Program and argument before a command; undefined: /bin/sh -c. */
  readonly shell: readonly string[] | undefined
  readonly folder: string | undefined
}

function shellOf(value: YamlValue | undefined): readonly string[] | undefined {
  if (!value) return undefined
  const command = textOf(value.take('shell_command'))
  const argument = textOf(value.take('shell_argument')) ?? '-c'
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  return command === undefined ? undefined : [command, argument]
}

function objectOf(written: string, value: YamlValue, shared: SharedSettings): readonly FileObject[] {
  const name = objectName(written)
  if (name === undefined || !value.isMap) {
    value.error(name === undefined ? 'the name has no letter or digit: rename it' : 'must be a map: { command: ... }')
    return []
  }
  if (name !== written) value.warn(`is called ${name}: objects have names in lower case without _`)
  refuse(value, refusedOfProcess)
  const metadata = metadataOf(name, value)
  const replicas = numberOf(value.take('replicas'), { least: 1, most: 1000 }) ?? 1
  const when = value.take('schedule')
  const spec = specOf(value, written, { ...shared, isMany: replicas > 1 })
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  const object = when
    ? schedule(metadata, cronOf(when), spec)
    : replicas > 1
      ? processSet(metadata, replicas, spec)
      : workloadObject('Process', metadata, spec)
  return [{ object, file: value.file, line: value.line }]
}

function metadataOf(name: string, value: YamlValue) {
  const namespace = textOf(value.take('namespace'))
  const description = textOf(value.take('description'))
  const part = namespace === undefined ? undefined : objectName(namespace)
  return {
    name,
    ...(part !== undefined && { labels: { 'app.kubernetes.io/part-of': part } }),
    ...(description !== undefined && { annotations: { 'kubernetes.io/description': description } }),
  }
}

function specOf(value: YamlValue, written: string, shared: SharedSettings & { readonly isMany: boolean }) {
  const cwd = pathOf(value.take('working_dir'))
  return {
    ...commandFieldsOf(value, shared),
    cwd: cwd === undefined ? shared.folder : pathIn(shared.folder, cwd),
    envFiles: envFilesOf(value),
    env: envOf(value, written, shared),
    running: (flagOf(value.take('disabled')) ?? false) || foregroundOf(value) ? false : undefined,
    restart: restartOf(value.take('availability')),
    stop: stopOf(value.take('shutdown')),
    probes: probesOf(value),
    dependsOn: dependsOnOf(value.take('depends_on')),
    watch: watchOf(value.take('watch')),
  }
}

/** A program that needs the terminal is started by a person. */
function foregroundOf(value: YamlValue): boolean {
  const field = value.take('is_foreground')
  const isForeground = flagOf(field) ?? false
  if (isForeground) field?.warn(`not supported: it is not started by itself; evenkeel start NAME starts it`)
  return isForeground
}

function commandFieldsOf(value: YamlValue, { shell }: SharedSettings) {
  const [command, entrypoint] = [value.take('command'), value.take('entrypoint')]
  if (entrypoint) return { command: [...textsOf(entrypoint), ...(command ? [textOf(command) ?? ''] : [])] }
  const text = textOf(command)
  if (text === undefined || text.trim() === '') {
    value.error('has no command: write command: with the text for a shell')
    return {}
  }
  if (text.includes('{{')) command?.error('{{ }} is not supported: write the value')
  return shell ? { command: [...shell, text] } : { shell: text }
}

function envFilesOf(value: YamlValue) {
  const isOff = flagOf(value.take('is_dotenv_disabled')) ?? false
  const files = textsOf(value.take('env_file')).map((path) => ({ path }))
  return [...(isOff ? [] : [{ path: '.env', optional: true }]), ...files]
}

function envOf(
  value: YamlValue,
  written: string,
  { variables, isMany }: SharedSettings & { readonly isMany: boolean },
) {
  const own = variablesOf(value.take('environment'))
  const given = [...variables, ...own]
  const all = new Map(given.flatMap(({ name, value: text }) => (text === undefined ? [] : [[name, text] as const])))
  const usesNumber = JSON.stringify(value.data()).includes('PC_REPLICA_NUM')
  if (isMany && usesNumber)
    value.warn('PC_REPLICA_NUM is not set in copies of a ProcessSet: give each copy a port of its own with ports')
  return [
    { name: 'PC_PROC_NAME', value: written },
    ...(isMany ? [] : [{ name: 'PC_REPLICA_NUM', value: '0' }]),
    ...[...all].map(([name, text]) => ({ name, value: text })),
  ]
}

const policies = { always: 'Always', on_failure: 'OnFailure', no: 'Never', exit_on_failure: 'Never' } as const
const backoffSeconds = 1

function restartOf(value: YamlValue | undefined) {
  if (!value) return { policy: 'Never' }
  const restart = value.take('restart')
  const policy = choiceOf(restart, policies) ?? 'Never'
  if (restart?.text === 'exit_on_failure') restart.warn('write evenkeel run --exit-on failure; it is not restarted')
  const seconds = numberOf(value.take('backoff_seconds')) ?? backoffSeconds
  const limit = numberOf(value.take('max_restarts'))
  const ends = value.take('exit_on_end')
  if (ends && flagOf(ends) === true) ends.warn('write evenkeel run --exit-on NAME')
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  if (policy === 'Never') return { policy }
  return {
    policy,
    initialSeconds: seconds,
    maxSeconds: seconds,
    // 0 is no limit there.
    ...(limit !== undefined && limit > 0 && { limit }),
  }
}

const signals: Readonly<Record<string, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  12: 'SIGUSR2',
  15: 'SIGTERM',
}

function stopOf(value: YamlValue | undefined) {
  if (!value) return undefined
  const command = value.take('command')
  command?.error('not supported: let the program end at a signal, shutdown: { signal: 15 }')
  const signal = choiceOf(value.take('signal'), signals)
  const gracePeriodSeconds = numberOf(value.take('timeout_seconds'), { most: 86_400 })
  const parent = value.take('parent_only')
  if (parent && flagOf(parent) === true) parent.warn('not supported: the whole process group is signalled')
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  return { ...(signal !== undefined && { signal }), ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) }
}

const untils = {
  process_started: 'Started',
  process_healthy: 'Ready',
  process_log_ready: 'Ready',
  process_completed_successfully: 'Completed',
  process_completed: 'Completed',
} as const

function dependsOnOf(value: YamlValue | undefined) {
  if (!value) return []
  if (!value.isMap) value.error('must be a map: NAME: { condition: process_healthy }')
  return value.entries().flatMap(([written, one]) => {
    const condition = one.isMap ? one.take('condition') : undefined
    const until = choiceOf(condition, untils) ?? 'Started'
    if (condition?.text === 'process_completed')
      condition.warn('waits until it has ended with exit code 0; there any exit code counts')
    for (const field of one.rest()) field.warn('not supported; it is ignored')
    const name = objectName(written)
    return name === undefined ? [] : [{ name, until }]
  })
}

/** What is written below `watch`; kinds without that field refuse it. */
function watchOf(value: YamlValue | undefined) {
  if (!value) return undefined
  const paths: string[] = []
  const ignore: string[] = []
  for (const item of value.take('paths')?.items() ?? []) {
    paths.push(...[pathOf(item.take('path'))].flatMap((path) => path ?? []))
    ignore.push(...textsOf(item.take('exclude')))
    for (const field of item.rest()) field.warn('not supported; every file of the folder counts')
  }
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  return { paths, ...(ignore.length > 0 && { ignore }) }
}
