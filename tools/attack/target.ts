/**
 * The attacked server as the attacker sees it: starts the process, sends requests, reads what they cost.
 *
 * A server that died is noticed: every wait of this class rejects with {@link ServerGone} then.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceArguments } from '../run.mjs'
import { tokens } from './fixtures.ts'
import type { AttackAddress, AttackRequest } from './shape.ts'

export type ToServer = 'reset' | 'measure' | 'stop'

/** What the server used since the last reset. */
export interface Usage {
  readonly cpuMs: number
  readonly rss: number
  readonly heapUsed: number
  readonly heapTotal: number
  readonly external: number
  readonly peakRss: number
  /** The longest turn of the event loop. */
  readonly stallMs: number
}

export type FromServer =
  | { readonly kind: 'ready'; readonly port: number; readonly caPem: string; readonly token: string }
  | { readonly kind: 'reset'; readonly rss: number }
  | ({ readonly kind: 'usage' } & Usage)

export class ServerGone extends Error {}

const startMs = 60_000
const answerMs = 120_000
const heapMegabytes = 512
/**
 * What docs/guides/server.md advises for a small machine. glibc keeps freed buffers of its threads otherwise, four
 * threads of the garbage collector compete with the requests for two cores, and V8 begins a full collection whenever less
 * than a young generation is left.
 */
const smallMachine = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '4194304' }
const smallMachineOptions = ['--v8-pool-size=1', '--max-semi-space-size=4']
const startMax = 1_000

export interface TargetOptions {
  readonly program?: string | undefined
  readonly isBesieged?: boolean
}

export class Target {
  readonly #child: ChildProcess
  readonly #gone: Promise<never>
  readonly address: AttackAddress

  private constructor(child: ChildProcess, gone: Promise<never>, address: AttackAddress) {
    this.#child = child
    this.#gone = gone
    this.address = address
  }

  /**
   * @param options.program a built program instead of the sources
   * @param options.isBesieged keeps the usual times of the server: no shape waits for them
   */
  static async start({ program, isBesieged = false }: TargetOptions = {}): Promise<Target> {
    const file = program ?? fileURLToPath(new URL('server.ts', import.meta.url))
    const folder = mkdtempSync(join(tmpdir(), 'evenkeel-attack-'))
    const loader = program === undefined ? sourceArguments(file).slice(0, -1) : []
    const child = fork(file, [folder, ...(isBesieged ? ['besieged'] : [])], {
      execArgv: [
        `--max-old-space-size=${heapMegabytes}`,
        '--expose-gc',
        ...(isBesieged ? smallMachineOptions : []),
        ...loader,
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, ...(isBesieged && smallMachine) },
    })
    child.once('exit', () => {
      rmSync(folder, { recursive: true, force: true })
    })
    child.setMaxListeners(0)
    const gone = rejectedAtExit(child)
    const ready = await Promise.race([messageOf(child, 'ready', startMs), gone])
    const { port, caPem, token } = ready
    return new Target(child, gone, { port, caPem, tokens: { ...tokens, admin: token } })
  }

  /** Frees what is left of earlier requests and starts counting; returns the memory of the idle server. */
  async reset(): Promise<number> {
    const { rss } = await this.#ask('reset', 'reset')
    return rss
  }

  async measure(): Promise<Usage> {
    return this.#ask('measure', 'usage')
  }

  async send(request: AttackRequest, signal: AbortSignal): Promise<AttackResponse> {
    return this.during(sendRequest(this.address, request, signal))
  }

  /** Waits for anything that the server has to survive. */
  async during<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#gone])
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    if (this.#child.connected) this.#child.send('stop')
    await ended
    clearTimeout(late)
  }

  /** Ends a server that is busy. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async #ask<K extends 'reset' | 'usage'>(
    message: ToServer,
    kind: K,
  ): Promise<Extract<FromServer, { readonly kind: K }>> {
    const answer = messageOf(this.#child, kind, answerMs)
    if (this.#child.connected) this.#child.send(message)
    return Promise.race([answer, this.#gone])
  }
}

/** The status, 0 when the server hung up, and the beginning of the body. */
export interface AttackResponse {
  readonly status: number
  readonly start: string
}

/** Sends a request on a new connection and reads the whole response. */
export function sendRequest(
  { port, caPem, tokens: known }: AttackAddress,
  { method, path, type, accept, body, user = 'mallory' }: AttackRequest,
  signal: AbortSignal,
): Promise<AttackResponse> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({
      host: '127.0.0.1',
      port,
      ca: caPem,
      agent: false,
      method,
      path,
      signal,
      headers: {
        authorization: `Bearer ${known[user]}`,
        accept: accept ?? 'application/json',
        ...(body !== undefined && {
          'content-type': type ?? 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    })
    const hungUp = (error: Error): void => {
      if (signal.aborted) reject(error)
      else resolve({ status: 0, start: '' })
    }
    request.on('error', hungUp)
    request.on('response', (response) => {
      response.on('error', hungUp)
      let start = ''
      response.on('data', (piece: Buffer) => {
        if (start.length < startMax) start += piece.toString('utf8', 0, startMax)
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, start })
      })
    })
    request.end(body)
  })
}

function rejectedAtExit(child: ChildProcess): Promise<never> {
  let text = ''
  child.stderr?.on('data', (piece: Buffer) => {
    text = `${text}${piece.toString()}`.slice(-100_000)
  })
  const gone = new Promise<never>((_, reject) => {
    child.once('close', (code, signal) => {
      const why =
        /(?:FATAL ERROR|Assertion failed|Assertion `).*/.exec(text)?.[0] ?? text.trim().split('\n').slice(-5).join(' ')
      reject(new ServerGone(`the server ended with ${String(code ?? signal)}: ${why}`))
    })
  })
  // A message to a process that has just ended fails; its end is what counts.
  child.on('error', () => undefined)
  gone.catch(() => undefined)
  return gone
}

function messageOf<K extends FromServer['kind']>(
  child: ChildProcess,
  kind: K,
  withinMs: number,
): Promise<Extract<FromServer, { readonly kind: K }>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.off('message', onMessage)
      reject(new ServerGone(`no ${kind} within ${withinMs} ms`))
    }, withinMs)
    const onMessage = (message: FromServer): void => {
      if (message.kind !== kind) return
      clearTimeout(late)
      child.off('message', onMessage)
      resolve(message as Extract<FromServer, { readonly kind: K }>)
    }
    child.on('message', onMessage)
    child.once('exit', () => {
      clearTimeout(late)
    })
  })
}
