import { describe, expect, test } from 'vitest'
import { formatIssues } from './issues.ts'

describe('formatIssues', () => {
  test('shows the first hundred issues by position, and counts the others', () => {
    const text = 'a\n'.repeat(300)
    const issues = Array.from({ length: 250 }, (_, index) => ({ offset: 2 * (249 - index), message: `issue ${index}` }))
    const blocks = formatIssues(text, issues).split('\n')
    expect(blocks.slice(0, 3)).toEqual(['ERROR: <input>:151:1: issue 99', ' | a', ' | ^'])
    expect(blocks.filter((line) => line.startsWith('ERROR'))).toHaveLength(100)
    expect(blocks.at(-1)).toBe('150 more errors were truncated')
  })

  test('does not show a line of more than 16 KiB', () => {
    const [short, long] = ['x'.repeat(16_384), 'x'.repeat(16_385)]
    expect(formatIssues(short, [{ offset: 3, message: 'bad' }])).toBe(`ERROR: <input>:1:4: bad\n | ${short}\n | ...^`)
    expect(formatIssues(long, [{ offset: 3, message: 'bad' }])).toBe('ERROR: <input>:1:4: bad')
  })

  test('counts characters up to the end of a long line with wide ones', () => {
    const text = `\n${'😀'.repeat(20_000)}x`
    expect(formatIssues(text, [{ offset: text.length - 1, message: 'bad' }])).toBe('ERROR: <input>:2:20001: bad')
  })

  // Two thousand issues in a line of 60 kB took more than 300 MB, which ended servers.
  test('takes a bounded amount of text, however many issues and rules there are', () => {
    const text = 'self.a > || '.repeat(1_300)
    const issues = Array.from({ length: 1_300 }, (_, index) => ({ offset: index * 12, message: 'bad' }))
    const formatted = formatIssues(text, issues)
    expect(formatted.length).toBeLessThan(70_000)
    expect(formatted).toContain(` | ${text}\n`)
  })
})
