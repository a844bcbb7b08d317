/**
 * What is wrong only on the way, or only in a rare schedule, is found; the right twins are silent.
 */
import { describe, expect, test } from 'vitest'
import { explore } from '../explore.ts'
import type { Subject } from './nature.fixture.ts'
import { beginner, defaults, drawer, quorum, rarely, replacer, stubborn } from './way.fixture.ts'

async function findings({ controllers, scenario }: Subject, until?: string): Promise<readonly string[]> {
  const { failures } = await explore({ controllers, scenario, stories: 0, until: ({ rule }) => rule === until })
  return failures.map(
    ({ rule, about, message, when, diff = [] }) => `${rule} ${about}: ${message} [${when.join()}] ${diff.join('; ')}`,
  )
}

const cases = [
  ['a child that is made again by each process', beginner, 'repeat'],
  ['a second child that is removed later', drawer, 'surge'],
  ['two members down at once after a failure', replacer, 'disruption'],
  ['an invariant of the scenario broken in between', quorum, 'always'],
  ['a wish of the user that is changed', defaults, 'ownership'],
  ['an update that is sent again after its conflict', stubborn, 'conflict'],
  ['a permission that is missing only after a failure', rarely, 'privilege'],
] as const

describe('a mistake on the way is found', () => {
  test.each(cases)('%s', async (_, make, rule) => {
    expect((await findings(make({ isBroken: true }), rule)).filter((line) => line.startsWith(rule))).not.toEqual([])
  })
})

describe('the right twin has no finding', () => {
  test.each(cases)('%s', async (_, make) => {
    expect(await findings(make({ isBroken: false }))).toEqual([])
  })
})
