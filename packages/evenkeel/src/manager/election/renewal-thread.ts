/**
 * The main-thread side of the renewal thread: a {@link Campaign} whose candidate runs in a worker thread.
 *
 * The worker renews the lease while the main thread computes. It writes the deadline into shared memory. Each campaign
 * has its own worker, so nothing is left of a campaign that ended. The messages between the threads are plain data.
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
   * Forwards credentials to the thread, for credential plugins that must not run twice.
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
  /** Must be the system clock: the thread cannot see another one. */
  readonly clock: Clock
  readonly log?: Logger
  /** @default a worker thread from the file */
  readonly startWorker?: (entry: URL, data: RenewalData) => Worker
}

/** The thread could not be started: a bundler omitted its file, or the runtime has no threads. */
export class RenewalThreadError extends Error {
  override readonly name = 'RenewalThreadError'
}

/** @throws {RenewalThreadError} if the thread does not start. A thread that dies later has lost the lease. */
export function renewalThread(options: RenewalThreadOptions): Campaign {
  return async (campaign) => {
    const { credentials } = options
    const first = await credentials?.get({ signal: campaign.signal })
    const worker = (options.startWorker ?? startWorker)(entryUrl(), dataFor(options, first))
    return await new RenewalThread(worker, options).run(campaign)
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
      this.#fail(new Error(`the lease renewal thread exited with code ${code}`))
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
        return void this.#forwardCredential(message.refused)
      case 'log':
        return this.#log[message.level](message.message, { error: message.error })
    }
  }

  async #forwardCredential(refused: boolean): Promise<void> {
    const { credentials } = this.#options
    if (!credentials) return
    try {
      if (refused) credentials.refuse(await credentials.get())
      this.#order({ type: 'credential', credential: { ...(await credentials.get()) } })
    } catch (error) {
      this.#log.warn('cannot get a credential for the lease renewal thread', { error })
    }
  }

  #fail(cause: Error): void {
    if (this.#isReady) this.#end.resolve({ reason: 'lost', message: cause.message })
    else this.#end.reject(new RenewalThreadError(`cannot start the lease renewal thread: ${cause.message}`, { cause }))
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

/** The worker file: TypeScript or JavaScript, like this file. */
function entryUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './renewal-worker.ts' : './renewal-worker.js', import.meta.url)
}

function startWorker(entry: URL, workerData: RenewalData): Worker {
  return new Worker(entry, { workerData, name: 'evenkeel-lease' })
}

/** Runs the campaign in a thread, or in this thread if that does not start: a bundled program may lack the file. */
export function preferThread(
  thread: Campaign,
  fallback: Campaign,
  { log = silentLogger }: { log?: Logger | undefined } = {},
): Campaign {
  let isPossible = true
  return async (options) => {
    if (!isPossible) return fallback(options)
    try {
      return await thread(options)
    } catch (error) {
      if (!(error instanceof RenewalThreadError)) throw error
      isPossible = false
      log.warn('renewing the lease in the main thread: a blocked event loop may lose it', { error })
      return fallback(options)
    }
  }
}

/** The initial data of the thread. */
export interface RenewalData {
  readonly config: ConnectionConfig
  readonly lease: LeaseName
  readonly identity: string
  readonly times: CheckedTimes
  readonly release: boolean
  readonly userAgent: string
  readonly memory: SharedArrayBuffer
  /** Set if credentials are forwarded; otherwise the thread gets them itself. */
  readonly credential?: Credential
}

/** Messages to the thread. */
export type RenewalOrder =
  /** The monotonic clock of the main thread when the message was sent. */
  | { readonly type: 'clock'; readonly monotonicMs: number }
  | { readonly type: 'credential'; readonly credential: Credential }
  | { readonly type: 'stop' }

/** Messages from the thread. */
export type RenewalReport =
  | { readonly type: 'ready' }
  /** The deadline was moved. The main thread answers with its clock, which improves the estimate of the offset. */
  | { readonly type: 'renewed' }
  | { readonly type: 'event'; readonly event: CampaignEvent }
  | { readonly type: 'end'; readonly end: CampaignEnd }
  /** Requests a credential; `refused`: the server has rejected the last one. */
  | { readonly type: 'want-credential'; readonly refused: boolean }
  | { readonly type: 'log'; readonly level: 'debug' | 'warn'; readonly message: string; readonly error: string }
