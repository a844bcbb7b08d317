/**
 * A carrier that is loaded when there is something to carry, and grows with what it has to carry.
 *
 *   first request ──▶ direct (at hand, for a program with little to say) ──many requests──▶ library
 *
 * Loading the library and compiling its parser takes a tenth of a second of two processors: a command is over by then, and
 * a cache that has just begun to read needs them itself. Invariant: requests under way are finished where they began.
 */
import type { CarriedAnswer, CarriedRequest, Carrier } from './carrier.ts'
import type { DirectOptions } from './direct-carrier.ts'
import type { LibraryOptions } from './library-carrier.ts'

interface LoadingOptions {
  /** What carries the first requests. @default the library */
  readonly direct?: DirectOptions | undefined
  readonly library: LibraryOptions
  /** How many requests the library is loaded for. @default 1000 */
  readonly requestsMany?: number
}

export class LoadingCarrier implements Carrier {
  readonly #options: LoadingOptions
  readonly #all = new Set<Carrier>()
  #current: Promise<Carrier> | undefined
  #carried = 0

  constructor(options: LoadingOptions) {
    this.#options = options
  }

  async carry(request: CarriedRequest): Promise<CarriedAnswer> {
    const { direct, requestsMany = 1000 } = this.#options
    this.#current ??= this.#open(direct ? () => loadDirect(direct) : () => this.#loadLibrary())
    if (direct && ++this.#carried === requestsMany) this.#grow(this.#current)
    return (await this.#current).carry(request)
  }

  close(): Promise<unknown> {
    return this.#endAll((carrier) => carrier.close())
  }

  destroy(): Promise<unknown> {
    return this.#endAll((carrier) => carrier.destroy())
  }

  /** Those who ask meanwhile need not wait. */
  #grow(before: Promise<Carrier>): void {
    this.#open(() => this.#loadLibrary())
      .then(async (library) => {
        this.#current = Promise.resolve(library)
        const carrier = await before
        await carrier.close()
        this.#all.delete(carrier)
      })
      .catch(() => undefined)
  }

  async #loadLibrary(): Promise<Carrier> {
    return new (await import('./library-carrier.ts')).LibraryCarrier(this.#options.library)
  }

  async #open(load: () => Promise<Carrier>): Promise<Carrier> {
    const carrier = await load()
    this.#all.add(carrier)
    return carrier
  }

  async #endAll(end: (carrier: Carrier) => Promise<unknown>): Promise<void> {
    await this.#current?.catch(() => undefined)
    await Promise.all(Array.from(this.#all, end))
  }
}

async function loadDirect(options: DirectOptions): Promise<Carrier> {
  return new (await import('./direct-carrier.ts')).DirectCarrier(options)
}
