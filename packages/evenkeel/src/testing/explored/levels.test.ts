/**
 * Children that another client deletes, and children that have a controller of their own.
 */
import { expect, test } from 'vitest'
import { explore, type Explored } from '../explore.ts'
import { hello, levels } from './levels.fixture.ts'

function described({ failures }: Explored): readonly string[] {
  return failures.map(({ rule, about, when, diff = [] }) => `${rule} ${about} [${when.join()}] ${diff.join('; ')}`)
}

test('the hello world has no finding at tier 2: a status cannot follow a change that no process lives to see', async () => {
  const explored = await explore({ ...hello({ isBroken: false }), tier: 2, stories: 0 })
  expect(described(explored)).toEqual([])
  expect(explored.left).toBe(0)
}, 600_000)

test('a status that is written before the work is still found', async () => {
  const explored = await explore({ ...hello({ isBroken: true }), stories: 0, until: ({ rule }) => rule === 'truth' })
  expect(described(explored)).toContainEqual(expect.stringMatching(/^truth Greeting default\/a \[.*die\]/))
})

test('a child with a controller of its own is a child: two levels have no finding', async () => {
  const explored = await explore({ ...levels({ isBroken: false }), stories: 0 })
  expect(described(explored)).toEqual([])
})

test('a child with a controller of its own that is not maintained is found', async () => {
  const explored = await explore({ ...levels({ isBroken: true }), stories: 0 })
  expect(described(explored)).toContainEqual(expect.stringMatching(/^state Request default\/a \[.*delete Request a/))
})
