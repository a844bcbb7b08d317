/**
 * What a JSON path consists of. A path is a list of steps; each turns the values found so far into others.
 */

export type JsonPath = readonly JsonPathStep[]

export type JsonPathStep =
  | { readonly type: 'field'; readonly name: string }
  /** All items of an array or all values of an object. */
  | { readonly type: 'wildcard' }
  /** The values and everything below them. */
  | { readonly type: 'descend' }
  | JsonPathSlice
  | { readonly type: 'union'; readonly paths: readonly JsonPath[] }
  | JsonPathFilter
  /** A text, number or truth value, whatever was found before. */
  | { readonly type: 'literal'; readonly value: string | number | boolean }
  /** A word that may stand in a template but means nothing in a column: finds an error, not nothing. */
  | { readonly type: 'word'; readonly name: string }

/** `[from:to:step]`; an index is a slice of one item. Negative bounds count from the end. */
export interface JsonPathSlice {
  readonly type: 'slice'
  readonly from?: number
  readonly to?: number
  readonly step?: number
  /** Whether only `from` was written; `[-1]` ends at the end, which `to` cannot say. */
  readonly single: boolean
}

/** `[?(left operator right)]`, or `[?(left)]` for items where something is there. */
export interface JsonPathFilter {
  readonly type: 'filter'
  readonly left: JsonPath
  readonly operator: string
  readonly right: JsonPath
}
