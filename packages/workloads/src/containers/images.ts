/**
 * Images that containers wait for: pulled or built beside the reconciles, one attempt at a time for each object.
 *
 *   ensure ──▶ there already, and the policy does not ask for more ──▶ ready
 *          └─▶ working ──▶ ready, or failed: tried again after 5 s, 10 s … 5 min, and at once when the spec changes
 *
 * Invariants: an object has at most one pull or build under way; `forget` ends it; progress is a sentence from time to time, never
 * a stream of events.
 */
import type { Clock } from 'evenkeel/unstable/base'
import type { RunOwner } from '../runs.ts'
import { RuntimeError, type BuildPlan, type ContainerRuntime } from './container-runtime.ts'

interface ImageRequest {
  readonly owner: RunOwner
  readonly image: string
  readonly build?: BuildPlan | undefined
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never'
  /** The last run ended by itself: the image that it had is good enough. */
  readonly isRestart: boolean
  /** The run that it is for, and what it is made from: another one is another attempt. */
  readonly key: string
}

type ImageState =
  | { readonly state: 'ready'; readonly id: string }
  | { readonly state: 'working'; readonly reason: 'Pulling' | 'Building'; readonly message: string }
  | { readonly state: 'failed'; readonly reason: string; readonly message: string; readonly afterMs: number }

interface ImagesOptions {
  readonly clock: Clock
  readonly onChange: (owner: RunOwner, note: string) => void
  /** Everything that a pull or a build says. @default nothing */
  readonly onNote?: (owner: RunOwner, note: string) => void
}

interface Work {
  readonly key: string
  readonly stopping: AbortController
  message: string
  isDone: boolean
  failure?: RuntimeError
  failures: number
  /** By the monotonic clock. */
  retryMs: number
}

const [firstWaitMs, waitMaxMs] = [5000, 300_000]
/** What the pull or the build says is shown this often. */
const progressMs = 10_000

export class Images {
  readonly #options: ImagesOptions
  readonly #work = new Map<string, Work>()

  constructor(options: ImagesOptions) {
    this.#options = options
  }

  /** The state of the image of a run. Begins what is missing. */
  async ensure(runtime: ContainerRuntime, request: ImageRequest): Promise<ImageState> {
    const { owner, image, build, pullPolicy, key, isRestart } = request
    const known = this.#work.get(owner.uid)
    const work = known?.key === key ? known : undefined
    if (known && !work) this.forget(owner.uid)
    if (work && !work.isDone) return workingOn(request, work)
    if (work?.failure) {
      const afterMs = work.retryMs - this.#options.clock.monotonic()
      if (afterMs > 0) return { state: 'failed', reason: work.failure.code, message: work.failure.message, afterMs }
      return this.#begin(runtime, request, work.failures)
    }
    if (!work && !isRestart && (build || pullPolicy === 'Always')) return this.#begin(runtime, request)
    const found = await runtime.findImage(image)
    if (found) return { state: 'ready', id: found.id }
    if (pullPolicy === 'Never' && !build)
      return {
        state: 'failed',
        reason: 'ImageNotFound',
        message: `${image} is not on this machine, and pullPolicy is Never: pull it, or change spec.pullPolicy`,
        afterMs: firstWaitMs,
      }
    return this.#begin(runtime, request)
  }

  /** Ends what is under way for an object. */
  forget(uid: string): void {
    this.#work.get(uid)?.stopping.abort(new Error('the image is not needed any more'))
    this.#work.delete(uid)
  }

  close(): void {
    for (const uid of [...this.#work.keys()]) this.forget(uid)
  }

  #begin(runtime: ContainerRuntime, request: ImageRequest, failures = 0): ImageState {
    const work: Work = {
      key: request.key,
      stopping: new AbortController(),
      message: request.build ? `builds ${request.image}` : `pulls ${request.image}`,
      isDone: false,
      failures,
      retryMs: 0,
    }
    this.#work.set(request.owner.uid, work)
    this.#options.onNote?.(request.owner, work.message)
    // Its failure is part of its state.
    void this.#perform(runtime, request, work)
    return workingOn(request, work)
  }

  async #perform(runtime: ContainerRuntime, { owner, image, build }: ImageRequest, work: Work): Promise<void> {
    const { clock, onChange, onNote } = this.#options
    const { signal } = work.stopping
    let shownMs = clock.monotonic()
    const onProgress = (note: string): void => {
      if (!signal.aborted) onNote?.(owner, note)
      if (clock.monotonic() - shownMs < progressMs || signal.aborted) return
      shownMs = clock.monotonic()
      work.message = note
      onChange(owner, 'the image makes progress')
    }
    try {
      if (build) await runtime.buildImage(build, { signal, onProgress })
      else await runtime.pullImage(image, { signal, onProgress })
    } catch (error) {
      work.failure =
        error instanceof RuntimeError
          ? error
          : new RuntimeError('PullFailed', error instanceof Error ? error.message : String(error))
      work.retryMs = clock.monotonic() + Math.min(waitMaxMs, firstWaitMs * 2 ** Math.min(work.failures++, 10))
    }
    work.isDone = true
    if (!signal.aborted) onChange(owner, work.failure ? 'its image is not there' : 'its image is there')
  }
}

function workingOn({ build }: ImageRequest, { message }: Work): ImageState {
  return { state: 'working', reason: build ? 'Building' : 'Pulling', message }
}
