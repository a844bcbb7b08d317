/**
 * A history as data: what is done to a store, one step after the other.
 *
 * Steps name things by small numbers (the third key, the second lease), which the player turns
 * into keys and revisions with the model at hand. So any list of steps is a history, and one that
 * fails can be made shorter.
 */

/** What a writer claims to know about a key. */
export type Claim = 'right' | 'stale' | 'absent' | 'ahead'

export interface WriteStep {
  readonly key: number
  /** Absent means delete. */
  readonly value?: string
  readonly stamped?: boolean
  /** Which of the leases that were ever granted; absent for none. */
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
  if (list.length === 0) throw new RangeError('there is nothing to pick from')
  return list[index % list.length] as T
}
