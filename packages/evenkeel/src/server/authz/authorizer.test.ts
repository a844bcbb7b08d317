import { expect, test } from 'vitest'
import { policyRule } from '@evenkeel/builtins'
import {
  chainAuthorizers,
  formatErrors,
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type Authorizer,
} from './authorizer.ts'

const question: AuthorizationAttributes = {
  user: { name: 'u', groups: [] },
  verb: 'get',
  path: '/x',
  resourcePath: undefined,
}
const yes: AuthorizationDecision = { allowed: true, reason: 'yes' }
const no: AuthorizationDecision = { allowed: false, reason: 'no' }
const unsure = (why: string): AuthorizationDecision => ({ allowed: false, noOpinion: true, reason: why })

test('askInTurn: the first opinion decides, also when it has to be waited for', async () => {
  expect(chainAuthorizers([() => undefined, () => yes, () => no]).decide(question)).toBe(yes)
  expect(chainAuthorizers([() => no, () => yes]).decide(question)).toBe(no)
  expect(
    await chainAuthorizers([() => Promise.resolve(undefined), () => Promise.resolve(no), () => yes]).decide(question),
  ).toBe(no)
  expect(await chainAuthorizers([() => Promise.resolve(unsure('a')), () => yes]).decide(question)).toBe(yes)
})

test('askInTurn: without an opinion the answer is no, with everything that was said', async () => {
  expect(chainAuthorizers([]).decide(question)).toEqual({ allowed: false, noOpinion: true, reason: '' })
  expect(
    chainAuthorizers([() => unsure('a'), () => unsure(''), () => ({ ...unsure('b'), error: 'broken' })]).decide(
      question,
    ),
  ).toEqual({ allowed: false, noOpinion: true, reason: 'a\nb', error: 'broken' })
  expect(
    await chainAuthorizers([() => Promise.resolve(unsure('a')), () => unsure('b')]).decide(question),
  ).toMatchObject({
    allowed: false,
    reason: 'a\nb',
  })
})

test('askInTurn: rules add up, and are incomplete where somebody decides without rules', () => {
  const rule = policyRule({ verbs: ['get'] })
  const ruled: Authorizer = Object.assign(() => undefined, {
    rulesFor: () => ({ rules: [rule], incomplete: false, errors: ['x'] }),
  })
  expect(chainAuthorizers([ruled, ruled]).rulesFor(question.user, 'n')).toEqual({
    rules: [rule, rule],
    incomplete: false,
    errors: ['x', 'x'],
  })
  expect(chainAuthorizers([ruled, () => yes]).rulesFor(question.user, 'n')).toMatchObject({
    rules: [rule],
    incomplete: true,
  })
})

test('formatErrors joins what differs', () => {
  expect([formatErrors([]), formatErrors(['a', 'a']), formatErrors(['a', 'b', 'a'])]).toEqual(['', 'a', '[a, b]'])
})
