/**
 * Versions of objects and lists, compared as decimal texts: first by length, then by letters.
 *
 * Invariants: a version is never turned into a number to be compared (a foreign server may count beyond 2^53); a live
 * version has no leading zero and is never "0". The empty text and "0" are questions ("newest", "whatever you have"),
 * not versions.
 */

/** What a caller asks for: the newest state, any state, or a state at or after a version. */
type RequestedVersion =
  | { readonly kind: 'newest' }
  | { readonly kind: 'any' }
  | { readonly kind: 'version'; readonly version: string }

/** Kubernetes reads versions as unsigned numbers of 64 bits. */
const largestVersion = '18446744073709551615'

const wellFormed = /^[1-9][0-9]*$/

/** Whether a text is the version of something that exists: decimal, above 0, no leading zero. */
export function isResourceVersion(text: string): boolean {
  return wellFormed.test(text)
}

/**
 * Below 0 when `a` is older than `b`, 0 when they are the same, above 0 when it is newer.
 *
 * @throws {RangeError} when one of them is not a live version; "0" and "" have no place in the order.
 */
export function compareResourceVersions(a: string, b: string): number {
  for (const text of [a, b])
    if (!isResourceVersion(text)) throw new RangeError(`resource version is not well formed: ${text}`)
  if (a.length !== b.length) return a.length < b.length ? -1 : 1
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Reads the `resourceVersion` of a request; `undefined` when it is malformed. */
export function parseRequestedVersion(text: string | undefined): RequestedVersion | undefined {
  if (text === undefined || text === '') return { kind: 'newest' }
  if (text === '0') return { kind: 'any' }
  return isResourceVersion(text) && compareResourceVersions(text, largestVersion) <= 0
    ? { kind: 'version', version: text }
    : undefined
}

/**
 * The text of a revision of our own store.
 *
 * @throws {RangeError} when it is not a whole number above 0 and below 2^53: it would not survive the round trip.
 */
export function formatResourceVersion(revision: number): string {
  if (!Number.isSafeInteger(revision) || revision <= 0) {
    throw new RangeError(`a revision is a whole number above 0 and below 2^53, got ${revision}`)
  }
  return String(revision)
}
