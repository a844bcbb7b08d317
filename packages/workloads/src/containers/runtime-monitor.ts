/**
 * Whether the container runtime answers, and what happens in it. It is asked only while an object needs it.
 *
 *   first object ──▶ asked ──▶ up ──▶ one stream of events, until the last object is gone
 *                      │        └── a call or the stream fails ──▶ down
 *                      └──▶ down ──▶ asked again after 1 s, 2 s, 4 s … 30 s ──▶ up: every object is looked at again
 *
 * Invariants: without an object there is no call, no timer and no stream; while it is down it is asked by one timer, however many
 * objects wait; an object that was looked at before the stream was open is looked at once more.
 */
import { createLogger, type Clock, type Logger } from 'evenkeel/unstable/base'
import type { RunOwner } from '../runs.ts'
import { ownerOf } from './container-labels.ts'
import { isRuntimeError, type ContainerRuntime, type RuntimeEvent, type RuntimeVersion } from './container-runtime.ts'

interface RuntimeMonitorOptions {
  /** Finds a runtime that answers. @throws a RuntimeError `Unavailable` */
  readonly findRuntime: () => Promise<ContainerRuntime>
  readonly clock: Clock
  /** @default none */
  readonly log?: Logger
}

/** Something about the containers of an object has changed. */
type OnRuntimeChange = (owner: RunOwner, note: string) => void

/** A runtime that answered a moment ago. */
export interface LiveRuntime {
  readonly runtime: ContainerRuntime
  readonly version: RuntimeVersion
}

const [firstWaitMs, waitMaxMs] = [1000, 30_000]
/** Events that happened while the stream was opened are in it. */
const overlapMs = 2000
/** How often objects are looked at where a runtime has no events. */
const lookMs = 2000
/** Actions that say nothing about the state of a container. */
const ignoredActions =
  /^(?:exec_|exec$|top|attach|detach|resize|copy|export|health_status|create|prune|sync|cleanup|init)/

const silent = createLogger({ clock: { now: () => 0 } as Clock, sink: () => undefined })

export class RuntimeMonitor {
  readonly #options: RuntimeMonitorOptions
  readonly #log: Logger
  readonly #owners = new Map<string, { readonly owner: RunOwner; readonly onChange: OnRuntimeChange }>()
  /** By object: a container without the labels that name its object. */
  readonly #followed = new Map<string, string>()
  #live: LiveRuntime | undefined
  #problem: string | undefined
  #asking: Promise<void> | undefined
  #failures = 0
  #cancelTimer: (() => void) | undefined
  #events: AbortController | undefined

  constructor(options: RuntimeMonitorOptions) {
    this.#options = options
    this.#log = options.log ?? silent
  }

  /** The runtime for an object, which is told about changes from now on; or what is wrong with it. */
  async acquire(owner: RunOwner, onChange: OnRuntimeChange): Promise<LiveRuntime | { readonly problem: string }> {
    this.#owners.set(owner.uid, { owner, onChange })
    // While it is down, the timer asks.
    if (!this.#live && this.#problem === undefined) await (this.#asking ??= this.#ask())
    return this.#live ?? { problem: this.#problem ?? 'the container runtime does not answer' }
  }

  /** Events of this container are about the object as well, whatever the labels of the container say. */
  follow(uid: string, containerId: string): void {
    this.#followed.set(uid, containerId)
  }

  /** The object needs it no longer. */
  release(uid: string): void {
    this.#owners.delete(uid)
    this.#followed.delete(uid)
    if (this.#owners.size === 0) this.#rest()
  }

  /** Whether an error means that the runtime has gone. Then everything waits until it is back. */
  isGone(error: unknown): error is Error {
    if (!isRuntimeError(error, 'Unavailable')) return false
    this.#fail(error.message)
    return true
  }

  /** The runtime, while it answers. */
  get live(): LiveRuntime | undefined {
    return this.#live
  }

  /** Every object is looked at again: something that they share has changed. */
  tellAll(note: string): void {
    for (const { owner, onChange } of this.#owners.values()) onChange(owner, note)
  }

  close(): void {
    this.#owners.clear()
    this.#followed.clear()
    this.#rest()
  }

  #rest(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#events?.abort(new Error('no object needs the container runtime'))
    this.#events = undefined
    this.#live = undefined
    this.#problem = undefined
    this.#failures = 0
  }

  async #ask(): Promise<void> {
    try {
      const runtime = await this.#options.findRuntime()
      const version = await runtime.findVersion()
      if (this.#owners.size === 0) return
      this.#live = { runtime, version }
      this.#problem = undefined
      this.#failures = 0
      this.#events = new AbortController()
      void this.#readEvents(runtime, this.#events)
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
    } finally {
      this.#asking = undefined
    }
  }

  #fail(problem: string): void {
    if (this.#problem === undefined) this.#log.info('container runtime does not answer', { problem })
    this.#live = undefined
    this.#problem = problem
    this.#events?.abort(new Error('the container runtime does not answer'))
    this.#events = undefined
    if (this.#cancelTimer || this.#owners.size === 0) return
    const waitMs = Math.min(waitMaxMs, firstWaitMs * 2 ** this.#failures++)
    this.#cancelTimer = this.#options.clock.after(waitMs, () => {
      this.#cancelTimer = undefined
      this.#asking ??= this.#ask()
      void this.#asking.then(() => {
        if (this.#live) this.tellAll('the container runtime answers again')
      })
    })
  }

  /** Reads events until the runtime or the last object is gone. */
  async #readEvents(runtime: ContainerRuntime, stopping: AbortController): Promise<void> {
    const { clock } = this.#options
    const { signal } = stopping
    while (!signal.aborted) {
      try {
        const onOpen = (): void => {
          this.tellAll('events of the container runtime are read')
        }
        const events = runtime.streams.events({ signal, sinceMs: clock.now() - overlapMs, onOpen })
        for await (const event of events) this.#onEvent(event)
      } catch (error) {
        if (!signal.aborted) this.#log.debug('stream of container events ended', { error })
      }
      if (isAborted(signal)) return
      await this.#lookWithoutEvents(runtime, signal)
    }
  }

  /** The stream ended: has the runtime gone, or does it have no events? */
  async #lookWithoutEvents(runtime: ContainerRuntime, signal: AbortSignal): Promise<void> {
    try {
      await runtime.findVersion()
    } catch (error) {
      if (signal.aborted) return
      this.#fail(error instanceof Error ? error.message : String(error))
      this.tellAll('the container runtime has gone')
      return
    }
    await new Promise<void>((resolve) => {
      this.#cancelTimer = this.#options.clock.after(lookMs, () => {
        this.#cancelTimer = undefined
        resolve()
      })
      signal.addEventListener('abort', () => {
        resolve()
      })
    })
  }

  #onEvent({ action, labels, containerId }: RuntimeEvent): void {
    if (ignoredActions.test(action)) return
    const uids = new Set([ownerOf(labels)?.uid ?? ''])
    for (const [uid, followed] of this.#followed) if (followed === containerId) uids.add(uid)
    for (const uid of uids) {
      const known = this.#owners.get(uid)
      known?.onChange(known.owner, `its container: ${action}`)
    }
  }
}

/** Read again after a pause: the compiler thinks it cannot have changed. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}
