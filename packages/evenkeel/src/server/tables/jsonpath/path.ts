/**
 * What a JSON path consists of. A path is a list of steps; each turns the values found so far into others.
 */

export type Path = readonly Step[]

export type Step =
  | { readonly type: 'field'; readonly name: string }
  /** All items of an array or all values of an object. */
  | { readonly type: 'wildcard' }
  /** The values and everything below them. */
  | { readonly type: 'descend' }
  | Slice
  | { readonly type: 'union'; readonly paths: readonly Path[] }
  | Filter
  /** A text, number or truth value, whatever was found before. */
  | { readonly type: 'literal'; readonly value: string | number | boolean }
  /** A word that may stand in a template but means nothing in a column: finds an error, not nothing. */
  | { readonly type: 'word'; readonly name: string }

/** `[from:to:step]`; an index is a slice of one item. Negative bounds count from the end. */
export interface Slice {
  readonly type: 'slice'
  readonly from?: number
  readonly to?: number
  readonly step?: number
  /** Whether only `from` was written; `[-1]` ends at the end, which `to` cannot say. */
  readonly single: boolean
}

/** `[?(left operator right)]`, or `[?(left)]` for items where something is there. */
export interface Filter {
  readonly type: 'filter'
  readonly left: Path
  readonly operator: string
  readonly right: Path
}
