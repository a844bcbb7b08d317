/**
 * The code of a step: the lines of its source file that the step before does not have.
 *
 *     step 2                                       step 3                                   shown for step 3
 *     const drawn = await shapes.listShapes()      const object = await client.find(...)    + 20  const object = await client.find(...)
 *     const { type, color } = object.spec          const { type, color } = object.spec        21  const { type, color } = object.spec
 *
 * Texts of the page (title, flaw ...) and imports are left out. Lines are compared without their indentation.
 */
import { readdir, readFile } from 'node:fs/promises'

export interface CodeLine {
  /** In the source file, from 1. */
  readonly number: number
  readonly text: string
  /** Whether the step before does not have it. False for all lines of the first step. */
  readonly isNew: boolean
}

export interface StepCode {
  readonly file: string
  /** Ascending; a gap in the numbers is a part that the step before has too. */
  readonly lines: readonly CodeLine[]
}

const folder = new URL('../steps/', import.meta.url)
/** Unchanged lines before and after changed ones. */
const contextLines = 1

/** The code of all steps, by number. */
export async function readStepCode(): Promise<ReadonlyMap<number, StepCode>> {
  const files = (await readdir(folder)).filter((name) => /^\d-.*\.ts$/.test(name)).sort()
  const code = new Map<number, StepCode>()
  let before: readonly CodeLine[] = []
  for (const file of files) {
    const lines = logicOf(await readFile(new URL(file, folder), 'utf8'))
    code.set(Number(file[0]), { file: `steps/${file}`, lines: before.length === 0 ? lines : newIn(lines, before) })
    before = lines
  }
  return code
}

/** The lines of a file without header, imports and texts. */
function logicOf(source: string): readonly CodeLine[] {
  const lines = source.trimEnd().split('\n')
  const imports = lines.findLastIndex((line) => /^import |^\} from /.test(line))
  const step = lines.findIndex((line) => /^export const \w+: Step = \{/.test(line))
  const logic = lines.findIndex((line) => line.startsWith('  controllers('))
  return lines
    .map((text, index) => ({ number: index + 1, text, isNew: false }))
    .filter((_, index) => (index > imports && index < step) || index >= logic)
    .slice(0, -1)
    .filter(({ text }, index) => text !== '' || index > 0)
}

function newIn(lines: readonly CodeLine[], before: readonly CodeLine[]): readonly CodeLine[] {
  const kept = commonLines(lines, before)
  const marked = lines.map((line, index) => ({ ...line, isNew: line.text !== '' && !kept.has(index) }))
  return marked.filter((_, index) =>
    marked.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ isNew }) => isNew),
  )
}

/** The indexes of the longest common subsequence, in the first list. */
function commonLines(one: readonly CodeLine[], other: readonly CodeLine[]): ReadonlySet<number> {
  const same = (i: number, j: number): boolean => one[i]?.text.trim() === other[j]?.text.trim()
  const lengths = Array.from({ length: one.length + 1 }, () => Array<number>(other.length + 1).fill(0))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--) {
      const row = lengths[i]
      if (row) row[j] = same(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  const common = new Set<number>()
  for (let i = 0, j = 0; i < one.length && j < other.length;) {
    if (same(i, j)) {
      common.add(i++)
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return common
}
