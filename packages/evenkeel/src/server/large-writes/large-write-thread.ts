/**
 * The thread of large writes, as the server sees it: starts the worker, serves it the store, the authorizer and the log of
 * this thread, and sends it requests.
 *
 * Invariant: every write settles; those that wait when the thread ends are rejected with {@link ThreadEnded}.
 */
import type { Worker } from 'node:worker_threads'
import { PortCalls, startLimitedThread, Transfer, type CallPort, type Fields, type Logger } from '#base'
import { storeFunctions, type Store } from '#store'
import type { WireHeaders, WireResponse } from '#wire'
import type { WebhookMetrics } from '../admission/webhook-metrics.ts'
import type { AuthorizationAttributes, AuthorizerChain } from '../authz/authorizer.ts'
import type { User } from '../request-context.ts'
import type { WebhookOptions, WebhookServiceReference } from '../webhooks/client.ts'
import { ThreadEnded } from './large-writes.ts'
import type { ReplicaOptions } from './replica.ts'

/** A request for the thread. */
export interface LargeWrite {
  readonly id: number
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body: Uint8Array
  readonly user: User
  readonly impersonator?: User
  /** What is left of the time that the client gave the request. */
  readonly leftMs?: number
  /** The thread has to know everything up to this revision first. */
  readonly revision: number
}

export interface LargeWriteAnswer {
  readonly response: WireResponse
  /** For the audit event. */
  readonly annotations: readonly (readonly [key: string, value: string])[]
}

/** A worker, as far as it is used here. */
export interface WriteWorker extends CallPort {
  once(event: string, listener: (error: Error) => void): unknown
  ref(): void
  unref(): void
  terminate(): Promise<unknown>
}

export type StartWorker = (data: WorkerStart) => WriteWorker

/** The data that a worker starts with. */
export interface WorkerStart {
  readonly replica: ReplicaOptions
  /** Whether this thread resolves Services of webhooks. */
  readonly resolvesServices: boolean
}

interface ThreadServices {
  readonly store: Store
  readonly authorizer: AuthorizerChain
  readonly webhooks: WebhookOptions
  readonly webhookMetrics: Pick<WebhookMetrics, 'count'>
  readonly log: Logger
}

interface ThreadOptions extends ThreadHooks {
  readonly replica: ReplicaOptions
  readonly startWorker?: StartWorker
}

interface ThreadHooks {
  readonly onReady: () => void
  readonly onEnd: (end: { readonly wasReady: boolean; readonly wasSlow: boolean }) => void
}

export class LargeWriteThread {
  readonly #worker: WriteWorker
  readonly #calls: PortCalls
  readonly #hooks: ThreadHooks
  /** Resolves when its memory is free. */
  readonly gone: Promise<void>
  #isReady = false
  #isEnded = false
  #writing = 0

  /** Undefined when threads cannot be used. */
  static start(
    services: ThreadServices,
    { replica, startWorker = startFile, ...hooks }: ThreadOptions,
  ): LargeWriteThread | undefined {
    try {
      const worker = startWorker({ replica, resolvesServices: services.webhooks.resolveService !== undefined })
      return new LargeWriteThread(worker, services, hooks)
    } catch (error) {
      services.log.warn('cannot start the thread of large writes: handling them without it', { error })
      return undefined
    }
  }

  private constructor(
    worker: WriteWorker,
    { store, authorizer, webhooks, webhookMetrics, log }: ThreadServices,
    hooks: ThreadHooks,
  ) {
    this.#worker = worker
    this.#hooks = hooks
    const calls: PortCalls = (this.#calls = new PortCalls(worker, {
      functions: {
        ...storeFunctions(store, () => calls),
        ready: () => {
          this.#isReady = true
          hooks.onReady()
        },
        authorize: (question: AuthorizationAttributes) => authorizer.decide(question),
        resolveService: (service: Required<WebhookServiceReference>) => webhooks.resolveService?.(service),
        countWebhook: (...call: Parameters<WebhookMetrics['count']>) => {
          webhookMetrics.count(...call)
        },
        log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Fields) => {
          log[level](message, fields)
        },
      },
    }))
    worker.once('error', (error: Error & { readonly code?: string }) => {
      const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      log.warn('thread of large writes exited', { error })
      const isTooLarge = isOutOfMemory && this.#writing === 1
      this.#finish(new ThreadEnded(isOutOfMemory ? 'out of memory' : error.message, { isTooLarge }))
    })
    this.gone = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#finish(new ThreadEnded('it exited'))
        resolve()
      })
    })
    worker.unref()
  }

  /** It knows everything that is in the store. */
  get isReady(): boolean {
    return this.#isReady && !this.#isEnded
  }

  /** @param request its body moves to the thread. @throws {ThreadEnded} */
  async write(request: LargeWrite): Promise<LargeWriteAnswer> {
    if (this.#writing++ === 0) this.#worker.ref()
    try {
      return await this.#calls.call<LargeWriteAnswer>('write', new Transfer(request, [request.body]))
    } finally {
      if (--this.#writing === 0) this.#worker.unref()
    }
  }

  /** The client no longer waits. */
  cancel(id: number): void {
    this.#calls.notify('cancel', id)
  }

  /** @param options.isSlow it did not start in time, which may be due to the machine. */
  end(reason: string, { isSlow = false }: { readonly isSlow?: boolean } = {}): void {
    this.#finish(new ThreadEnded(reason), { isSlow })
    void this.#worker.terminate()
  }

  #finish(reason: ThreadEnded, { isSlow = false }: { readonly isSlow?: boolean } = {}): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#hooks.onEnd({ wasReady: this.#isReady, wasSlow: isSlow })
    this.#calls.close(reason)
  }
}

/** A fifth of the memory of this thread, but enough for a document at the limits. */
function threadMegabytes(): number {
  const { heap_size_limit: heapBytes } = process.getBuiltinModule('node:v8').getHeapStatistics()
  return Math.max(128, Math.floor(heapBytes / 5 / 1024 / 1024))
}

const youngMegabytes = 12

/** The worker file: TypeScript or JavaScript, like this file. */
function startFile(data: WorkerStart): Worker {
  const file = import.meta.url.endsWith('.ts') ? './large-write-worker.ts' : './large-write-worker.js'
  return startLimitedThread(new URL(file, import.meta.url), {
    name: 'evenkeel-large-writes',
    workerData: data,
    megabytes: threadMegabytes(),
    youngMegabytes,
  })
}
