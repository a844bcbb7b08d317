/**
 * Columns as they are written down: a name, a description, and how to get the cell from an object.
 *
 *     columnsOf(name, integer('Webhooks', 'How many there are.', (o) => o.size('webhooks')), created)
 *
 * The types are those kubectl is used to, which is not always the type of the cells: a count in a column of texts is
 * upstream's habit, and clients that sort or parse columns rely on both.
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
} from '#api'
import { age, toMs, zeroTimeMs } from './age.ts'

/*
 * An object as the columns look at it: every question has an answer, whatever the object holds.
 *
 * Objects have usually passed a schema, but not always (an old version, a lenient kind), and a list must not fail because
 * of one odd object. So a value of another type than asked for counts as absent, and absent has the zero value of Go: an
 * empty text, 0, false, no items. Only own properties exist.
 */

export class FieldReader {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }

  /** What lies under a path of keys. */
  at(...path: readonly string[]): FieldReader {
    return new FieldReader(this.#get(path))
  }

  /** Whether something is there. JSON `null` is nothing. */
  has(...path: readonly string[]): boolean {
    const value = this.#get(path)
    return value !== undefined && value !== null
  }

  text(...path: readonly string[]): string {
    const value = this.#get(path)
    return typeof value === 'string' ? value : ''
  }

  /** A text that tells absent from empty. */
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

  /** The texts of an array. */
  texts(...path: readonly string[]): string[] {
    return this.list(...path).map((item) => item.text())
  }

  /** The entries of an object, in the order of their keys. */
  entries(...path: readonly string[]): [string, FieldReader][] {
    const value = this.#get(path)
    if (!isJsonObject(value)) return []
    return Object.keys(value)
      .sort()
      .map((key) => [key, new FieldReader(getOwn(value, key))])
  }

  /** How many items or entries there are. */
  size(...path: readonly string[]): number {
    const value = this.#get(path)
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
  }

  /** The age of the moment at a path. */
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

/** The same column, marked as what identifies the row. */
export function identifyingColumn({ definition, cell }: Column): Column {
  return { definition: { ...definition, format: 'name' }, cell }
}

export const unformattedNameColumn: Column = column(
  'Name',
  'The name of the object, unique among its kind and namespace.',
  (o) => o.text('metadata', 'name'),
)
export const nameColumn: Column = identifyingColumn(unformattedNameColumn)
export const ageColumn: Column = column('Age', 'How long ago the object was created.', (o, nowMs) =>
  o.age(nowMs, 'metadata', 'creationTimestamp'),
)

/** The columns of a kind, in the order they are printed. */
export function columnsOf(...columns: readonly Column[]): TableColumns {
  return {
    definitions: columns.map(({ definition }) => definition),
    cells(object, nowMs) {
      const view = new FieldReader(object)
      return columns.map(({ cell }) => cell(view, nowMs))
    },
  }
}

/** What kinds show that have nothing of their own to show: a name, and when it was created as a time, not as an age. */
export const defaultColumns: TableColumns = columnsOf(
  nameColumn,
  typed(column('Created At', 'When the object was created.', creationTime), 'date'),
)

function creationTime(object: FieldReader): string {
  const createdMs = toMs(object.at('metadata', 'creationTimestamp').value) ?? zeroTimeMs
  // A zone can carry a readable moment out of the years that can be written.
  return formatTime(Math.min(Math.max(createdMs, zeroTimeMs), lastMs))
}

/** The last second of the year 9999. */
const lastMs = 253_402_300_799_000

function typed({ definition, cell }: Column, type: ColumnDefinition['type']): Column {
  return { definition: { ...definition, type }, cell }
}

/*
 * What a kind shows of itself in a table: the columns, and one row of cells per object.
 *
 * `kubectl get` prints exactly this. Cells are plain values; a time is shown as an age, which is why `cells` is told
 * what time it is and nothing here reads a clock.
 */

export type ColumnDefinition = {
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

/*
 * Texts that several kinds print the same way.
 */

/** `app=web,tier=front`, or `<none>`. */
export function formatLabels(labels: FieldReader): string {
  return (
    labels
      .entries()
      .map(([key, value]) => `${key}=${value.text()}`)
      .join(',') || '<none>'
  )
}

/** The text of a label selector, empty when it is missing or selects everything; `undefined` when it is malformed. */
export function formatSelector(selector: FieldReader): string | undefined {
  if (!selector.has()) return ''
  try {
    return formatLabelRequirements(labelRequirementsOf(selector.value as LabelSelector) ?? [])
  } catch {
    return undefined
  }
}

/** A quantity in its canonical form; something that is none as it stands. */
export function formatQuantityCell(amount: FieldReader): string {
  const text = typeof amount.value === 'number' ? String(amount.value) : amount.text()
  try {
    return formatQuantity(parseQuantity(text))
  } catch {
    return text
  }
}

/** The first few, and how many more there are. */
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

/** The status of the condition of a type, the first if there are several. */
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
  return wideColumn(column('Selector', 'Which pods belong to it.', (o) => selectorText(o.at(...path))))
}

/** A label selector for a cell: `<none>` when there is nothing to say. */
export function selectorText(selector: FieldReader): string {
  const text = formatSelector(selector)
  return text === undefined ? '<error>' : text || '<none>'
}
