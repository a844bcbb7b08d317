/**
 * Imagined input: values of patterns, and changes of what a program only reads.
 */
import { describe, expect, test } from 'vitest'
import { explore } from '../explore.ts'
import { colors, titles } from './input.fixture.ts'
import type { Subject } from './nature.fixture.ts'

async function findings({ controllers, scenario }: Subject): Promise<readonly string[]> {
  const { failures } = await explore({ controllers, scenario, stories: 0 })
  return failures.map(({ rule, about, message, when }) => `${rule} ${about}: ${message} [${when.join()}]`)
}

const cases = [
  ['a value that the schema allows and the server refuses', titles, 'failure spec.title of Page'],
  ['a change of an object that is only read', colors, 'state ConfigMap settings'],
] as const

describe('it is found', () => {
  test.each(cases)('%s', async (_, make, start) => {
    expect((await findings(make({ isBroken: true }))).filter((line) => line.startsWith(start))).toHaveLength(1)
  })
})

describe('the right twin has no finding', () => {
  test.each(cases)('%s', async (_, make) => {
    expect(await findings(make({ isBroken: false }))).toEqual([])
  })
})
