/**
 * How much of the server callers may use at once, and for how long.
 *
 * The numbers of reads, writes and times are upstream's. Lists are counted apart: one of them can cost as much as thousands of other
 * reads, and more than a few at a time make none of them faster.
 */

export interface LimitOptions {
  /**
   * Reads under way at once, lists not among them.
   *
   * @default 400
   */
  readsMax?: number
  /**
   * Writes under way at once.
   *
   * @default 200
   */
  writesMax?: number
  /**
   * Lists and deletions of collections under way at once, each until its last byte was taken.
   *
   * @default 32
   */
  listsMax?: number
  /**
   * Which part of each of these one user may have, above 0 and up to 1; at least one request is always let in.
   *
   * @default 0.5
   */
  userShare?: number
  /**
   * Requests of one user that wait for their turn; more are told to come again.
   *
   * @default 200
   */
  waitingPerUserMax?: number
  /**
   * Requests of all users that wait.
   *
   * @default 2_000
   */
  waitingMax?: number
  /**
   * How long a request waits for its turn before it is told to come again.
   *
   * @default 15_000
   */
  waitMs?: number
  /**
   * Watches at once, of everybody.
   *
   * @default 10_000
   */
  watchesMax?: number
  /**
   * Watches at once of one user.
   *
   * @default 5_000
   */
  watchesPerUserMax?: number
  /**
   * How long a request may take; `?timeout=` makes it less. Watches have a time of their own.
   *
   * @default 60_000
   */
  requestMs?: number
  /**
   * How long a write of one object may take.
   *
   * @default 34_000
   */
  writeMs?: number
}

export type Limits = Readonly<Required<LimitOptions>>

const defaults: Limits = {
  readsMax: 400,
  writesMax: 200,
  listsMax: 32,
  userShare: 0.5,
  waitingPerUserMax: 200,
  waitingMax: 2_000,
  waitMs: 15_000,
  watchesMax: 10_000,
  watchesPerUserMax: 5_000,
  requestMs: 60_000,
  writeMs: 34_000,
}

/**
 * The given limits, and the usual ones for the rest.
 *
 * @throws {RangeError}
 */
export function withDefaultLimits(given: LimitOptions): Limits {
  const limits = { ...defaults, ...given }
  const { userShare, ...counts } = limits
  if (!(userShare > 0 && userShare <= 1))
    throw new RangeError(`userShare must be above 0 and at most 1, got ${userShare}`)
  for (const [name, limit] of Object.entries(counts)) {
    if (!(Number.isSafeInteger(limit) && limit > 0))
      throw new RangeError(`${name} must be a whole number above 0, got ${String(limit)}`)
  }
  return limits
}
