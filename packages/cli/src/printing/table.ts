/**
 * Rows under headings, as wide as they need to be and no wider than the terminal.
 */

interface TableOptions {
  /** @default no limit */
  readonly columns?: number | undefined
  /** @default three, as kubectl has it */
  readonly gap?: number
}

/** The lines, each with its end. Cells lose line breaks: a table has one line for each row. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, gap = 3 }: TableOptions = {},
): string {
  const clean = rows.map((row) =>
    headings.map((_, index) => (row[index] ?? '').replace(/\s*[\r\n]+\s*/g, ' ').replace(controls, '·')),
  )
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...clean.map((row) => row[index]?.length ?? 0)),
  )
  const format = (cells: readonly string[]): string => {
    const line = cells
      .map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd((widths[index] ?? 0) + gap)))
      .join('')
      .trimEnd()
    return columns !== undefined && line.length > columns && columns > 1 ? `${line.slice(0, columns - 1)}…` : line
  }
  return [headings.map((heading) => heading.toUpperCase()), ...clean].map((row) => `${format(row)}\n`).join('')
}

/** What could move a cursor or ring a bell: objects are written by anybody. */
// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal
const controls = /[\u0000-\u001f\u007f-\u009f]/g
