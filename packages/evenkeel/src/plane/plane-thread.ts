/**
 * A data plane in a thread of its own, as the main thread sees it.
 *
 * A breakpoint stops one thread. With the server in another one, kubectl and `evenkeel why` answer while a reconcile is
 * paused, and a reconcile that computes for long delays no other client.
 *
 *   main thread: manager, controllers  ── HTTPS on loopback ──▶  thread: openDataPlane
 *                log, actions of the form `call`, streams  ◀── port ──    (plane-worker.ts, thread-streams.ts)
 *
 * Invariant: `stop` resolves when the thread has closed its store, also when it ended by itself.
 */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { PortCalls, type Fields, type Logger } from '#base'
import type { JsonValue } from '#api'
import { IdentityError, type CustomResourceOptions, type Server } from '#server'
import { reviveStoreError } from '#store'
import type { DataPlane, DataPlaneOptions } from './data-plane.ts'
import { programStreams, withoutHandlers, type ThreadCustomResource } from './thread-streams.ts'

/** The options that can be sent to a thread. */
export interface PlaneThreadOptions extends Pick<DataPlaneOptions, 'folder' | 'memory' | 'port'> {
  readonly customResources: readonly ThreadCustomResource[]
}

type OpenOptions = Omit<PlaneThreadOptions, 'customResources'> & Pick<DataPlaneOptions, 'customResources'>

/** An error at the start of the thread, as it is sent. */
export interface StartFailure {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  readonly reason?: string | undefined
  readonly code?: string | undefined
  readonly port?: number | undefined
}

/** An action that the server asks the main thread to answer. */
export interface ThreadActionRequest {
  readonly id: string
  readonly request: Omit<Parameters<ActionAnswer>[0], 'signal'>
}

type ActionAnswer = Parameters<Server['onAction']>[2]

interface ThreadSeams {
  readonly log: Logger
  readonly customResources: readonly CustomResourceOptions[]
}

type Opened = Pick<DataPlane, 'url' | 'folder' | 'kubeconfig' | 'isDurable'>

export class PlaneThread {
  readonly #calls: PortCalls
  readonly #actions = new Map<string, ActionAnswer>()
  readonly #over = new AbortController()
  readonly #ended: Promise<unknown>

  private constructor(worker: Worker, { log, customResources }: ThreadSeams) {
    this.#ended = once(worker, 'exit')
    this.#calls = new PortCalls(worker, {
      functions: {
        log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Fields) => {
          log[level](message, fields)
        },
        answer: (asked: ThreadActionRequest) => this.#answer(asked),
        ...programStreams(customResources, () => this.#calls),
      },
    })
    worker.once('error', (error) => {
      this.#over.abort(error)
      this.#calls.close(error)
    })
    worker.once('exit', () => {
      const error = new Error('the thread of the API server ended')
      this.#over.abort(error)
      this.#calls.close(error)
    })
  }

  /** @throws what `openDataPlane` throws. */
  static async open(
    { customResources = [], ...options }: OpenOptions,
    { log }: { readonly log: Logger },
  ): Promise<[PlaneThread, Opened]> {
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads')
    const file = import.meta.url.endsWith('.ts') ? './plane-worker.ts' : './plane-worker.js'
    const worker = new Thread(new URL(file, import.meta.url), { name: 'evenkeel-server' })
    const thread = new PlaneThread(worker, { log, customResources })
    const sent: PlaneThreadOptions = { ...options, customResources: withoutHandlers(customResources) }
    try {
      const opened = await thread.#calls.call<Opened | { readonly failure: StartFailure }>('open', sent)
      if ('failure' in opened) throw revive(opened.failure)
      return [thread, opened]
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  /** Aborts when the thread has ended, with the reason. */
  get ended(): AbortSignal {
    return this.#over.signal
  }

  /** Answers an action of the form `call` in this thread. */
  async onAction(
    kind: { readonly group: string; readonly kind: string },
    name: string,
    answer: ActionAnswer,
  ): Promise<void> {
    const id = `${kind.group}/${kind.kind}/${name}`
    this.#actions.set(id, answer)
    await this.#calls.call('onAction', { group: kind.group, kind: kind.kind }, name)
  }

  async stop(): Promise<void> {
    await this.#calls.call('stop').catch(() => undefined)
    await this.#ended
  }

  async #answer({ id, request }: ThreadActionRequest): Promise<JsonValue> {
    const answer = this.#actions.get(id)
    if (!answer) throw new Error(`no handler for the action ${id}`)
    return answer({ ...request, signal: this.#over.signal })
  }
}

/** Errors that a user can correct keep what explains them. */
function revive({ code, port, ...failure }: StartFailure): Error {
  const error = failure.name === 'IdentityError' ? new IdentityError(failure.message) : reviveStoreError(failure)
  return Object.assign(error, { ...(code !== undefined && { code }), ...(port !== undefined && { port }) })
}
