/**
 * The printer columns of a custom resource: each is a JSON path into the object and the type of its value.
 *
 * The name is always the first column; a kind without columns shows its age. Only the first match of a path counts, and
 * a value of another type than declared gives an empty cell (`null`), never a wrong one.
 */
import {
  compareText,
  exceedsDepth,
  findByJsonPath,
  getOwn,
  isJsonObject,
  parseJsonPath,
  stringifyJson,
  visitsMax,
  type JsonPathBudget,
  type PrinterColumn,
} from '#api'
import { age, columnsOf, nameColumn, type Cell, type Column, type TableColumns } from '@evenkeel/builtins'

/**
 * The columns for a list of printer columns.
 *
 * @throws {RangeError} for an invalid path.
 */
export function columnsFromPrinter(printerColumns: readonly PrinterColumn[]): TableColumns {
  const printers = printerColumns.length > 0 ? printerColumns : defaultColumns
  const row: RowBudget = { budget: { left: 0 } }
  return columnsOf(nameColumn, ...printers.map((printer, index) => toColumn(printer, index, row)))
}

const defaultColumns: readonly PrinterColumn[] = [
  {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'How long ago the object was created.',
  },
]
const depthMax = 500

/** The columns of a row share a budget, so that many of them cannot block a list. The cells of a row are made in order. */
interface RowBudget {
  budget: JsonPathBudget
}

function toColumn(printer: PrinterColumn, index: number, row: RowBudget): Column {
  const path = parseJsonPath(printer.jsonPath)
  const { name: title, type, format = '', description = '', priority = 0 } = printer
  return {
    definition: {
      name: title,
      type,
      format,
      description: description || `Custom resource definition column (in JSONPath format): ${printer.jsonPath}`,
      priority,
    },
    cell(object, nowMs) {
      if (index === 0) row.budget = { left: visitsMax }
      const found = findByJsonPath(path, object.value, row.budget)
      return found === undefined || found.length === 0 ? null : toCell(found[0], type, nowMs)
    },
  }
}

function toCell(value: unknown, type: PrinterColumn['type'], nowMs: number): Cell {
  switch (type) {
    case 'string':
      return toText(value)
    case 'integer':
      if (typeof value === 'bigint') return value
      return typeof value === 'number' && Math.abs(value) < 2 ** 63 ? Math.trunc(value) : null
    case 'number':
      if (typeof value === 'bigint') return Number(value)
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? toAge(value, nowMs) : null
    default:
      return null
  }
}

function toAge(moment: string, nowMs: number): string {
  const shown = age(moment, nowMs)
  // A text that is not a time is shown as invalid; a missing one, or the year 1, is unknown.
  return shown === '<unknown>' && !['', 'null', '0001-01-01T00:00:00Z'].includes(moment) ? '<invalid>' : shown
}

function toText(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value === null || value === undefined) return '<no value>'
  return exceedsDepth(value, depthMax) ? null : jsonText(value).replace(/[<>&\u2028\u2029]/g, escapeCharacter)
}

/** Go writes small numbers in the exponential form sooner than JavaScript does, with two digits at least. */
function formatNumber(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1e-4
  return small ? value.toExponential().replace(/e-(\d)$/, 'e-0$1') : String(value)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Compact JSON with the keys in order; `JSON.stringify` would keep theirs and put numbers first. */
function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (!isJsonObject(value)) return stringifyJson(value ?? null)
  const keys = Object.keys(value)
    .filter((key) => getOwn(value, key) !== undefined)
    .sort(compareText)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${jsonText(getOwn(value, key))}`).join(',')}}`
}
