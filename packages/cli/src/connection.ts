/**
 * Chooses the server of a command: --kubeconfig, KUBECONFIG, the server of this directory, or the default of kubectl.
 */
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { connect, loadConfig } from 'evenkeel/client'
import type { Client, ConnectionConfig } from 'evenkeel/client'
import type { ConnectOptions, Io, OptionValues } from './command.ts'
import { Failure } from './failure.ts'
import { localKubeconfigPath, readLocalConfig } from './local-folder.ts'
import { copyNameOf } from './run/run-record.ts'
import { safeLine } from './terminal.ts'

interface ChosenConfig {
  readonly config: ConnectionConfig
  /** The kubeconfig file of the configuration. */
  readonly path: string
}

/** @throws {ConfigError} when no server is configured. */
export async function connectFor(
  values: OptionValues,
  io: Io,
  { warnings = true }: ConnectOptions = {},
): Promise<Client> {
  const { config } = await configFor(values, io)
  const namespace = values.text('namespace')
  return connect({
    config,
    ...(namespace !== undefined && { namespace }),
    // A person waits at the terminal: report errors without long retries.
    retry: false,
    timeoutMs: 30_000,
    onWarning: (text) => {
      if (warnings) io.stderr.write(`Warning: ${safeLine(text)}\n`)
    },
  })
}

/** @throws {ConfigError} when no server is configured. @throws {Failure} `bad-file` when that of this directory is not safe. */
export async function configFor(values: OptionValues, { env, cwd }: Pick<Io, 'env' | 'cwd'>): Promise<ChosenConfig> {
  const given = values.text('kubeconfig')
  const context = values.text('context')
  const chosen = context === undefined ? {} : { context }
  const copy = copyNameOf(values)
  if (copy !== undefined) {
    const config = await readLocalConfig(cwd, { ...chosen, copy })
    if (config) return { config, path: localKubeconfigPath(cwd, copy) }
    throw new Failure('no-server', `no copy ${copy} of this application runs`, { hint: `evenkeel run --copy ${copy}` })
  }
  if (given === undefined && !env['KUBECONFIG']) {
    const config = await readLocalConfig(cwd, chosen)
    if (config) return { config, path: localKubeconfigPath(cwd) }
  }
  return {
    config: await loadConfig({ ...(given !== undefined && { kubeconfig: resolve(cwd, given) }), ...chosen }),
    path: resolve(cwd, given ?? env['KUBECONFIG'] ?? `${env['HOME'] ?? ''}/.kube/config`),
  }
}

/** Whether a command would read the files of this directory to find its server. */
export async function isLocal(values: OptionValues, { env, cwd }: Pick<Io, 'env' | 'cwd'>): Promise<boolean> {
  if (values.text('kubeconfig') !== undefined || env['KUBECONFIG']) return false
  return access(localKubeconfigPath(cwd)).then(
    () => true,
    () => false,
  )
}
