/**
 * `/admin/execution`: the state of the whole application, which a host changes to end it.
 *
 *   Running ──▶ CleaningResources ──all deleted──▶ CleanupComplete
 *      │              │                                 │
 *      └──────────────┴──────────▶ Stopping ◀───────────┘
 *
 * A request for a state that lies behind gets the present one: asking to clean up when that is done answers
 * CleanupComplete. A request for the present state changes nothing and gets 204.
 */
import { isApiError } from 'evenkeel/unstable/api'
import type { HandlerResponse, Route, RouteRequest } from 'evenkeel/server'
import type { Logger } from 'evenkeel/unstable/base'

const states = ['Running', 'CleaningResources', 'CleanupComplete', 'Stopping'] as const
type ExecutionState = (typeof states)[number]
/** Whether the objects are deleted at the end. */
export type ResourceCleanup = 'None' | 'Full'

interface ExecutionOptions {
  readonly log: Logger
  /** Deletes all objects of the application; resolves when they are gone, and never rejects. */
  cleanUp(): Promise<void>
  /** The host wants the end of the program. Called after the answer is made. */
  stop(cleanup: ResourceCleanup): void
}

/** What a request for a state leads to; what is missing is refused. */
const answers: Readonly<Record<ExecutionState, Readonly<Partial<Record<ExecutionState, ExecutionState>>>>> = {
  Running: { CleaningResources: 'CleaningResources', Stopping: 'Stopping' },
  CleaningResources: { Stopping: 'Stopping' },
  CleanupComplete: { CleaningResources: 'CleanupComplete', Stopping: 'Stopping' },
  Stopping: { CleaningResources: 'Stopping' },
}

const patchBytesMax = 512

export class Execution {
  readonly #options: ExecutionOptions
  #state: ExecutionState = 'Running'
  #cleanup: ResourceCleanup = 'Full'

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  /** No objects may be created any more. */
  get isCleaningUp(): boolean {
    return this.#state !== 'Running'
  }

  get route(): Route {
    return {
      path: '/admin/execution',
      handlers: {
        GET: (request) => this.#read(request),
        PATCH: (request) => this.#change(request),
      },
    }
  }

  #read({ headers }: RouteRequest): HandlerResponse {
    const type = headers['content-type'] ?? ''
    return type === '' || type === 'application/json' ? this.#document(200) : refusal(415, 'the document is JSON')
  }

  async #change(request: RouteRequest): Promise<HandlerResponse> {
    if (request.headers['content-type'] !== 'application/merge-patch+json')
      return refusal(415, 'the patch must be application/merge-patch+json')
    let bytes: Uint8Array
    try {
      bytes = await request.body(patchBytesMax)
    } catch (error) {
      if (isApiError(error)) return refusal(413, `the patch may have ${patchBytesMax} bytes`)
      throw error
    }
    const patch = parsePatch(bytes)
    return typeof patch === 'string' ? refusal(patch === notJson ? 400 : 422, patch) : this.#apply(patch)
  }

  #apply({ status, cleanup }: ExecutionPatch): HandlerResponse {
    if (cleanup === 'Full' && this.#cleanup !== 'Full' && this.#state !== 'Running')
      return refusal(422, 'the cleanup is decided when it begins')
    if (status === this.#state) return { status: 204 }
    const next = answers[this.#state][status]
    if (!next) return refusal(422, `the application is in state ${this.#state}, which cannot become ${status}`)
    const isChanged = next !== this.#state
    this.#cleanup = cleanup === 'None' ? 'None' : 'Full'
    if (isChanged) this.#enter(next)
    return this.#document(isChanged ? 202 : 200)
  }

  #enter(next: ExecutionState): void {
    const { log, cleanUp, stop } = this.#options
    log.info('application state changed', { from: this.#state, to: next })
    this.#state = next
    if (next === 'Stopping') stop(this.#cleanup)
    if (next !== 'CleaningResources' || this.#cleanup === 'None') return
    void cleanUp().then(() => {
      if (this.#state === 'CleaningResources') this.#state = 'CleanupComplete'
    })
  }

  #document(status: number): HandlerResponse {
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: this.#state, shutdownResourceCleanup: this.#cleanup }),
    }
  }
}

function refusal(status: number, text: string): HandlerResponse {
  return { status, body: `${text}\n` }
}

interface ExecutionPatch {
  readonly status: ExecutionState
  readonly cleanup: ResourceCleanup | undefined
}

const notJson = 'the patch is no JSON object'

/** The patch, or what is wrong with it. */
function parsePatch(bytes: Uint8Array): ExecutionPatch | string {
  let patch: unknown
  try {
    patch = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return notJson
  }
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return notJson
  const { status, shutdownResourceCleanup: cleanup } = patch as Readonly<Record<string, unknown>>
  if (status !== 'Stopping' && status !== 'CleaningResources') return 'status must be Stopping or CleaningResources'
  if (cleanup !== undefined && cleanup !== '' && cleanup !== 'None' && cleanup !== 'Full')
    return 'shutdownResourceCleanup must be None or Full'
  return { status, cleanup: cleanup === 'None' || cleanup === 'Full' ? cleanup : undefined }
}
