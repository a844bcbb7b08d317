/**
 * What a kubeconfig says about a program that gives out credentials.
 */
import { dirname, isAbsolute, resolve } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { Field } from '../config/field.ts'

export interface ExecConfig {
  /** Where it says so, for messages. */
  readonly where: string
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Told when the program is not there. */
  readonly installHint?: string
  readonly provideClusterInfo: boolean
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always'
}

const prefix = 'client.authentication.k8s.io/'
const modes = ['Never', 'IfAvailable', 'Always'] as const

/** @throws {ConfigError} naming the field that is missing or wrong. */
export function readExec(field: Field): ExecConfig {
  const { where, file } = field
  const command = field.text('command')
  if (command === undefined) throw new ConfigError(`${where}.command is missing`)
  const apiVersion = readVersion(field)
  const installHint = field.text('installHint')
  return {
    where,
    apiVersion,
    command: locate(command, file),
    args: field.texts('args'),
    env: readEnv(field),
    provideClusterInfo: field.flag('provideClusterInfo'),
    interactiveMode: readMode(field, apiVersion),
    ...(installHint !== undefined && { installHint }),
  }
}

function readVersion(field: Field): string {
  const version = field.text('apiVersion')
  if (version === undefined) throw new ConfigError(`${field.where}.apiVersion is missing: use ${prefix}v1`)
  if (version === `${prefix}v1` || version === `${prefix}v1beta1`) return version
  throw new ConfigError(
    `${field.where}.apiVersion ${JSON.stringify(version)} is not known: update the plugin and use ${prefix}v1`,
  )
}

function readMode(field: Field, apiVersion: string): ExecConfig['interactiveMode'] {
  const mode = field.text('interactiveMode')
  if (mode === undefined) {
    if (apiVersion.endsWith('/v1'))
      throw new ConfigError(`${field.where}.interactiveMode is missing: use ${modes.join(', ')}`)
    return 'IfAvailable'
  }
  const known = modes.find((one) => one === mode)
  if (known === undefined)
    throw new ConfigError(`${field.where}.interactiveMode ${JSON.stringify(mode)} must be one of ${modes.join(', ')}`)
  return known
}

function readEnv(field: Field): Record<string, string> {
  return Object.fromEntries(
    field.list('env').map((item) => {
      const name = item.text('name')
      if (name === undefined) throw new ConfigError(`${item.where}.name is missing`)
      return [name, item.text('value') ?? '']
    }),
  )
}

/** A bare name is looked up in PATH; a path is meant from the folder of the file. */
function locate(command: string, file: string): string {
  return /[\\/]/.test(command) && !isAbsolute(command) ? resolve(dirname(file), command) : command
}
