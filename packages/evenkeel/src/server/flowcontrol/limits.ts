/**
 * Limits on concurrent requests and their duration.
 *
 * The defaults for reads, writes and times are upstream's. Lists have a limit of their own: one list can cost as much
 * as thousands of other reads, and more than a few at a time make none of them faster.
 */

export interface LimitOptions {
  /**
   * Reads in flight, without lists.
   *
   * @default 400
   */
  readsMax?: number
  /**
   * Writes in flight.
   *
   * @default 200
   */
  writesMax?: number
  /**
   * Lists and deletions of collections in flight, each until its last byte is sent.
   *
   * @default 32
   */
  listsMax?: number
  /**
   * The share of each limit that one user may have, above 0 and up to 1; at least one request is always allowed.
   *
   * @default 0.5
   */
  userShare?: number
  /**
   * Waiting requests of one user; further ones are refused with 429.
   *
   * @default 200
   */
  waitingPerUserMax?: number
  /**
   * Waiting requests of all users.
   *
   * @default 2_000
   */
  waitingMax?: number
  /**
   * How long a request waits before it is refused with 429.
   *
   * @default 15_000
   */
  waitMs?: number
  /**
   * Open watches of all users together; a stream of a subresource (`log`) counts as one.
   *
   * @default 10_000
   */
  watchesMax?: number
  /**
   * Open watches of one user.
   *
   * @default 5_000
   */
  watchesPerUserMax?: number
  /**
   * Bytes of request bodies that are handled at once, from the first byte to the response. One user may have the share
   * of {@link userShare}.
   *
   * @default 1/32 of the largest size of the heap, 16 MB for 512 MB, but at least 8 MB
   */
  bodyBytesMax?: number
  /**
   * Writes whose body or stored object has more bytes are handled in a thread of their own, so that no other request waits
   * for them. For a body in YAML it is a sixteenth. Only servers with sockets have that thread.
   *
   * @default 32_768
   */
  largeWriteBytes?: number
  /**
   * The deadline of a request; `?timeout=` shortens it. Watches have their own.
   *
   * @default 60_000
   */
  requestMs?: number
  /**
   * The deadline of a write of one object.
   *
   * @default 34_000
   */
  writeMs?: number
}

export type Limits = Readonly<Required<Omit<LimitOptions, 'bodyBytesMax'>> & Pick<LimitOptions, 'bodyBytesMax'>>

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
  largeWriteBytes: 32_768,
  requestMs: 60_000,
  writeMs: 34_000,
}

/**
 * The given limits, with defaults for the rest.
 *
 * @throws {RangeError}
 */
export function withDefaultLimits(given: LimitOptions): Limits {
  const known = [...Object.keys(defaults), 'bodyBytesMax']
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new RangeError(`limits must be of ${known.join(', ')}, got ${unknown}`)
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

/** 1/32 of the largest size of the heap. `node:v8` is loaded for the first body: most servers in tests have none. */
export function defaultBodyBytes(): number {
  const { heap_size_limit: heapBytes } = process.getBuiltinModule('node:v8').getHeapStatistics()
  return Math.max(8_388_608, Math.floor(heapBytes / 32))
}
