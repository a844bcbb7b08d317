/**
 * Random numbers: one source, passed in as a parameter, so that a run can be repeated from its seed.
 */
import { randomFillSync } from 'node:crypto'

export interface Random {
  /** 32 uniformly distributed bits. */
  uint32(): number
}

/** The cryptographic source of the operating system, suitable for names, ids and tokens. */
export class SystemRandom implements Random {
  readonly #pool = new Uint32Array(256)
  #next = this.#pool.length

  uint32(): number {
    if (this.#next === this.#pool.length) {
      randomFillSync(this.#pool)
      this.#next = 0
    }
    return this.#pool[this.#next++] ?? 0
  }
}

/** A deterministic source (sfc32): the same numbers for the same seed on every machine. Never for secrets. */
export class SeededRandom implements Random {
  readonly #state: Int32Array

  constructor(seed: number | string) {
    const [a, b] = hashText(String(seed))
    this.#state = Int32Array.of(a, b, ~a, 1)
    for (let round = 0; round < 16; round++) this.uint32()
  }

  uint32(): number {
    const state = this.#state
    const [a = 0, b = 0, c = 0, counter = 0] = state
    const sum = (a + b + counter) | 0
    state[0] = b ^ (b >>> 9)
    state[1] = (c + (c << 3)) | 0
    state[2] = (((c << 21) | (c >>> 11)) + sum) | 0
    state[3] = (counter + 1) | 0
    return sum >>> 0
  }
}

/** A uniformly distributed integer from 0 up to, but not including, `below`. */
export function randomInt(random: Random, below: number): number {
  if (!(Number.isInteger(below) && below > 0 && below <= 2 ** 32))
    throw new RangeError(`below must be a whole number from 1 to 2^32, got ${below}`)
  const fair = 2 ** 32 - (2 ** 32 % below)
  for (;;) {
    const drawn = random.uint32()
    if (drawn < fair) return drawn % below
  }
}

/** A number from 0 up to, but not including, 1. */
export function randomFraction(random: Random): number {
  return (random.uint32() * 2 ** 21 + (random.uint32() >>> 11)) / 2 ** 53
}

/** A random (version 4) UUID. */
export function randomUuid(random: Random): string {
  const [a, b, c, d] = [
    random.uint32(),
    (random.uint32() & 0xffff_0fff) | 0x4000,
    (random.uint32() & 0x3fff_ffff) | 0x8000_0000,
    random.uint32(),
  ]
  return `${hex16(a >>> 16)}${hex16(a)}-${hex16(b >>> 16)}-${hex16(b)}-${hex16(c >>> 16)}-${hex16(c)}${hex16(d >>> 16)}${hex16(d)}`
}

function hex16(bits: number): string {
  return (hexBytes[(bits >>> 8) & 0xff] ?? '') + (hexBytes[bits & 0xff] ?? '')
}

const hexBytes: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Two FNV-1a hashes with different offsets: 64 bits of seed from any text. */
function hashText(text: string): [number, number] {
  let [a, b] = [0x811c9dc5, 0x01000193]
  for (let index = 0; index < text.length; index++) {
    a = Math.imul(a ^ text.charCodeAt(index), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(index), 0x85ebca6b) ^ (b >>> 13)
  }
  return [a | 0, b | 0]
}
