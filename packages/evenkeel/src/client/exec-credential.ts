/**
 * Credentials from an exec plugin, as in kubectl: the program gets the cluster in `KUBERNETES_EXEC_INFO`, and prints an
 * ExecCredential.
 *
 * Invariants: however many requests wait, the program runs once; its credential is used until it expires or the server
 * refuses it; a program that failed is run again by the next request, not before.
 */
import { dirname, isAbsolute, resolve } from 'node:path'
import { isJsonObject, parseTime, type JsonObject } from '#api'
import { abortable, deadline, type Clock } from '#base'
import { ConfigError, type Field } from './config-field.ts'
import type { Credential, CredentialSource } from './credentials.ts'
import type { Host, ProgramResult } from './host.ts'

interface ExecOptions {
  readonly host: Host
  readonly clock: Clock
  /** The cluster information for programs that want it. */
  readonly cluster: () => Promise<JsonObject>
  /**
   * How long a program may take that does not talk to a person.
   *
   * @default 60_000
   */
  readonly timeoutMs?: number
}

interface IssuedCredential {
  readonly credential: Credential
  /** By the wall clock, as the program means it. */
  readonly expiresAtMs: number
}

export function execCredential(config: ExecConfig, options: ExecOptions): CredentialSource {
  const { clock } = options
  let given: IssuedCredential | undefined
  let running: Promise<IssuedCredential> | undefined
  return {
    async get({ signal } = {}) {
      if (given && clock.now() < given.expiresAtMs) return given.credential
      running ??= runPlugin(config, options)
        .then((result) => (given = result))
        .finally(() => {
          running = undefined
        })
      return (await abortable(running, { signal })).credential
    },
    refuse(credential) {
      if (given?.credential === credential) given = undefined
      return true
    },
  }
}

async function runPlugin(config: ExecConfig, options: ExecOptions): Promise<IssuedCredential> {
  const { host, clock, timeoutMs = 60_000 } = options
  const interactive = isInteractive(config, host)
  const limit = interactive ? undefined : deadline(clock, timeoutMs)
  try {
    const env = {
      ...host.env,
      ...config.env,
      KUBERNETES_EXEC_INFO: JSON.stringify(await infoFor(config, options, interactive)),
    }
    const result = await host.runProgram({
      command: config.command,
      args: config.args,
      env,
      interactive,
      signal: limit?.signal,
    })
    return readCredential(outputOf(result, config), config)
  } catch (error) {
    throw error instanceof ConfigError ? error : cannotRun(error, config)
  } finally {
    limit?.done()
  }
}

function isInteractive({ interactiveMode, where }: ExecConfig, { isTerminal }: Host): boolean {
  if (interactiveMode === 'Always' && !isTerminal)
    throw new ConfigError(`${where}: the plugin needs a terminal (interactiveMode Always), and there is none`)
  return interactiveMode !== 'Never' && isTerminal
}

async function infoFor(
  { apiVersion, provideClusterInfo }: ExecConfig,
  { cluster }: ExecOptions,
  interactive: boolean,
): Promise<JsonObject> {
  return {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(provideClusterInfo && { cluster: await cluster() }) },
  }
}

function outputOf({ code, stdout, stderr }: ProgramResult, { command, where }: ExecConfig): string {
  if (code === 0) return stdout
  const complaint = stderr.trim().slice(-500)
  throw new ConfigError(
    `${where}: ${command} ended with ${code === undefined ? 'a signal' : `code ${code}`}${complaint === '' ? '' : `: ${complaint}`}`,
  )
}

function cannotRun(error: unknown, { command, where, installHint }: ExecConfig): ConfigError {
  const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'
  const what = isMissing
    ? `${command} was not found: install it, or correct the command`
    : `${command} could not be run: ${error instanceof Error ? error.message : String(error)}`
  return new ConfigError(`${where}: ${what}${installHint === undefined ? '' : `\n${installHint}`}`, { cause: error })
}

function readCredential(output: string, { apiVersion, command, where }: ExecConfig): IssuedCredential {
  const wrong = (what: string): ConfigError => new ConfigError(`${where}: ${command} ${what}`)
  const answer = parseOutput(output)
  if (!answer || answer['kind'] !== 'ExecCredential') throw wrong('did not print an ExecCredential')
  if (answer['apiVersion'] !== apiVersion)
    throw wrong(`printed version ${String(answer['apiVersion'])}, and the kubeconfig wants ${apiVersion}`)
  const { status } = answer
  if (!isJsonObject(status)) throw wrong('printed no status')
  const { token = '', clientCertificateData: certPem = '', clientKeyData: keyPem = '', expirationTimestamp } = status
  if (typeof token !== 'string' || typeof certPem !== 'string' || typeof keyPem !== 'string')
    throw wrong('printed a credential that is no text')
  if (token === '' && certPem === '' && keyPem === '') throw wrong('printed neither a token nor a certificate')
  if ((certPem === '') !== (keyPem === '')) throw wrong('printed only one of certificate and key')
  return {
    credential: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(certPem !== '' && { certPem, keyPem }),
    },
    expiresAtMs: typeof expirationTimestamp === 'string' ? (parseTime(expirationTimestamp) ?? Infinity) : Infinity,
  }
}

function parseOutput(output: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export interface ExecConfig {
  /** The origin, for messages. */
  readonly where: string
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Shown when the program does not exist. */
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

/** A bare name is looked up in PATH; a path is relative to the folder of the kubeconfig. */
function locate(command: string, file: string): string {
  return /[\\/]/.test(command) && !isAbsolute(command) ? resolve(dirname(file), command) : command
}
