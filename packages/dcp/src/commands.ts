/**
 * The commands of `dcp`, with the flags and variables that hosts of applications use.
 */
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { SystemClock } from 'evenkeel/unstable/base'
import { detectRuntime, runtimeNames } from './container-runtime.ts'
import { openProgramLog } from './log-socket.ts'
import { runSession, type SessionOptions } from './session.ts'
import { UsageError } from './usage-error.ts'

/** What a command uses of its process. */
interface Program {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  /** The words that start this program again: the path of Node.js, its flags and the file. */
  readonly self: readonly [command: string, ...words: string[]]
  /** Aborts when the program is to end. */
  readonly signal: AbortSignal
}

/** The version of the interface: hosts compare it with the oldest one that they support. */
const interfaceVersion = '0.25.0'

type Flags = NonNullable<ParseArgsConfig['options']>
type Run = (words: readonly string[], program: Program) => Promise<void>

const commonFlags = { verbosity: { type: 'string', short: 'v' }, help: { type: 'boolean', short: 'h' } } as const
const runtimeFlag = { 'container-runtime': { type: 'string' } } as const

/** Every command by its name. */
const commands: Readonly<Record<string, Run>> = {
  version: (words, program) => {
    read(words, {})
    return print(program, versionDocument())
  },
  info: showInfo,
  'start-apiserver': startApiServer,
}

const usage = `dcp runs the API server of an application.

  dcp version            the version, as JSON
  dcp info               the version and the container runtime, as JSON
  dcp start-apiserver    --kubeconfig FILE [--monitor PID] [--monitor-interval SECONDS] [--detach] [--server-only]
                         [--port N] [--container-runtime docker|podman]
                         [--tls-cert-file FILE --tls-key-file FILE [--tls-ca-file FILE]] [--tls-cert-thumbprint SHA1]
`

/** Runs a command. @throws {UsageError} when it cannot be run as it was given. */
export async function runCommand([name, ...words]: readonly string[], program: Program): Promise<void> {
  const run = name === undefined ? undefined : commands[name]
  if (run && !words.includes('--help') && !words.includes('-h')) {
    await run(words, program)
    return
  }
  if (!run && name !== undefined && !['help', '--help', '-h'].includes(name))
    throw new UsageError(`there is no command ${name}: use one of ${Object.keys(commands).join(', ')}`)
  program.stdout.write(usage)
}

function read<const F extends Flags>(words: readonly string[], flags: F) {
  try {
    return parseArgs({ args: [...words], options: { ...commonFlags, ...flags }, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function print({ stdout }: Program, document: object): Promise<void> {
  stdout.write(`${JSON.stringify(document)}\n`)
  return Promise.resolve()
}

function versionDocument(): object {
  return { version: interfaceVersion, commitHash: '', buildTimestamp: null }
}

async function showInfo(words: readonly string[], program: Program): Promise<void> {
  const values = read(words, {
    ...runtimeFlag,
    diagnostics: { type: 'boolean' },
    timeout: { type: 'string', short: 't' },
  })
  const containers = await detectRuntime({ wanted: runtimeOf(values['container-runtime'], program), timeoutMs: 10_000 })
  await print(program, {
    ...versionDocument(),
    containers,
    ...(values.diagnostics && { os: process.platform, architecture: process.arch }),
  })
}

/** @throws {UsageError} for an unknown one. */
function runtimeOf(flag: string | undefined, { env }: Program): string | undefined {
  const wanted = flag ?? env['DCP_CONTAINER_RUNTIME']
  if (wanted === undefined || wanted === '') return undefined
  if (!runtimeNames.includes(wanted))
    throw new UsageError(`--container-runtime must be ${runtimeNames.join(' or ')}, got ${JSON.stringify(wanted)}`)
  return wanted
}

const serverFlags = {
  ...runtimeFlag,
  kubeconfig: { type: 'string' },
  port: { type: 'string' },
  monitor: { type: 'string', short: 'm' },
  'monitor-interval': { type: 'string', short: 'i' },
  'monitor-identity-time': { type: 'string' },
  detach: { type: 'boolean' },
  'server-only': { type: 'boolean' },
  'root-dir': { type: 'string', short: 'r' },
  'workload-id': { type: 'string' },
  'tls-cert-file': { type: 'string' },
  'tls-key-file': { type: 'string' },
  'tls-ca-file': { type: 'string' },
  'tls-cert-thumbprint': { type: 'string' },
  'test-container-orchestrator-socket': { type: 'string' },
} as const

type ServerFlags = ReturnType<typeof read<typeof serverFlags>>

async function startApiServer(words: readonly string[], program: Program): Promise<void> {
  const values = read(words, serverFlags)
  if (values.detach) {
    detach(words, program)
    return
  }
  const { env, stderr, signal } = program
  const clock = new SystemClock()
  const { log, close } = await openProgramLog({
    clock,
    level: values.verbosity === 'debug' ? 'debug' : 'info',
    socketPath: env['DCP_LOG_SOCKET'] || undefined,
    stderr,
  })
  try {
    await runSession({ ...sessionOptions(values, program), clock, log, signal })
  } finally {
    await close()
  }
}

function sessionOptions(values: ServerFlags, program: Program): Omit<SessionOptions, 'clock' | 'log' | 'signal'> {
  const { env } = program
  const folder = env['DCP_SESSION_FOLDER'] || undefined
  const [monitorPid, seconds] = [numberOf(values, 'monitor'), numberOf(values, 'monitor-interval')]
  return {
    kubeconfig: values.kubeconfig || join(folder ?? join(homedir(), '.dcp'), 'kubeconfig'),
    certificate: {
      certFile: values['tls-cert-file'],
      keyFile: values['tls-key-file'],
      caFile: values['tls-ca-file'],
      thumbprint: values['tls-cert-thumbprint'],
    },
    token: env['DCP_SECURE_TOKEN'] || undefined,
    port: numberOf(values, 'port') ?? 0,
    monitorPid,
    monitorIntervalMs: seconds && seconds * 1000,
    isServerOnly: values['server-only'] === true,
    folder,
    keepsFolder: /^(?:1|true|on|yes)$/i.test(env['DCP_PRESERVE_EXECUTABLE_LOGS'] ?? ''),
    containerRuntime: runtimeOf(values['container-runtime'], program) ?? 'docker',
    containerLogSocket: values['test-container-orchestrator-socket'],
    cleanupMs: (Number(env['DCP_SHUTDOWN_TIMEOUT_SECONDS']) || 120) * 1000,
  }
}

/** @throws {UsageError} */
function numberOf(values: ServerFlags, name: 'port' | 'monitor' | 'monitor-interval'): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a number, got ${JSON.stringify(text)}`)
  return Number(text)
}

/** The same command in a process that goes on when this one, and its terminal, have ended. */
function detach(words: readonly string[], { self: [command, ...own], env }: Program): void {
  const left = words.filter((word) => word !== '--detach')
  spawn(command, [...own, 'start-apiserver', ...left], { detached: true, stdio: 'ignore', env }).unref()
}
