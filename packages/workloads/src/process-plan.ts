/**
 * What to start for a Process: program, working directory and environment, from its spec.
 *
 * Variables, later ones win: the environment of Evenkeel unless `inheritEnv` is false, `envFiles` in their order, `env`, the
 * variables of `ports`. Without the inherited ones a process still has a `PATH`.
 */
import { isAbsolute, resolve } from 'node:path'
import { EnvironmentError, makeEnvironment, parseEnvFile, type Variable } from './environment.ts'
import type { Files } from './files.ts'
import type { NamedPort } from './ports.ts'
import type { ProcessObject } from './process-kind.ts'
import { markVariable } from './process-table.ts'
import type { RunPlan } from './runs.ts'

interface PlanOptions {
  readonly files: Pick<Files, 'findText'>
  readonly ambient: Readonly<Record<string, string | undefined>>
  /** Where relative paths begin. */
  readonly cwd: string
  readonly ports: readonly NamedPort[]
}

interface ProcessPlan {
  readonly plan: Pick<RunPlan, 'command' | 'cwd' | 'env' | 'lifetime'>
  /** Variables that one list has twice. */
  readonly duplicates: readonly string[]
}

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
    (spec.env ?? []).map(({ name, value = '' }) => ({ name, value })),
    portVariables,
  ])
  const command = spec.shell === undefined ? (spec.command ?? []) : ['/bin/sh', '-c', spec.shell]
  return {
    plan: { command, cwd, env, lifetime: spec.lifetime === 'Persistent' ? 'persistent' : 'session' },
    duplicates,
  }
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
