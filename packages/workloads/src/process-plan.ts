/**
 * What to start for a Process: program, working directory and environment, from its spec.
 *
 * Variables, later ones win: the environment of Evenkeel unless `inheritEnv` is false, `envFiles` in their order, `env`, the
 * variables of `ports`. Without the inherited ones a process still has a `PATH`.
 */
import { createHash } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import type { EnvValues } from './env-references.ts'
import { EnvironmentError, makeEnvironment, parseEnvFile, type Variable } from './environment.ts'
import type { Files } from './files.ts'
import { fingerprintOf } from './lifecycle.ts'
import type { NamedPort } from './ports.ts'
import type { ProcessObject } from './process-kind.ts'
import { markVariable } from './process-table.ts'
import type { ProbeTarget } from './prober.ts'
import type { Run, RunPlan } from './runs.ts'

interface PlanOptions {
  readonly files: Pick<Files, 'findText'>
  readonly ambient: Readonly<Record<string, string | undefined>>
  /** Where relative paths begin. */
  readonly cwd: string
  readonly ports: readonly NamedPort[]
  /** Of variables with `valueFrom`, by their index. One that is not known is not set. */
  readonly values: ReadonlyMap<number, string>
}

interface ProcessPlan {
  readonly plan: Pick<RunPlan, 'command' | 'cwd' | 'env' | 'lifetime' | 'separateStderr' | 'terminal'>
  /** Variables that one list has twice. */
  readonly duplicates: readonly string[]
}

/** A Process, and the values that its variables have elsewhere: by their index. */
export interface SeenProcess {
  readonly process: ProcessObject
  readonly values: ReadonlyMap<number, string>
}

type EnvEntry = NonNullable<ProcessObject['spec']['env']>[number]

/** @throws {EnvironmentError} for an environment that no process can have, or a file that is missing */
export async function planOf({ spec }: ProcessObject, options: PlanOptions): Promise<ProcessPlan> {
  const cwd = resolve(options.cwd, spec.cwd ?? '.')
  const files = await Promise.all((spec.envFiles ?? []).map((file) => readEnvFile(file, { cwd, files: options.files })))
  const portVariables = (spec.ports ?? []).flatMap(({ name, env }) => {
    const port = options.ports.find((one) => one.name === name)?.port
    return env === undefined || port === undefined ? [] : [{ name: env, value: String(port) }]
  })
  const { env, duplicates } = makeEnvironment(ambientOf(options.ambient, spec.inheritEnv ?? true), [
    ...files,
    variablesOf(spec.env, options.values),
    portVariables,
  ])
  const command = spec.shell === undefined ? (spec.command ?? []) : ['/bin/sh', '-c', spec.shell]
  return {
    plan: {
      command,
      cwd,
      env,
      lifetime: spec.lifetime === 'Persistent' ? 'persistent' : 'session',
      separateStderr: spec.log?.separateStderr ?? false,
      ...(spec.terminal === true && { terminal: true }),
    },
    duplicates,
  }
}

/** What the probes of a run look at. Their programs run as the process does. */
export async function probeTarget(run: Run, process: ProcessObject, options: PlanOptions): Promise<ProbeTarget> {
  const { mark, logFile, errorFile, ports } = run
  const { startup, readiness, liveness } = process.spec.probes ?? {}
  const hasProgram = [startup, readiness, liveness].some((probe) => probe?.exec)
  const { cwd, env } = hasProgram ? (await planOf(process, options)).plan : { cwd: options.cwd, env: {} }
  return { mark, logFile, errorFile, ports, cwd, env: { ...env, [markVariable]: mark } }
}

/** A mark of another Evenkeel that runs us is not passed on: ours takes its place. */
function ambientOf(ambient: PlanOptions['ambient'], isInherited: boolean): PlanOptions['ambient'] {
  if (!isInherited) return { PATH: ambient['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' }
  const { [markVariable]: _, ...rest } = ambient
  return rest
}

/** The variables of a file of `spec.envFiles`. @throws {EnvironmentError} for a file that is missing, or that cannot be read */
export async function readEnvFile(
  { path, optional = false }: { readonly path: string; readonly optional?: boolean },
  { cwd, files }: { readonly cwd: string; readonly files: Pick<Files, 'findText'> },
): Promise<readonly Variable[]> {
  const text = await files.findText(isAbsolute(path) ? path : resolve(cwd, path))
  if (text !== undefined) return parseEnvFile(text, path)
  if (optional) return []
  throw new EnvironmentError(`the environment file ${path} does not exist: create it, or set optional: true`)
}

/** The part of a fingerprint that follows from values elsewhere. */
const valuesPart = 'env.valueFrom'

/**
 * What a run is started from: another fingerprint starts another run. With values that are not all known, those of the run
 * count as the same.
 */
export function runFingerprint(
  { spec }: ProcessObject,
  { values, missing }: EnvValues,
  run: Pick<Run, 'fingerprint'> | undefined,
): string {
  const { command, shell, cwd, env, envFiles, inheritEnv, ports, lifetime, terminal } = spec
  const log = spec.log?.separateStderr ?? false
  const own = fingerprintOf({ command, shell, cwd, env, envFiles, inheritEnv, ports, log, lifetime, terminal }, digest)
  return withValues(own, { values, missing }, run)
}

/** A fingerprint with the part that follows from values elsewhere. */
export function withValues(
  own: string,
  { values, missing }: EnvValues,
  run: Pick<Run, 'fingerprint'> | undefined,
): string {
  const before = missing && run?.fingerprint.split(' ').find((part) => part.startsWith(`${valuesPart}=`))
  if (before !== undefined) return `${own} ${before}`
  return values.size === 0 ? own : `${own} ${fingerprintOf({ [valuesPart]: [...values] }, digest)}`
}

/** The variables of a spec. One whose value is elsewhere and not known is left out. */
export function variablesOf(env: readonly EnvEntry[] = [], values: ReadonlyMap<number, string>): readonly Variable[] {
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    const given = valueFrom ? values.get(index) : value
    return given === undefined ? [] : [{ name, value: given }]
  })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
