import { expect, test } from 'vitest'
import { compareSnapshots, randomPathsBetween, type Snapshot } from './snapshot.ts'

function snapshot(things: Readonly<Record<string, readonly unknown[]>>): Snapshot {
  return new Map(Object.entries(things).map(([about, values]) => [about, values.map((value) => JSON.stringify(value))]))
}

const one = snapshot({ 'Secret a': [{ data: { password: 'x', user: 'u' } }] })

test('randomPathsBetween names the paths with different values, not missing or extra objects', () => {
  expect([
    ...randomPathsBetween(one, snapshot({ 'Secret a': [{ data: { password: 'y', user: 'u' } }], 'Secret b': [{}] })),
  ]).toEqual(['Secret a data.password'])
})

test('compareSnapshots ignores random paths, and nothing else', () => {
  const randomPaths = new Set(['Secret a data.password'])
  expect(
    compareSnapshots(one, snapshot({ 'Secret a': [{ data: { password: 'z', user: 'u' } }] }), randomPaths),
  ).toEqual([])
  expect(
    compareSnapshots(one, snapshot({ 'Secret a': [{ data: { password: 'z', user: 'v' } }] }), randomPaths).map(
      ({ type, about }) => `${type} ${about}`,
    ),
  ).toEqual(['changed Secret a'])
  expect(compareSnapshots(one, snapshot({}), randomPaths).map(({ type, about }) => `${type} ${about}`)).toEqual([
    'missing Secret a',
  ])
})
