/**
 * Objects that were converted for a list or a watch, for the next one that asks.
 *
 * An object in a given state always converts to the same, as far as we are concerned: upstream keeps converted objects
 * in its watch cache too. Reads of one object and writes ask anew. The oldest go first when the room is used up.
 */
import type { JsonObject } from '#api'

export class ConvertedCache {
  readonly #objects = new Map<string, { readonly object: JsonObject; readonly bytes: number }>()
  readonly #bytesMax: number
  #bytes = 0

  constructor({ bytesMax = 16 * 1024 * 1024 }: { bytesMax?: number } = {}) {
    this.#bytesMax = bytesMax
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key)?.object
  }

  /** `bytes` is about how large the object is. */
  put(key: string, object: JsonObject, bytes: number): void {
    this.#bytes += bytes - (this.#objects.get(key)?.bytes ?? 0)
    this.#objects.delete(key)
    this.#objects.set(key, { object, bytes })
    for (const [oldest, { bytes: freed }] of this.#objects) {
      if (this.#bytes <= this.#bytesMax) break
      this.#objects.delete(oldest)
      this.#bytes -= freed
    }
  }
}
