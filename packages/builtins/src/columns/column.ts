/**
 * Table columns: a name, a description, and the function from an object to its cell.
 *
 *     columnsOf(name, integer('Webhooks', 'The number of webhooks.', (o) => o.size('webhooks')), created)
 *
 * `kubectl get` prints exactly these. Types are those of kube-apiserver, not always those of the cells: a count in a string column is
 * its habit, and clients that sort or parse columns rely on it.
 */
import {
  formatLabelRequirements,
  formatQuantity,
  formatTime,
  getOwn,
  isJsonObject,
  labelRequirementsOf,
  parseQuantity,
  type JsonObject,
  type LabelSelector,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { age, toMs, zeroTimeMs } from './age.ts'

// A lenient view of an object for columns.
//
// Objects are not always valid (an old version, a lenient kind), and a list must not fail because
// of one invalid object. So a value of another type counts as absent, and absent has the zero value of Go: an
// empty string, 0, false, no items. Inherited properties are ignored.

export class FieldReader {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }

  /** The value at a path. */
  at(...path: readonly string[]): FieldReader {
    return new FieldReader(this.#get(path))
  }

  /** Whether the path has a value other than null. */
  has(...path: readonly string[]): boolean {
    const value = this.#get(path)
    return value !== undefined && value !== null
  }

  text(...path: readonly string[]): string {
    const value = this.#get(path)
    return typeof value === 'string' ? value : ''
  }

  /** A string; undefined when it is absent. */
  optionalText(...path: readonly string[]): string | undefined {
    const value = this.#get(path)
    return typeof value === 'string' ? value : undefined
  }

  number(...path: readonly string[]): number {
    const value = this.#get(path)
    return typeof value === 'number' && Number.isFinite(value) ? value : 0
  }

  flag(...path: readonly string[]): boolean {
    return this.#get(path) === true
  }

  /** The items of an array. */
  list(...path: readonly string[]): FieldReader[] {
    const value = this.#get(path)
    return Array.isArray(value) ? value.map((item) => new FieldReader(item)) : []
  }

  /** The strings of an array. */
  texts(...path: readonly string[]): string[] {
    return this.list(...path).map((item) => item.text())
  }

  /** The entries of an object, sorted by key. */
  entries(...path: readonly string[]): [string, FieldReader][] {
    const value = this.#get(path)
    if (!isJsonObject(value)) return []
    return Object.keys(value)
      .sort()
      .map((key) => [key, new FieldReader(getOwn(value, key))])
  }

  /** The number of items or entries. */
  size(...path: readonly string[]): number {
    const value = this.#get(path)
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
  }

  /** The age of the timestamp at a path. */
  age(nowMs: number, ...path: readonly string[]): string {
    return age(this.#get(path), nowMs)
  }

  #get(path: readonly string[]): unknown {
    let value = this.value
    for (const key of path) value = isJsonObject(value) ? getOwn(value, key) : undefined
    return value
  }
}

export interface Column {
  readonly definition: ColumnDefinition
  readonly cell: CellReader
}

type CellReader = (object: FieldReader, nowMs: number) => Cell

export function column(name: string, description: string, cell: CellReader): Column {
  return { definition: { name, type: 'string', format: '', description, priority: 0 }, cell }
}

export function integerColumn(name: string, description: string, cell: CellReader): Column {
  return typed(column(name, description, cell), 'integer')
}

export function booleanColumn(name: string, description: string, cell: CellReader): Column {
  return typed(column(name, description, cell), 'boolean')
}

/** The same column, shown only by `-o wide`. */
export function wideColumn({ definition, cell }: Column): Column {
  return { definition: { ...definition, priority: 1 }, cell }
}

/** The same column, as the name of the row. */
export function identifyingColumn({ definition, cell }: Column): Column {
  return { definition: { ...definition, format: 'name' }, cell }
}

export const unformattedNameColumn: Column = column(
  'Name',
  'The name of the object, unique for its kind and namespace.',
  (o) => o.text('metadata', 'name'),
)
export const nameColumn: Column = identifyingColumn(unformattedNameColumn)
export const ageColumn: Column = column('Age', 'The time since the creation of the object.', (o, nowMs) =>
  o.age(nowMs, 'metadata', 'creationTimestamp'),
)

/** The columns of a kind, in order. */
export function columnsOf(...columns: readonly Column[]): TableColumns {
  return {
    definitions: columns.map(({ definition }) => definition),
    cells(object, nowMs) {
      const view = new FieldReader(object)
      return columns.map(({ cell }) => cell(view, nowMs))
    },
  }
}

/** The default columns: name, and the creation time as a timestamp, not as an age. */
export const defaultColumns: TableColumns = columnsOf(
  nameColumn,
  typed(column('Created At', 'The creation time of the object.', creationTime), 'date'),
)

function creationTime(object: FieldReader): string {
  const createdMs = toMs(object.at('metadata', 'creationTimestamp').value) ?? zeroTimeMs
  // A time zone can move a valid timestamp out of the years that can be formatted.
  return formatTime(Math.min(Math.max(createdMs, zeroTimeMs), lastMs))
}

/** The last second of the year 9999. */
const lastMs = 253_402_300_799_000

function typed({ definition, cell }: Column, type: ColumnDefinition['type']): Column {
  return { definition: { ...definition, type }, cell }
}

// The table of a kind: columns, and one row of cells per object.
//
// Cells are plain values. A time is shown as an age, so `cells` gets the current time as a parameter,
// and nothing here reads a clock.

export type ColumnDefinition = {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` for the column that identifies the row. */
  readonly format: string
  readonly description: string
  /** 0 is always shown, higher priorities only by `-o wide`. */
  readonly priority: number
}

export type Cell = string | number | bigint | boolean | null

export interface TableColumns {
  readonly definitions: readonly ColumnDefinition[]
  /** One cell per column. Never throws. */
  cells(object: UnstructuredObject, nowMs: number): readonly Cell[]
  /** Conditions of the row, such as that the Pod has completed; absent for kinds without any. */
  conditions?(object: UnstructuredObject): readonly JsonObject[]
}

// Cell texts shared by several kinds.

/** `app=web,tier=front`, or `<none>`. */
export function formatLabels(labels: FieldReader): string {
  return (
    labels
      .entries()
      .map(([key, value]) => `${key}=${value.text()}`)
      .join(',') || '<none>'
  )
}

/** The text of a label selector, empty when it is missing or selects everything; `undefined` when it is invalid. */
export function formatSelector(selector: FieldReader): string | undefined {
  if (!selector.has()) return ''
  try {
    return formatLabelRequirements(labelRequirementsOf(selector.value as LabelSelector) ?? [])
  } catch {
    return undefined
  }
}

/** A quantity in canonical form; an invalid one unchanged. */
export function formatQuantityCell(amount: FieldReader): string {
  const text = typeof amount.value === 'number' ? String(amount.value) : amount.text()
  try {
    return formatQuantity(parseQuantity(text))
  } catch {
    return text
  }
}

/** The first few items, and the number of others. */
export function withMore(
  shown: readonly string[],
  { total, separator = ',' }: { readonly total: number; readonly separator?: string },
): string {
  const text = shown.join(separator)
  return total > shown.length ? `${text} + ${total - shown.length} more...` : text
}

/** `deployments.apps`, or `pods` in the core group. */
export function qualifiedName(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** The status of the first condition of a type. */
export function conditionStatus(conditions: readonly FieldReader[], type: string): string | undefined {
  return conditions.find((condition) => condition.text('type') === type)?.text('status')
}

/** The containers of a pod template at a path, and their images. */
export function containerColumns(...template: readonly string[]): readonly [Column, Column] {
  const containers = (object: FieldReader): FieldReader[] => object.list(...template, 'spec', 'containers')
  return [
    wideColumn(
      column('Containers', 'The names of the containers in the template.', (o) =>
        containers(o)
          .map((one) => one.text('name'))
          .join(','),
      ),
    ),
    wideColumn(
      column('Images', 'The images of the containers in the template.', (o) =>
        containers(o)
          .map((one) => one.text('image'))
          .join(','),
      ),
    ),
  ]
}

/** A label selector at a path. */
export function selectorColumn(...path: readonly string[]): Column {
  return wideColumn(column('Selector', 'The label selector of its Pods.', (o) => selectorText(o.at(...path))))
}

/** A label selector for a cell: `<none>` when it is empty. */
export function selectorText(selector: FieldReader): string {
  const text = formatSelector(selector)
  return text === undefined ? '<error>' : text || '<none>'
}
