/**
 * Checks the documentation: programs type-check, fences are valid, and links work. tools/docs-run.test.ts runs the
 * programs.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { brokenLinks } from './doc-examples/links.ts'
import { fencesOf, listPages, programsOf, readPage, root } from './doc-examples/pages.ts'
import { ProgramFiles } from './doc-examples/programs.ts'

const pages = listPages()
const fences = pages.flatMap((page) => fencesOf(page, readPage(page)))
const programs = pages.flatMap((page) => programsOf(fencesOf(page, readPage(page))))

test('programs of the pages type-check', async () => {
  const folder = join(root, '.cache', 'doc-examples', `tested-${process.pid}`)
  try {
    expect(await new ProgramFiles(folder, programs).checkTypes()).toEqual([])
    expect(programs.length).toBeGreaterThan(20)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** The rows of the table of a section of the reference. */
function rowsOf(page: string, section: string): string[] {
  const [, text = ''] = readPage(`docs/reference/${page}`).split(`\n## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  return own.split('\n').filter((line) => line.startsWith('| `'))
}

test.for([
  ['evenkeel.md', 'defineKind', 14],
  ['client.md', 'Client', 30],
  ['controller.md', 'ReconcileContext', 11],
] as const)('F9: %s shows each option or member of %s with an example', ([page, section, least]) => {
  const rows = rowsOf(page, section)
  expect(rows.length).toBeGreaterThanOrEqual(least)
  expect(rows.filter((row) => !/^\| `.*` \| .+ \| `.+` \|$/.test(row))).toEqual([])
})

describe('pages', () => {
  test('excerpts with file= occur in that file', () => {
    const lines = (text: string): string =>
      text
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .join('\n')
    const gone = fences.filter(
      ({ language, words: [way = ''], text }) =>
        language === 'ts' &&
        way.startsWith('file=') &&
        !lines(readFileSync(join(root, way.slice(5)), 'utf8')).includes(lines(text)),
    )
    expect(gone.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  test('links work', () => {
    expect(pages.flatMap((page) => brokenLinks(page, readPage(page)))).toEqual([])
  })

  test('F18: the page of a package has no link to a file that is not packed, and shows the hello world of README.md', () => {
    const names = readdirSync(join(root, 'packages')).filter((name) =>
      existsSync(join(root, 'packages', name, 'README.md')),
    )
    const links = names.flatMap((name) =>
      [...readPage(`packages/${name}/README.md`).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => `${name}: ${to}`),
    )
    expect(links.filter((link) => !/: (?:https:|#|LICENSE$)/.test(link))).toEqual([])
    const [hello] = fencesOf('README.md', readPage('README.md')).filter(({ language }) => language === 'ts')
    expect(readPage('packages/evenkeel/README.md')).toContain(hello?.text)
  })

  test('invalid fences are rejected', () => {
    expect(() => fencesOf('a.md', '```ts runs\n```')).toThrow('a.md:2')
    expect(() => fencesOf('a.md', '```ts\nconst a = 1')).toThrow('not closed')
  })
})
