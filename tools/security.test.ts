/**
 * Checks the threat table of docs/guides/security.md: every row names a file with a test whose name has the row, or the
 * name of a test itself.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listPages, readPage, root } from './doc-examples/pages.ts'

const page = readFileSync(join(root, 'docs', 'guides', 'security.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| `([^`]+)`(?:: (.+))? \|$/gm)].map(
  ([, number = '', file = '', title]) => ({ number, file, title }),
)

/** The quoted texts that follow a bracket: among them the names of tests, and no comments. */
function titlesOf(text: string): readonly string[] {
  return [...text.matchAll(/\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => title)
}

describe('the threat table', () => {
  test('has a row for each threat but those that the page excepts', () => {
    const excepted = [...page.matchAll(/^Row (\d+), /gm)].map(([, number = '']) => number)
    const all = Array.from({ length: 34 }, (_, index) => String(index + 1))
    expect(rows.map(({ number }) => number)).toEqual(all.filter((number) => !excepted.includes(number)))
  })

  test.each(rows)('row $number is tested in $file', ({ number, file, title }) => {
    expect(existsSync(join(root, file))).toBe(true)
    const titles = titlesOf(readFileSync(join(root, file), 'utf8'))
    if (title !== undefined) return expect(titles).toContain(title)
    const named = new RegExp(`rows? (?:\\d+(?:, | and ))*${number}\\b`)
    return expect(titles.filter((each) => named.test(each))).not.toEqual([])
  })
})

test('row 27: no page claims the permission model of Node as a boundary', () => {
  const sentences = listPages().flatMap((name) =>
    readPage(name)
      .split(/(?<=[.!?])\s/)
      .filter((sentence) => /permission model|--permission/i.test(sentence))
      .map((sentence) => `${name}: ${sentence.trim()}`),
  )
  expect(sentences).toEqual([
    'docs/guides/security.md: The permission model of Node is no boundary, and nothing here relies on it.',
  ])
})
