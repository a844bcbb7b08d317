/**
 * The pages of the documentation, and the programs in them.
 *
 * A TypeScript fence is a whole program unless it has another option:
 *
 *   ```ts            must type-check
 *   ```ts run        must type-check and run to its end; a fence `text prints` below it has its output
 *   ```ts file=PATH  must occur line by line in that file, which has its own tests
 *   ```ts fragment   part of another program; not checked
 *   ```yaml          manifests, which a server must accept without a warning
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface Fence {
  /** From the root, with slashes. */
  readonly page: string
  /** Of the first line inside. */
  readonly line: number
  readonly language: string
  /** The rest of the line that opens it. */
  readonly words: readonly string[]
  readonly text: string
}

export interface Program extends Fence {
  readonly isRun: boolean
  readonly prints: string | undefined
}

const ways: ReadonlySet<string> = new Set(['', 'run', 'fragment'])

/** The pages of the root and of the package, and all pages under docs, except generated ones. */
export function listPages(): readonly string[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => relative(root, join(root, 'docs', path)).replaceAll('\\', '/'))
  return [
    'README.md',
    'CONTRIBUTING.md',
    'packages/evenkeel/README.md',
    ...below.filter((path) => !path.startsWith('docs/reference/')).sort(),
  ]
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** @throws {RangeError} for a fence that is not closed, or that has an unknown option. */
export function fencesOf(page: string, text: string): readonly Fence[] {
  const fences: Fence[] = []
  let open: { line: number; info: string; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const mark = /^```(.*)$/.exec(line)
    if (!mark) open?.lines.push(line)
    else if (!open) open = { line: index + 2, info: mark[1] ?? '', lines: [] }
    else {
      const [language = '', ...words] = open.info.trim().split(/ +/)
      fences.push({ page, line: open.line, language, words, text: `${open.lines.join('\n')}\n` })
      open = undefined
    }
  }
  if (open) throw new RangeError(`${page}:${open.line} the fence is not closed`)
  return fences.map(checked)
}

function checked(fence: Fence): Fence {
  const [way = '', ...more] = fence.words
  if (fence.language === 'typescript') throw new RangeError(`${fence.page}:${fence.line} write ts`)
  if (fence.language === 'ts' && ((!ways.has(way) && !way.startsWith('file=')) || more.length > 0))
    throw new RangeError(
      `${fence.page}:${fence.line} a fence of ts is run, fragment, file=PATH or nothing, not ${fence.words.join(' ')}`,
    )
  return fence
}

/** The whole programs of a page. */
export function programsOf(fences: readonly Fence[]): readonly Program[] {
  return fences.flatMap((fence, index) => {
    const [way = ''] = fence.words
    if (fence.language !== 'ts' || (way !== '' && way !== 'run')) return []
    const next = fences[index + 1]
    const prints = way === 'run' && next?.language === 'text' && next.words[0] === 'prints' ? next.text : undefined
    return [{ ...fence, isRun: way === 'run', prints }]
  })
}
