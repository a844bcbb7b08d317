/**
 * Puts a gzip file together from the head of a list, its runs and its end, and knows its checksum all the time.
 *
 * Nothing is copied until somebody wants it in one: runs go out as they are remembered.
 */
import type { ListText } from '../list-bytes.ts'
import { listEnd } from '../list-bytes.ts'
import { joinChecksums, shiftOf } from './checksum.ts'
import { commaBlock, commaText, gzipHead, gzipTail, plainBlocks } from './gzip.ts'
import type { CompressedRun } from './packed-runs.ts'

type Checksum = (bytes: Uint8Array) => number

const commaShift = shiftOf(commaText.byteLength)
const endBlock = plainBlocks(listEnd, { last: true })
const endShift = shiftOf(listEnd.byteLength)

export class GzipWriter {
  readonly #checksumOf: Checksum
  readonly #commaChecksum: number
  readonly #size: number
  #checksum: number
  #parts: Uint8Array[]
  #waiting: number
  #isFirst = true

  constructor({ head, size }: ListText, checksumOf: Checksum) {
    this.#checksumOf = checksumOf
    this.#commaChecksum = checksumOf(commaText)
    this.#size = size
    this.#checksum = checksumOf(head)
    const block = plainBlocks(head)
    this.#parts = [gzipHead, block]
    this.#waiting = gzipHead.byteLength + block.byteLength
  }

  /** Bytes that were made and not taken. */
  get waiting(): number {
    return this.#waiting
  }

  add({ bytes, checksum, shift }: CompressedRun): void {
    if (!this.#isFirst) this.#checksum = joinChecksums(this.#checksum, this.#commaChecksum, { shift: commaShift })
    this.#checksum = joinChecksums(this.#checksum, checksum, { shift })
    this.#push(this.#isFirst ? bytes.subarray(commaBlock.byteLength) : bytes)
    this.#isFirst = false
  }

  end(): void {
    this.#checksum = joinChecksums(this.#checksum, this.#checksumOf(listEnd), { shift: endShift })
    this.#push(endBlock)
    this.#push(gzipTail({ checksum: this.#checksum, bytes: this.#size }))
  }

  /** What was made since the last time. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#parts = []
    this.#waiting = 0
    return parts
  }

  #push(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#waiting += bytes.byteLength
  }
}
