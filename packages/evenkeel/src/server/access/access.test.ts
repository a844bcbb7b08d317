import { expect, test } from 'vitest'
import { askInTurn, formatErrors } from './access.ts'
import type { AccessQuestion, Authorizer, Verdict } from './access.ts'
import { policyRule } from './policy-rule.ts'

const question: AccessQuestion = { user: { name: 'u', groups: [] }, verb: 'get', path: '/x', place: undefined }
const yes: Verdict = { allowed: true, why: 'yes' }
const no: Verdict = { allowed: false, why: 'no' }
const unsure = (why: string): Verdict => ({ allowed: false, undecided: true, why })

test('askInTurn: the first opinion decides, also when it has to be waited for', async () => {
  expect(askInTurn([() => undefined, () => yes, () => no]).decide(question)).toBe(yes)
  expect(askInTurn([() => no, () => yes]).decide(question)).toBe(no)
  expect(
    await askInTurn([() => Promise.resolve(undefined), () => Promise.resolve(no), () => yes]).decide(question),
  ).toBe(no)
  expect(await askInTurn([() => Promise.resolve(unsure('a')), () => yes]).decide(question)).toBe(yes)
})

test('askInTurn: without an opinion the answer is no, with everything that was said', async () => {
  expect(askInTurn([]).decide(question)).toEqual({ allowed: false, undecided: true, why: '' })
  expect(
    askInTurn([() => unsure('a'), () => unsure(''), () => ({ ...unsure('b'), error: 'broken' })]).decide(question),
  ).toEqual({ allowed: false, undecided: true, why: 'a\nb', error: 'broken' })
  expect(await askInTurn([() => Promise.resolve(unsure('a')), () => unsure('b')]).decide(question)).toMatchObject({
    allowed: false,
    why: 'a\nb',
  })
})

test('askInTurn: rules add up, and are incomplete where somebody decides without rules', () => {
  const rule = policyRule({ verbs: ['get'] })
  const ruled: Authorizer = Object.assign(() => undefined, {
    rulesFor: () => ({ rules: [rule], incomplete: false, errors: ['x'] }),
  })
  expect(askInTurn([ruled, ruled]).rulesFor(question.user, 'n')).toEqual({
    rules: [rule, rule],
    incomplete: false,
    errors: ['x', 'x'],
  })
  expect(askInTurn([ruled, () => yes]).rulesFor(question.user, 'n')).toMatchObject({ rules: [rule], incomplete: true })
})

test('formatErrors joins what differs', () => {
  expect([formatErrors([]), formatErrors(['a', 'a']), formatErrors(['a', 'b', 'a'])]).toEqual(['', 'a', '[a, b]'])
})
