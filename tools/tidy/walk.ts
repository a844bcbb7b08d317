/**
 * Compares docs/walk.md with the files it names.
 *
 * A newcomer trusts that page, so it must not name a missing file, and it must not call a
 * file planned that exists.
 */
import { layerOf, library, type Finding, type House } from './house.ts'

const page = 'docs/walk.md'

/** Findings for the text of the page; a table row names files as `layer/file.ts`, some `(planned)`. */
export function checkWalk(house: House, text: string): Finding[] {
  const findings: Finding[] = []
  let named = 0
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('|')) continue
    const room = /^\| *(\d+) *\|/.exec(line)?.[1]
    for (const [, path = '', mark] of line.matchAll(/`([a-z0-9-]+\/[a-z0-9/-]+\.ts)`( \(planned\))?/g)) {
      named += 1
      const message = complaint(house, path, mark !== undefined) ?? otherRoom(house, path, room)
      if (message) findings.push({ path: page, line: index + 1, message })
    }
  }
  return named > 0 ? findings : [{ path: page, line: 1, message: 'the table names no files' }]
}

function complaint(house: House, path: string, isPlanned: boolean): string | undefined {
  const exists = house.files.has(`${library}/src/${path}`)
  if (layerOf(`${library}/src/${path}`) === '') return `${path} is in no layer`
  if (exists && isPlanned) return `${path} exists: it is no longer planned`
  if (!exists && !isPlanned) return `${path} does not exist: mark it (planned) or correct the name`
  return undefined
}

/** A room number in a header must match that of its row. */
function otherRoom(house: House, path: string, room: string | undefined): string | undefined {
  const header = house.files.get(`${library}/src/${path}`)?.source.text.split('*/')[0] ?? ''
  const said = /\bRoom (\d+)\b/.exec(header)?.[1]
  return said === undefined || said === room
    ? undefined
    : `${path} says that it is room ${said}, this row is ${room ?? 'none'}`
}
