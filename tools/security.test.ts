/**
 * Checks the threat table of docs/guides/security.md: every row names a test that exists and says which row it tests.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listPages, readPage, root } from './doc-examples/pages.ts'

const page = readFileSync(join(root, 'docs', 'guides', 'security.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| `([^`]+)` \|$/gm)].map(([, number = '', file = '']) => ({
  number,
  file,
}))

describe('the threat table', () => {
  test('has a row for each threat but those that the page excepts', () => {
    const excepted = [...page.matchAll(/^Row (\d+), /gm)].map(([, number = '']) => number)
    const all = Array.from({ length: 31 }, (_, index) => String(index + 1))
    expect(rows.map(({ number }) => number)).toEqual(all.filter((number) => !excepted.includes(number)))
  })

  test.each(rows)('row $number is tested in $file', ({ number, file }) => {
    expect(existsSync(join(root, file))).toBe(true)
    const text = readFileSync(join(root, file), 'utf8')
    expect(new RegExp(`row ${number}\\b|rows [\\d, and]*\\b${number}\\b`).test(text)).toBe(true)
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
