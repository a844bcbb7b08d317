/**
 * Columns as they are written down: a name, a description, and how to get the cell from an object.
 *
 *     columnsOf(name, integer('Webhooks', 'How many there are.', (o) => o.size('webhooks')), created)
 *
 * The types are those kubectl is used to, which is not always the type of the cells: a count in a column of texts is
 * upstream's habit, and clients that sort or parse columns rely on both.
 */
import { formatTime } from '#api'
import { toMs, zeroTimeMs } from './age.ts'
import type { Cell, ColumnDefinition, TableColumns } from './columns.ts'
import { FieldReader } from './view.ts'

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
