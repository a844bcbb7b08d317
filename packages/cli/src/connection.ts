/**
 * Chooses the server of a command: --kubeconfig, the server of this directory, or the default of kubectl.
 */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'evenkeel/client'
import type { Client } from 'evenkeel/client'
import type { ConnectOptions, Io, OptionValues } from './command.ts'

/** The kubeconfig that `evenkeel up` and `evenkeel serve` write. */
const ownKubeconfig = join('data', 'kubeconfig')

/** @throws {ConfigError} when no server is configured. */
export async function connectFor(
  values: OptionValues,
  io: Io,
  { warnings = true }: ConnectOptions = {},
): Promise<Client> {
  const kubeconfig = await kubeconfigFor(values, io)
  const context = values.text('context')
  const namespace = values.text('namespace')
  return connect({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(namespace !== undefined && { namespace }),
    // A person waits at the terminal: report errors without long retries.
    retry: false,
    timeoutMs: 30_000,
    onWarning: (text) => {
      if (warnings) io.stderr.write(`Warning: ${text}\n`)
    },
  })
}

/** The kubeconfig file; undefined: the default of kubectl. */
export async function kubeconfigFor(
  values: OptionValues,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<string | undefined> {
  const given = values.text('kubeconfig')
  if (given !== undefined) return given
  if (env['KUBECONFIG']) return undefined
  const own = join(cwd, ownKubeconfig)
  return await access(own).then(
    () => own,
    () => undefined,
  )
}
