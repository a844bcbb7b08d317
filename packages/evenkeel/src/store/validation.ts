/**
 * Argument checks that every engine makes before it acts, so that all engines refuse the same calls.
 */
import { storeLimits } from './store.ts'
import type { Check, Write } from './store.ts'

/** Keys are printable ASCII: the order of characters is then the order of bytes, in every engine. */
const keyPattern = /^[!-~]+$/

/** @throws RangeError for a commit that exceeds the limits or names a key twice. */
export function checkWrites(writes: readonly Write[], checks: readonly Check[]): void {
  if (writes.length === 0) throw new RangeError('a commit needs at least one write')
  if (writes.length + checks.length > storeLimits.batchMax) {
    throw new RangeError(
      `a commit takes at most ${storeLimits.batchMax} writes and checks, got ${writes.length + checks.length}`,
    )
  }
  let bytes = 0
  for (const write of writes) {
    checkWrite(write)
    bytes += write.value?.length ?? 0
  }
  if (bytes > storeLimits.batchBytesMax)
    throw new RangeError(
      `the values of a commit have at most ${storeLimits.batchBytesMax} bytes together, got ${bytes}`,
    )
  for (const { key, expect } of checks) checkExpected(key, expect)
  if (writes.length + checks.length > 1) checkDistinct([...writes, ...checks])
}

/** @throws RangeError for an invalid key. */
export function checkKey(key: string): void {
  if (key.length <= storeLimits.keyLengthMax && keyPattern.test(key)) return
  throw new RangeError(
    `a key has 1 to ${storeLimits.keyLengthMax} characters from ! to ~, got ${JSON.stringify(key.slice(0, 80))}`,
  )
}

/** @throws RangeError for an invalid prefix; the empty prefix matches every key. */
export function checkPrefix(prefix: string): void {
  if (prefix !== '') checkKey(prefix)
}

/** @throws RangeError for an invalid revision. */
export function checkRevision(revision: number): void {
  if (!(Number.isSafeInteger(revision) && revision >= 0))
    throw new RangeError(`a revision is a whole number of 0 or more, got ${revision}`)
}

/** @throws RangeError for a limit below 1. */
export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(limit >= 1)) throw new RangeError(`a limit must be 1 or more, got ${limit}`)
}

/** @throws RangeError for a time to live that is not a positive number. */
export function checkTtl(ttlMs: number): void {
  if (!(ttlMs >= 1 && ttlMs < 2 ** 52)) throw new RangeError(`a time to live must be 1 ms or more, got ${ttlMs}`)
}

/** @throws RangeError for a write with an invalid key, value, revision or lease. */
function checkWrite({ key, value, expect, stampAt, lease }: Write): void {
  checkExpected(key, expect)
  if (!value) {
    if (expect === 0) throw new RangeError(`a delete names the revision it deletes; ${key} was given 0`)
    if (lease !== undefined) throw new RangeError(`a delete takes no lease; ${key} was given ${lease}`)
    return
  }
  if (value.length > storeLimits.valueBytesMax)
    throw new RangeError(`the value of ${key} has ${value.length} bytes; the limit is ${storeLimits.valueBytesMax}`)
  if (stampAt !== undefined && !(Number.isInteger(stampAt) && stampAt >= 0 && stampAt <= value.length)) {
    throw new RangeError(`stampAt must lie within the ${value.length} bytes of ${key}, got ${stampAt}`)
  }
}

function checkExpected(key: string, expect: number): void {
  checkKey(key)
  checkRevision(expect)
}

function checkDistinct(keyed: readonly { readonly key: string }[]): void {
  const seen = new Set<string>()
  for (const { key } of keyed) {
    if (seen.has(key)) throw new RangeError(`a commit names each key once, got ${key} twice`)
    seen.add(key)
  }
}
