/** The code that the page shows is that of the source files. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { steps } from '../steps/all.ts'
import { readStepCode } from './step-code.ts'

test('F-pages: the code of each step is read from its source file, with its line numbers', async () => {
  const code = await readStepCode()
  expect([...code.keys()]).toEqual(steps.map(({ number }) => number))
  for (const { file, lines } of code.values()) {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').split('\n')
    expect(lines.length).toBeGreaterThan(5)
    for (const { number, text } of lines) expect(text).toBe(source[number - 1])
    expect(lines.some(({ text }) => /^import |^ {2}(?:title|flaw|because|does):/.test(text))).toBe(false)
  }
})

test('F-pages: a step shows what the step before does not have', async () => {
  const code = await readStepCode()
  const added = (step: number): string[] =>
    (code.get(step)?.lines ?? []).filter(({ isNew }) => isNew).map(({ text }) => text.trim())
  expect(added(1)).toEqual([])
  expect(added(4)).toContain("const labels = { owner: 'k8s' }")
  expect(added(4)).not.toContain('await shapes.updateShape(mine.id, { type, color })')
  expect(added(6).some((line) => line.startsWith('async cleanup('))).toBe(true)
})
