/**
 * The documentation holds: programs in it type-check, fences are understood, and links lead somewhere. Programs are run by
 * tools/docs-run.test.ts.
 */
import { readFileSync, rmSync } from 'node:fs'
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

describe('pages', () => {
  test('what is said to be part of a file is', () => {
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

  test('links lead somewhere', () => {
    expect(pages.flatMap((page) => brokenLinks(page, readPage(page)))).toEqual([])
  })

  test('fences that say nothing one can understand are refused', () => {
    expect(() => fencesOf('a.md', '```ts runs\n```')).toThrow('a.md:2')
    expect(() => fencesOf('a.md', '```ts\nconst a = 1')).toThrow('not closed')
  })
})
