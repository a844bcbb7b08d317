import { expect, test } from 'vitest'
import { refuseDeepYaml } from './yaml-reader.ts'

test.each([
  ['lists on one line', `${'- '.repeat(50_000)}x`],
  ['keys on one line', `${'? '.repeat(50_000)}x`],
  ['brackets', `a: ${'['.repeat(2000)}`],
  ['indentation', Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
])('row 13: refuseDeepYaml refuses %s', (_, text) => {
  expect(() => {
    refuseDeepYaml(text, 300)
  }).toThrow('nested too deeply')
})

test.each([
  ['a long flat text', 'a: [1, {b: 2}]\n'.repeat(10_000)],
  ['a long list', '- a: 1\n  b:\n    - 2\n'.repeat(5000)],
  ['a script in a scalar', `data: |\n${'  if [ "$x" = "{" ]; then echo "[-"; fi\n'.repeat(300)}`],
  ['dashes in a text', `a: ${'- '.repeat(1000)}`],
  ['nothing', ''],
])('refuseDeepYaml lets %s pass', (_, text) => {
  expect(() => {
    refuseDeepYaml(text, 300)
  }).not.toThrow()
})
