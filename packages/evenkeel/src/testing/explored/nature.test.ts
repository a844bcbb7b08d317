/**
 * What differs by nature is no finding, and a mistake with the same values still is one.
 */
import { describe, expect, test } from 'vitest'
import { explore } from '../explore.ts'
import { addresses, issues, moves, revisions, uidNames, upgrades, type Subject } from './nature.fixture.ts'

async function findings({ controllers, scenario }: Subject, rules: readonly string[] = []): Promise<readonly string[]> {
  const { failures } = await explore({ controllers, scenario, stories: 0, until: ({ rule }) => rules.includes(rule) })
  return failures.map(({ rule, about, when, diff = [] }) => `${rule} ${about} [${when.join()}] ${diff.join('; ')}`)
}

describe('what differs by nature is no finding', () => {
  test.each([
    ['a version that the user wants', upgrades({ isBroken: false })],
    ['the id of a project that the user wants', moves({ isBroken: false })],
    ['a public certificate in a Secret and in a status', issues()],
    ['allotted addresses', addresses({ isBroken: false })],
    ['names by generation', revisions({ isBroken: false })],
    ['names by uid', uidNames({ isBroken: false })],
  ])('%s', async (_, subject) => {
    expect(await findings(subject)).toEqual([])
  })
})

describe('a mistake with such values is found', () => {
  test.each([
    ['an upgrade is lost after a crash', upgrades({ isBroken: true }), 'failure'],
    ['a bucket stays in the project before', moves({ isBroken: true }), 'failure'],
    ['a certificate is for the host before', issues({ mistake: 'loses' }), 'failure'],
    ['a private key is logged', issues({ mistake: 'leaks' }), 'secrets'],
    ['a private key is in a status', issues({ mistake: 'publishes' }), 'secrets'],
    ['an address is lost after a crash', addresses({ isBroken: true }), 'failure'],
    ['a changed revision stays', revisions({ isBroken: true }), 'state'],
    ['a changed child stays', uidNames({ isBroken: true }), 'state'],
  ])('%s', async (_, subject, rule) => {
    expect((await findings(subject, [rule])).filter((line) => line.startsWith(rule))).not.toEqual([])
  })
})
