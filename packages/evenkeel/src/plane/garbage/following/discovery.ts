/**
 * Keeps up with the kinds a server has: asks now and then, and soon after a definition has changed.
 *
 * Servers take a moment until discovery shows what was defined, so a change is followed by several questions, each later
 * than the one before; when nothing happens there is one in `periodMs`.
 */
import { onAbort, sleep } from '#base'
import type { Clock, Logger } from '#base'
import type { TypeMeta } from '#api'
import type { Client, DiscoveredResource } from '#client'

/** After a change, or a failure, it is asked again after these times. */
const soonMs: readonly number[] = [50, 1000, 5000]

interface DiscoveryOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly periodMs: number
  /** Hears of all resources whenever they are not what they were, and once more when they stayed so for a while. */
  readonly onResources: (resources: readonly DiscoveredResource[]) => Promise<void>
}

export class Discovery {
  readonly #options: DiscoveryOptions
  #served: ReadonlySet<string> = new Set()
  #isRepeated = true
  #delays: number[] = []
  #waiting = new AbortController()
  /** Whether a question is so near that a hurry makes no difference. */
  #isSoon = false
  /** Whether the last wait was a whole period. */
  #isPeriodic = false
  #isFailing = false

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  /** Whether the server has the kind, as far as is known. */
  has({ apiVersion, kind }: TypeMeta): boolean {
    return this.#served.has(`${apiVersion} ${kind}`)
  }

  /** Kinds may have changed: asks soon. */
  hurry(): void {
    if (this.#isSoon) return
    this.#delays = [...soonMs]
    this.#waiting.abort()
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = onAbort(signal, () => {
      this.#waiting.abort()
    })
    while (!signal.aborted) {
      await this.#ask(signal)
      await this.#wait(signal)
    }
    stop()
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options
    try {
      const resources = await client.resources({ reload: true, signal })
      if (resources.length === 0) throw new Error('the server says that it has no kinds at all')
      this.#isFailing = false
      await this.#tell(resources)
    } catch (error) {
      if (signal.aborted) return
      log.warn('cannot find out which kinds there are; trying again', { error })
      if (!this.#isFailing) this.#delays = soonMs.slice(1)
      this.#isFailing = true
    }
  }

  async #tell(resources: readonly DiscoveredResource[]): Promise<void> {
    const served = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))
    const isSame = served.size === this.#served.size && [...served].every((kind) => this.#served.has(kind))
    if (isSame && (this.#isRepeated || !this.#isPeriodic)) return
    this.#isRepeated = isSame
    this.#served = served
    await this.#options.onResources(resources)
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { clock, periodMs } = this.#options
    for (let isHurried = true; isHurried && !signal.aborted;) {
      const delayMs = this.#delays.shift()
      this.#isSoon = delayMs === soonMs[0]
      this.#isPeriodic = delayMs === undefined
      this.#waiting = new AbortController()
      isHurried = await sleep(clock, delayMs ?? periodMs, { signal: this.#waiting.signal }).then(
        () => false,
        () => true,
      )
      this.#isSoon = false
    }
  }
}
