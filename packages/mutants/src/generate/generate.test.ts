import { describe, expect, test } from 'vitest'
import ts from 'typescript'
import { hasProbe, mutantsOf } from './mutants.ts'
import { operators } from './operators.ts'
import { reviewed } from './reviewed.ts'
import { rightControllers } from './right-controllers.ts'
import { applyEdits } from './source.ts'

const controllers = rightControllers()
const mutants = controllers.flatMap((one) => mutantsOf(one))

describe('the generator', () => {
  test('makes more than a thousand mutants of more than forty controllers, with unique ids', () => {
    const different = mutants.filter(({ sameAs }) => sameAs === undefined)
    expect(controllers.length).toBeGreaterThanOrEqual(40)
    expect(different.length).toBeGreaterThan(1000)
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length)
  })

  test('every operator makes mutants', () => {
    const used = new Set(mutants.map(({ operator }) => operator))
    expect(operators.filter(({ name }) => !used.has(name))).toEqual([])
  })

  test('no mutant changes the scenario', () => {
    const scenarioOf = (text: string): string => text.slice(text.indexOf('export const scenario'))
    for (const { controller, text } of mutants)
      expect(scenarioOf(text)).toBe(scenarioOf(controllers.find(({ id }) => id === controller)?.text ?? ''))
  })

  test('a probe is one more statement, and nothing else', () => {
    const statementsIn = (text: string): number => {
      let count = 0
      const visit = (node: ts.Node): void => {
        if (ts.isExpressionStatement(node)) count++
        ts.forEachChild(node, visit)
      }
      visit(ts.createSourceFile('a.ts', text, ts.ScriptTarget.ES2023))
      return count
    }
    const probed = mutants.filter((mutant) => hasProbe(mutant))
    expect(probed.length).toBeGreaterThan(500)
    expect(probed.filter(({ text, probed: one }) => statementsIn(one) !== statementsIn(text) + 1)).toEqual([])
  })

  test('every reviewed mutant exists', () => {
    const ids = new Set(mutants.map(({ id }) => id))
    expect(reviewed.filter(({ mutant }) => !ids.has(mutant))).toEqual([])
  })

  test('edits of one text are applied from its end', () => {
    const edits = [
      { start: 0, end: 1, text: 'A' },
      { start: 2, end: 2, text: '+' },
      { start: 4, end: 5, text: '' },
    ]
    expect(applyEdits('abcde', edits)).toBe('Ab+cd')
  })
})
