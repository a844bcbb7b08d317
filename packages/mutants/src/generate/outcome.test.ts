import { expect, test } from 'vitest'
import type { Verdict } from './judge.ts'
import type { GeneratedMutant } from './mutants.ts'
import { outcomeOf, tableOf } from './outcome.ts'
import { reviewed } from './reviewed.ts'

const alarm = { rule: 'cleanup', about: 'cloud', message: 'remains', when: ['after effect 2: crash'], diff: [] }
const known = { rule: 'state', about: 'App', message: 'differs', when: [], diff: [] }
const right: Verdict = {
  id: 'a/b',
  alarms: [known],
  schedules: 100,
  ms: 1,
  left: 0,
  isReached: true,
  requests: 'r1',
  undisturbed: 'u1',
}
const mutant: GeneratedMutant = {
  id: 'a/b:drop-write:1:1',
  controller: 'a/b',
  operator: 'drop-write',
  changes: 'way',
  change: 'a => b',
  path: '/a/b.ts',
  text: '',
  probed: 'with a probe',
}

test('a mutant is caught by a finding that the right controller does not have, at the tier of its deviations', () => {
  const alarms = [known, alarm]
  expect(outcomeOf(mutant, { ...right, alarms }, right)).toMatchObject({ caught: true, rule: 'cleanup', tier: 1 })
  expect(outcomeOf(mutant, { ...right, requests: 'r2' }, right)).toMatchObject({ caught: false, rule: null })
  expect(outcomeOf(mutant, { ...right, refused: 'blocked' }, right)).toMatchObject({
    caught: true,
    rule: 'refused',
    tier: 0,
  })
})

test('a mutant that was not found is equivalent only if it sent the same requests in every schedule, or was reviewed', () => {
  const outcome = (verdict: Partial<Verdict>, id = mutant.id): object =>
    outcomeOf({ ...mutant, id }, { ...right, ...verdict }, right)
  expect(outcome({})).toMatchObject({ equivalent: 'same requests', missed: null })
  expect(outcome({ isReached: false })).toMatchObject({ equivalent: 'not executed', missed: null })
  expect(outcome({ left: 1 })).toMatchObject({ equivalent: null, missed: 'faults' })
  expect(outcome({ requests: 'r2' })).toMatchObject({ equivalent: null, missed: 'faults' })
  expect(outcome({ requests: 'r2', undisturbed: 'u2' })).toMatchObject({ equivalent: null, missed: 'always' })
  const [first] = reviewed
  expect(outcome({ requests: 'r2' }, first?.mutant)).toMatchObject({ equivalent: `reviewed: ${first?.because}` })
})

test('the rate is that of the mutants that can be told from the right controller', () => {
  const outcomes = [{ alarms: [alarm] }, { alarms: [alarm] }, { requests: 'r2' }, {}].map((verdict) =>
    outcomeOf(mutant, { ...right, ...verdict }, right),
  )
  const row = tableOf(outcomes)
    .split('\n')
    .find((line) => line.startsWith('drop-write'))
  expect(row?.split(/\s{2,}/)).toEqual(['drop-write', '4', '0', '2', '0', '1', '0', '0', '0', '1', '66.7 %'])
})
