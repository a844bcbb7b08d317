/**
 * Where `evenkeel up` shows what it does: the live view in a terminal, lines of a log elsewhere.
 */
import type { Kind } from 'evenkeel/api'
import type { Client } from 'evenkeel/client'
import type { Manager } from 'evenkeel/manager'
import type { SystemClock } from 'evenkeel/unstable/base'
import type { Invocation } from '../frame/command.ts'
import { LiveView } from './live-view.ts'

/** Kinds that the library keeps its own notes in. */
const ownGroup = 'evenkeel.dev'

interface ScreenContent {
  readonly manager: Manager
  /** Not that of the manager: what is looked at for people is not what its controllers do. */
  readonly client: Client
  readonly kinds: readonly Kind[]
  readonly heading: string
}

export class Screen {
  readonly #call: Invocation
  readonly #clock: SystemClock
  readonly #stop = new AbortController()
  readonly isLive: boolean
  #view: LiveView | undefined
  #following: Promise<void> = Promise.resolve()

  constructor(call: Invocation, clock: SystemClock) {
    this.#call = call
    this.#clock = clock
    this.isLive = call.io.stdout.isTTY === true && !call.values.flag('plain') && !call.json
  }

  async begin({ manager, client, kinds, heading }: ScreenContent): Promise<void> {
    const { stdout } = this.#call.io
    if (!this.isLive) {
      stdout.write(`${heading}\n\n`)
      return
    }
    const { ObjectCache } = await import('evenkeel/unstable/cache')
    const cache = new ObjectCache({ client, clock: this.#clock })
    const followed = kinds.filter(({ group }) => group !== ownGroup)
    for (const kind of followed) cache.getInformer(kind)
    this.#following = cache.run(this.#stop.signal)
    this.#view = new LiveView({ stdout, cache, ledger: manager.ledger, kinds: followed, heading, clock: this.#clock })
    this.#view.start()
  }

  log(text: string): void {
    if (this.#view) this.#view.log(text)
    else this.#call.io.stderr.write(text)
  }

  async stop(): Promise<void> {
    this.#view?.stop()
    this.#view = undefined
    this.#stop.abort(new Error('stopped'))
    await this.#following
  }
}
