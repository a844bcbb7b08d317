/**
 * Which server a command talks to: the one that was named, the one of this folder, or the one kubectl would take.
 */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'evenkeel/client'
import type { Client } from 'evenkeel/client'
import type { ConnectOptions, Io, OptionValues } from './command.ts'

/** Where `evenkeel up` and `evenkeel serve` leave how to reach them. */
const ownKubeconfig = join('data', 'kubeconfig')

/** @throws {ConfigError} when none is configured. */
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
    // Whoever waits at a terminal hears of trouble now.
    retry: false,
    timeoutMs: 30_000,
    onWarning: (text) => {
      if (warnings) io.stderr.write(`Warning: ${text}\n`)
    },
  })
}

/** The file, or undefined for what kubectl would take. */
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
