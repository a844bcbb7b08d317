import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClientTarget } from '../target.ts'
import type { ClientTarget } from '../target.ts'
import { findKubectls, isAtLeast } from './binaries.ts'
import { playSession } from './play.ts'
import { kubectlSessions } from './sessions/index.ts'
import { matches, splitArguments } from './text.ts'
import { makeTurns } from './turns.fixture.ts'

test('matches: tokens, spaces between words, and lines left out', () => {
  expect(matches('NAME   AGE\na      3m2s\n', ['NAME AGE', 'a <age>'])).toBe(true)
  expect(matches('NAME   AGE\na      never\n', ['NAME AGE', 'a <age>'])).toBe(false)
  expect(matches('a\nb\nc\n', ['a', '...', 'c'])).toBe(true)
  expect(matches('a\n  b\n', ['a', 'b'])).toBe(false)
  expect(matches('one (two)', 'one (two)')).toBe(true)
})

test('splitArguments: quotes keep what is in them', () => {
  expect(splitArguments(`patch -p '{"a": 1}' --x="it's" y`)).toEqual(['patch', '-p', '{"a": 1}', "--x=it's", 'y'])
})

test('isAtLeast: compares versions by their numbers', () => {
  expect(isAtLeast('1.36.4', '1.9')).toBe(true)
  expect(isAtLeast('1.20.2', '1.21')).toBe(false)
})

test('every session has a name of its own', () => {
  expect(new Set(kubectlSessions.map(({ name }) => name)).size).toBe(kubectlSessions.length)
})

const kubectls = findKubectls()

test.skipIf(kubectls.length > 0)('there is a kubectl to play sessions with', (context) => { context.skip('there is none on this machine; install one') })

// Starting kubectl costs more than what it does: more than two at a time only make each other slow.
const turns = makeTurns(2)

for (const kubectl of kubectls) {
  describe.concurrent(`kubectl ${kubectl.version}`, () => {
    let target: ClientTarget
    beforeAll(async () => { target = await startClientTarget() })
    afterAll(() => target.stop())

    for (const session of kubectlSessions) test(session.name, () => turns(() => playSession(session, { kubectl, ...target })), 240_000)
  })
}
