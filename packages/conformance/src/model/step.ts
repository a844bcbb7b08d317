/**
 * A history as data: operations on a store, in order.
 *
 * Steps refer to keys and leases by small numbers (the third key, the second lease), which the player resolves
 * with the model. So every list of steps is a valid history, and a failing one can be
 * shrunk.
 */

/** What a writer expects of a key. */
export type Claim = 'right' | 'stale' | 'absent' | 'ahead'

export interface WriteStep {
  readonly key: number
  /** Absent for a delete. */
  readonly value?: string
  readonly stamped?: boolean
  /** Which of all granted leases; absent for none. */
  readonly lease?: number
  readonly claim: Claim
}

/** `at` picks a revision: see {@link pickRevision}. */
export type Step =
  | {
      readonly do: 'commit'
      readonly writes: readonly WriteStep[]
      readonly checks: readonly { readonly key: number; readonly claim: Claim }[]
    }
  | { readonly do: 'get'; readonly key: number; readonly at: number }
  | {
      readonly do: 'range'
      readonly prefix: number
      readonly at: number
      readonly limit?: number
      readonly after?: number
    }
  | { readonly do: 'hash'; readonly prefix: number; readonly at: number }
  | { readonly do: 'compact'; readonly at: number }
  | { readonly do: 'watch'; readonly prefix: number; readonly at: number; readonly isLazy: boolean }
  | { readonly do: 'drain'; readonly watch: number }
  | { readonly do: 'grant'; readonly ttlMs: number }
  | { readonly do: 'renew' | 'revoke'; readonly lease: number }
  | { readonly do: 'advance'; readonly byMs: number }
  | { readonly do: 'reopen' | 'crash' }

export const historyKeys = ['/a', '/a/b', '/a/c', '/a0', '/b'] as const
export const historyPrefixes = ['', '/', '/a', '/a/', '/a0', '/none'] as const

/** An element by any number. */
export function pick<T>(list: readonly T[], index: number): T {
  if (list.length === 0) throw new RangeError('cannot pick from an empty list')
  return list[index % list.length] as T
}
