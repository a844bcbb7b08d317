import { expect, test } from 'vitest'
import { compareSnapshots, randomPathsBetween, type Snapshot } from './snapshot.ts'

function snapshot(things: Readonly<Record<string, readonly unknown[]>>): Snapshot {
  return new Map(Object.entries(things).map(([about, values]) => [about, values.map((value) => JSON.stringify(value))]))
}

const one = snapshot({ 'Secret a': [{ data: { password: 'x', user: 'u' } }] })

test('chanceBetween names the places in which two snapshots differ, and nothing that is there or not', () => {
  expect([
    ...randomPathsBetween(one, snapshot({ 'Secret a': [{ data: { password: 'y', user: 'u' } }], 'Secret b': [{}] })),
  ]).toEqual(['Secret a data.password'])
})

test('compareSnapshots leaves out what is drawn by chance, and nothing else', () => {
  const chance = new Set(['Secret a data.password'])
  expect(compareSnapshots(one, snapshot({ 'Secret a': [{ data: { password: 'z', user: 'u' } }] }), chance)).toEqual([])
  expect(
    compareSnapshots(one, snapshot({ 'Secret a': [{ data: { password: 'z', user: 'v' } }] }), chance).map(
      ({ type, about }) => `${type} ${about}`,
    ),
  ).toEqual(['changed Secret a'])
  expect(compareSnapshots(one, snapshot({}), chance).map(({ type, about }) => `${type} ${about}`)).toEqual([
    'missing Secret a',
  ])
})
