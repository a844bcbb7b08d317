/**
 * The commands of `dcp`, with the flags and variables that hosts of applications use.
 */
import { spawn } from 'node:child_process'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { SystemClock } from 'evenkeel/unstable/base'
import { detectRuntime, isRuntimeName, runtimeNames, type RuntimeName } from './container-runtime.ts'
import { openProgramLog } from './log-socket.ts'
import { forkProcess, stopProcessTree } from './process-commands.ts'
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
/** Returns the exit code, if it is not 0. */
type Run = (words: readonly string[], program: Program) => Promise<number | void>

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
  'fork-process': runFork,
  'stop-process-tree': runStop,
  cleanup: reportCleanup,
}

/** Commands of dcp that are not part of this one, and what does the same. */
const elsewhere: Readonly<Record<string, string>> = {
  'run-controllers': 'start-apiserver runs the controllers itself',
  'monitor-process': 'a watchdog of start-apiserver ends what is left',
  'monitor-container': 'a watchdog of start-apiserver removes what is left',
  'session-log': 'the log goes to DCP_LOG_SOCKET, or to stderr',
}

const usage = `dcp runs an application.

  dcp version            the version, as JSON
  dcp info               the version and the container runtime, as JSON
  dcp start-apiserver    --kubeconfig FILE [--monitor PID] [--monitor-interval SECONDS] [--detach] [--server-only]
                         [--port N] [--container-runtime docker|podman]
                         [--tls-cert-file FILE --tls-key-file FILE [--tls-ca-file FILE]] [--tls-cert-thumbprint SHA1]
  dcp fork-process       [--monitor PID] -- PROGRAM ARGS
                         starts a program outside of this process tree, and prints its process id
  dcp stop-process-tree  --pid PID [--process-start-time TIME] [--skip-descendants]
  dcp cleanup            WORKLOAD-ID
                         reports what was stopped, as JSON: nothing; what is persistent is left
`

/** Runs a command; returns its exit code. @throws {UsageError} when it cannot be run as it was given. */
export async function runCommand([name, ...words]: readonly string[], program: Program): Promise<number> {
  const run = name === undefined ? undefined : commands[name]
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  if (run && !own.includes('--help') && !own.includes('-h')) return (await run(words, program)) ?? 0
  const instead = name === undefined ? undefined : elsewhere[name]
  if (instead !== undefined) throw new UsageError(`the command ${name} of dcp is not part of this one: ${instead}`)
  if (!run && name !== undefined && !['help', '--help', '-h'].includes(name))
    throw new UsageError(`there is no command ${name}: use one of ${Object.keys(commands).join(', ')}`)
  program.stdout.write(usage)
  return 0
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
function runtimeOf(flag: string | undefined, { env }: Program): RuntimeName | undefined {
  const wanted = flag ?? env['DCP_CONTAINER_RUNTIME']
  if (wanted === undefined || wanted === '') return undefined
  if (!isRuntimeName(wanted))
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
    profileFolder: env['DCP_DIAGNOSTICS_LOG_FOLDER'] || join(tmpdir(), 'dcp', 'logs'),
    keepsFolder: /^(?:1|true|on|yes)$/i.test(env['DCP_PRESERVE_EXECUTABLE_LOGS'] ?? ''),
    containerRuntime: runtimeOf(values['container-runtime'], program),
    containerLogSocket: values['test-container-orchestrator-socket'],
    cleanupMs: (Number(env['DCP_SHUTDOWN_TIMEOUT_SECONDS']) || 120) * 1000,
  }
}

/** @throws {UsageError} */
function numberOf<Name extends string>(
  values: { readonly [Each in Name]?: string | undefined },
  name: Name,
): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a number, got ${JSON.stringify(text)}`)
  return Number(text)
}

const forkFlags = {
  monitor: { type: 'string', short: 'm' },
  'monitor-identity-time': { type: 'string' },
  'monitor-interval': { type: 'string', short: 'i' },
} as const

/** What comes after two dashes is the program; without them, what comes after the flags. */
async function runFork(words: readonly string[], { env, stdout, signal }: Program): Promise<number> {
  const at = words.indexOf('--')
  const values = read(at < 0 ? [] : words.slice(0, at), forkFlags)
  const options = { env, stdout, signal, clock: new SystemClock(), monitorPid: numberOf(values, 'monitor') }
  return forkProcess(words.slice(at + 1), options)
}

async function runStop(words: readonly string[], { signal }: Program): Promise<void> {
  const values = read(words, {
    pid: { type: 'string' },
    'process-start-time': { type: 'string' },
    'skip-descendants': { type: 'boolean' },
  })
  const pid = numberOf(values, 'pid')
  if (pid === undefined) throw new UsageError('stop-process-tree needs --pid')
  await stopProcessTree({
    pid,
    startTime: values['process-start-time'],
    skipsDescendants: values['skip-descendants'] === true,
    clock: new SystemClock(),
    signal,
  })
}

const workloadIdBytesMax = 1024

/** What a session made is gone with it; what is persistent is left. */
function reportCleanup(words: readonly string[], program: Program): Promise<void> {
  const [given = '', ...more] = words
  const workloadId = given.trim()
  if (workloadId === '' || workloadId.startsWith('-') || more.length > 0)
    throw new UsageError('cleanup needs one id of a workload: cleanup WORKLOAD-ID')
  if (Buffer.byteLength(workloadId) > workloadIdBytesMax)
    throw new UsageError(`the id of a workload has at most ${workloadIdBytesMax} bytes`)
  return print(program, { workloadId, stopped: { containers: 0, executables: 0, networks: 0 } })
}

/** The same command in a process that goes on when this one, and its terminal, have ended. */
function detach(words: readonly string[], { self: [command, ...own], env }: Program): void {
  const left = words.filter((word) => word !== '--detach')
  spawn(command, [...own, 'start-apiserver', ...left], { detached: true, stdio: 'ignore', env }).unref()
}
