/**
 * Checks the documentation: programs type-check, fences are valid, and links work. tools/docs-run.test.ts runs the
 * programs.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, posix } from 'node:path'
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

const pictures = 'docs/pictures'
/** Pictures that a page of the documentation or of an example shows, from the root. */
const shownIn = new Set(
  [...pages, ...examplePages()].flatMap((page) =>
    [...readPage(page).matchAll(/\]\(([^)\s]+\.(?:png|svg))\)/g)].map(([, to = '']) =>
      posix.join(posix.dirname(page), to),
    ),
  ),
)

function examplePages(): readonly string[] {
  return readdirSync(join(root, 'examples'), { withFileTypes: true }).flatMap((entry) =>
    existsSync(join(root, 'examples', entry.name, 'README.md')) ? [`examples/${entry.name}/README.md`] : [],
  )
}

function listPictures(): readonly string[] {
  return readdirSync(join(root, pictures), { recursive: true, encoding: 'utf8' })
    .map((path) => `${pictures}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:png|svg)$/.test(path))
}

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
  ['controller.md', 'ManagedContext', 2],
  ['controller.md', 'StatusWriter', 5],
  ['verbs.md', 'Children', 10],
  ['evenkeel.md', 'ApiError', 7],
] as const)('F9: %s shows each option or member of %s with an example', ([page, section, least]) => {
  const rows = rowsOf(page, section)
  expect(rows.length).toBeGreaterThanOrEqual(least)
  expect(rows.filter((row) => !/^\| `.*` \| .+ \| `.+` \|$/.test(row))).toEqual([])
})

test('F9: the reference describes each member of Kind, and the matchers with an example', () => {
  const rows = rowsOf('evenkeel.md', 'Kind')
  expect(rows.length).toBeGreaterThanOrEqual(15)
  expect(rows.filter((row) => /\|  \|$/.test(row))).toEqual([])
  const matchers = readPage('docs/reference/testing/vitest.md')
  expect(matchers).not.toContain('@example')
  for (const name of ['toConverge', 'toKeepTheRules'])
    expect(matchers).toMatch(new RegExp(`## ${name}\n[^#]*await expect\\(.*\\.${name}\\(\\)`))
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
      ({ words: [way = ''], text }) =>
        way.startsWith('file=') && !lines(readFileSync(join(root, way.slice(5)), 'utf8')).includes(lines(text)),
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
    const [install, hello] = fencesOf('README.md', readPage('README.md'))
    expect([install?.language, hello?.language]).toEqual(['sh', 'ts'])
    expect(readPage('packages/evenkeel/README.md')).toContain(install?.text)
    expect(readPage('packages/evenkeel/README.md')).toContain(hello?.text)
  })

  test('F16b: the launch file of VS Code on the page of debugging is a file of an example', () => {
    const [shown] = fences.filter(({ page, language }) => page === 'docs/guides/debugging.md' && language === 'json')
    const [file = ''] = shown?.words ?? []
    expect(readFileSync(join(root, file.replace('file=', '')), 'utf8')).toBe(shown?.text)
  })

  test('F13: each picture is on a page', () => {
    const shown = listPictures().filter((picture) => !shownIn.has(picture))
    expect(shown).toEqual([])
  })

  test('README.md and the page of platforms name the versions of Node that .ci/run tests', () => {
    const gate = readFileSync(join(root, '.ci', 'run'), 'utf8')
    const versions = ['oldest', 'newest'].map(
      (which) => new RegExp(`^${which}_node=(\\d+\\.\\d+)`, 'm').exec(gate)?.[1],
    )
    for (const page of ['README.md', 'docs/platforms.md'])
      for (const version of versions) expect(readPage(page), page).toContain(version)
  })

  test('invalid fences are rejected', () => {
    expect(() => fencesOf('a.md', '```ts runs\n```')).toThrow('a.md:2')
    expect(() => fencesOf('a.md', '```ts\nconst a = 1')).toThrow('not closed')
  })
})
