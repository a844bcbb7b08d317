/**
 * Lines that are read only at the end, stored outside the garbage-collected heap: two million strings would slow the
 * clients down from minute to minute, and the clients measure.
 */

const chunkBytes = 16_384

export class LineLog {
  readonly #chunks: Buffer[] = []
  #used = chunkBytes

  /** The line must be ASCII and shorter than a chunk. */
  push(line: string): void {
    if (this.#used + line.length + 1 > chunkBytes) {
      this.#chunks.push(Buffer.alloc(chunkBytes))
      this.#used = 0
    }
    this.#used += this.#chunks.at(-1)?.write(`${line}\n`, this.#used, 'latin1') ?? 0
  }

  lines(): string[] {
    return this.#chunks.flatMap((chunk) => chunk.toString('latin1').replace(/\0+$/, '').split('\n').filter(Boolean))
  }
}
