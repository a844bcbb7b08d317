/**
 * A connection of a client that has no endpoint yet. While it waits in the parking lot it is read, as far as the budget of the
 * service allows, so that a client that goes away frees its seat.
 *
 * Invariant: the bytes that were read are passed on first, in their order, or the connection is closed.
 */
import type { Connection } from './network.ts'
import type { ByteBudget, Waiter } from './parking-lot.ts'

interface HeldConnectionOptions {
  /** It has an endpoint. `head`: what the client has sent so far. */
  readonly onGiven: (endpoint: Connection, head: readonly Uint8Array[]) => void
  /** The client has closed it. */
  readonly onGone: () => void
}

export class HeldConnection implements Waiter {
  readonly #client: Connection
  readonly #options: HeldConnectionOptions
  readonly #head: Uint8Array[] = []
  #bytes = 0
  #budget: ByteBudget | undefined

  constructor(client: Connection, options: HeldConnectionOptions) {
    this.#client = client
    this.#options = options
    // An error closes it; without a listener it would end the program.
    client.on('error', () => undefined)
    client.once('close', this.#onClose)
  }

  get isGone(): boolean {
    return this.#client.destroyed
  }

  hold(budget: ByteBudget): void {
    if (!budget.begin(this.#stopReading)) return
    this.#budget = budget
    this.#client.on('data', this.#onData)
    this.#client.resume()
  }

  give(endpoint: Connection): void {
    this.#release()
    this.#options.onGiven(endpoint, this.#head)
  }

  drop(): void {
    this.#release()
    this.#client.destroy()
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#head.push(chunk)
    this.#bytes += chunk.byteLength
    this.#budget?.count(chunk.byteLength)
  }

  readonly #onClose = (): void => {
    this.#release()
    this.#options.onGone()
  }

  readonly #stopReading = (): void => {
    this.#client.pause()
  }

  #release(): void {
    this.#client.pause()
    this.#client.off('data', this.#onData)
    this.#client.off('close', this.#onClose)
    this.#budget?.end(this.#stopReading, this.#bytes)
    this.#budget = undefined
  }
}
