/**
 * A candidate in a thread of its own, seen from the main one: the same {@link Campaign} as in this thread.
 *
 * Renewal goes on while the main thread computes; what comes back is the deadline, in shared memory. A thread per
 * candidacy: one that ended, however it ended, leaves nothing behind.
 */
import { Worker } from 'node:worker_threads'
import { deferred, onAbort, silentLogger, type Clock, type Logger } from '#base'
import type { ConnectionConfig, Credential, CredentialSource } from '#client'
import type { Campaign, CampaignEnd, CampaignEvent, CampaignOptions } from './candidate.ts'
import type { CheckedTimes, LeaseName } from './lease.ts'
import type { LeaseDeadline } from './write-gate.ts'

export interface RenewalThreadOptions {
  readonly config: ConnectionConfig
  /**
   * Hands credentials to the thread, for plugins that must not run twice.
   *
   * @default the thread reads files and runs plugins itself
   */
  readonly credentials?: CredentialSource
  readonly lease: LeaseName
  readonly identity: string
  readonly times: CheckedTimes
  readonly release: boolean
  readonly userAgent: string
  readonly deadline: LeaseDeadline
  /** Must be the system's: the thread cannot see another. */
  readonly clock: Clock
  readonly log?: Logger
  /** @default a worker thread from the file */
  readonly startWorker?: (entry: URL, data: RenewalData) => Worker
}

/** A thread could not be started at all: a bundler left its file behind, or the runtime has none. */
export class RenewalThreadError extends Error {
  override readonly name = 'RenewalThreadError'
}

/** @throws {RenewalThreadError} when the thread does not start. One that dies later has lost the lease. */
export function renewalThread(options: RenewalThreadOptions): Campaign {
  return async (stand) => {
    const { credentials } = options
    const first = await credentials?.get({ signal: stand.signal })
    const worker = (options.startWorker ?? startWorker)(entryUrl(), dataFor(options, first))
    return await new RenewalThread(worker, options).run(stand)
  }
}

class RenewalThread {
  readonly #worker: Worker
  readonly #options: RenewalThreadOptions
  readonly #log: Logger
  readonly #end = deferred<CampaignEnd>()
  #isReady = false

  constructor(worker: Worker, options: RenewalThreadOptions) {
    this.#worker = worker
    this.#options = options
    this.#log = (options.log ?? silentLogger).child({ lease: `${options.lease.namespace}/${options.lease.name}` })
  }

  async run({ signal, onEvent }: CampaignOptions): Promise<CampaignEnd> {
    this.#worker.on('message', (message: RenewalReport) => {
      this.#receive(message, onEvent)
    })
    this.#worker.on('error', (error) => {
      this.#fail(error)
    })
    this.#worker.on('exit', (code) => {
      this.#fail(new Error(`the thread that renews the lease ended with code ${code}`))
    })
    const stop = onAbort(signal, () => {
      this.#order({ type: 'stop' })
    })
    try {
      return await this.#end.promise
    } finally {
      stop()
      this.#worker.removeAllListeners()
      await this.#worker.terminate()
      this.#options.deadline.close()
    }
  }

  #receive(message: RenewalReport, onEvent: CampaignOptions['onEvent']): void {
    switch (message.type) {
      case 'ready':
        this.#isReady = true
        return this.#order({ type: 'clock', monotonicMs: this.#options.clock.monotonic() })
      case 'renewed':
        return this.#order({ type: 'clock', monotonicMs: this.#options.clock.monotonic() })
      case 'event':
        return onEvent(message.event)
      case 'end':
        return this.#end.resolve(message.end)
      case 'want-credential':
        return void this.#handCredential(message.refused)
      case 'log':
        return this.#log[message.level](message.message, { error: message.error })
    }
  }

  async #handCredential(refused: boolean): Promise<void> {
    const { credentials } = this.#options
    if (!credentials) return
    try {
      if (refused) credentials.refuse(await credentials.get())
      this.#order({ type: 'credential', credential: { ...(await credentials.get()) } })
    } catch (error) {
      this.#log.warn('no credential for the thread that renews the lease', { error })
    }
  }

  #fail(cause: Error): void {
    if (this.#isReady) this.#end.resolve({ reason: 'lost', message: cause.message })
    else
      this.#end.reject(
        new RenewalThreadError(`the thread that renews the lease could not be started: ${cause.message}`, { cause }),
      )
  }

  #order(order: RenewalOrder): void {
    this.#worker.postMessage(order)
  }
}

function dataFor(
  { config, lease, identity, times, release, userAgent, deadline }: RenewalThreadOptions,
  credential: RenewalData['credential'],
): RenewalData {
  return {
    config,
    lease,
    identity,
    times,
    release,
    userAgent,
    memory: deadline.memory,
    ...(credential && { credential: { ...credential } }),
  }
}

/** The file beside this one, in the form that this one has. */
function entryUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './renewal-worker.ts' : './renewal-worker.js', import.meta.url)
}

function startWorker(entry: URL, workerData: RenewalData): Worker {
  return new Worker(entry, { workerData, name: 'evenkeel-lease' })
}

/** In a thread of its own where that works, in this one where it does not: a bundled program may lack the file. */
export function preferThread(
  thread: Campaign,
  here: Campaign,
  { log = silentLogger }: { log?: Logger | undefined } = {},
): Campaign {
  let isPossible = true
  return async (options) => {
    if (!isPossible) return here(options)
    try {
      return await thread(options)
    } catch (error) {
      if (!(error instanceof RenewalThreadError)) throw error
      isPossible = false
      log.warn('the lease is renewed by the main thread: long computations may lose it', { error })
      return here(options)
    }
  }
}

/*
 * What the thread that renews the lease and the one that works say to each other. Plain data, copied on the way.
 */

/** What the thread starts with. */
export interface RenewalData {
  readonly config: ConnectionConfig
  readonly lease: LeaseName
  readonly identity: string
  readonly times: CheckedTimes
  readonly release: boolean
  readonly userAgent: string
  readonly memory: SharedArrayBuffer
  /** Set when credentials are handed over instead of being fetched by the thread itself. */
  readonly credential?: Credential
}

/** To the thread. */
export type RenewalOrder =
  /** The monotonic clock of the main thread, at a moment before this arrives. */
  | { readonly type: 'clock'; readonly monotonicMs: number }
  | { readonly type: 'credential'; readonly credential: Credential }
  | { readonly type: 'stop' }

/** From the thread. */
export type RenewalReport =
  | { readonly type: 'ready' }
  /** The deadline was moved. Answered by a look at the clock, so that the two threads agree ever better. */
  | { readonly type: 'renewed' }
  | { readonly type: 'event'; readonly event: CampaignEvent }
  | { readonly type: 'end'; readonly end: CampaignEnd }
  /** Another credential, please; `refused` when the server did not take the last one. */
  | { readonly type: 'want-credential'; readonly refused: boolean }
  | { readonly type: 'log'; readonly level: 'debug' | 'warn'; readonly message: string; readonly error: string }
