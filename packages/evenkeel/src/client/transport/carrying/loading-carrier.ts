/**
 * A carrier that is loaded when there is something to carry, and grows with what it has to carry.
 *
 *   first request ──▶ direct (at hand, for a program with little to say) ──many requests──▶ library
 *
 * Loading the library and compiling its parser takes a tenth of a second of two processors: a command is over by then, and
 * a cache that has just begun to read needs them itself. Invariant: requests under way are finished where they began.
 */
import type { CarrierResponse, CarrierRequest, Carrier } from './carrier.ts'
import type { NodeHttpOptions } from './direct-carrier.ts'
import type { UndiciOptions } from './library-carrier.ts'

interface LazyCarrierOptions {
  /** What carries the first requests. @default the library */
  readonly direct?: NodeHttpOptions | undefined
  readonly library: UndiciOptions
  /** How many requests the library is loaded for. @default 1000 */
  readonly requestsMany?: number
}

export class LazyCarrier implements Carrier {
  readonly #options: LazyCarrierOptions
  readonly #all = new Set<Carrier>()
  #current: Promise<Carrier> | undefined
  #carried = 0

  constructor(options: LazyCarrierOptions) {
    this.#options = options
  }

  async carry(request: CarrierRequest): Promise<CarrierResponse> {
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
    return new (await import('./library-carrier.ts')).UndiciCarrier(this.#options.library)
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

async function loadDirect(options: NodeHttpOptions): Promise<Carrier> {
  return new (await import('./direct-carrier.ts')).NodeHttpCarrier(options)
}
