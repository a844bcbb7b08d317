/**
 * What a kind shows of itself in a table: the columns, and one row of cells per object.
 *
 * `kubectl get` prints exactly this. Cells are plain values; a time is shown as an age, which is why `cells` is told
 * what time it is and nothing here reads a clock.
 */
import type { JsonObject, UnstructuredObject } from '#api'

export interface ColumnDefinition {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` marks the column that identifies the row. */
  readonly format: string
  readonly description: string
  /** 0 is always shown, more only in the wide form. */
  readonly priority: number
}

export type Cell = string | number | boolean | null

export interface TableColumns {
  readonly definitions: readonly ColumnDefinition[]
  /** One cell per definition. Never throws, whatever is in the object. */
  cells(object: UnstructuredObject, nowMs: number): readonly Cell[]
  /** What to say about the row as a whole, such as that the pod has completed; absent when there is never anything. */
  conditions?(object: UnstructuredObject): readonly JsonObject[]
}
