import { expect, test } from 'vitest'
import { compareSnapshots, isRelevant, normalizeValue, type Snapshot } from './snapshot.ts'

function snapshot(things: Readonly<Record<string, readonly unknown[]>>): Snapshot {
  return new Map(Object.entries(things).map(([about, values]) => [about, values.map((value) => JSON.stringify(value))]))
}

const one = snapshot({ 'Secret a': [{ data: { password: 'x', user: 'u' } }] })

test('compareSnapshots names what is extra, missing or changed', () => {
  const described = (found: Snapshot): readonly string[] =>
    compareSnapshots(one, found).map(({ type, about }) => `${type} ${about}`)
  expect(described(one)).toEqual([])
  expect(described(snapshot({ 'Secret a': [{ data: { password: 'x', user: 'v' } }] }))).toEqual(['changed Secret a'])
  expect(described(snapshot({}))).toEqual(['missing Secret a'])
  expect(described(snapshot({ 'Secret a': [{ data: { password: 'x', user: 'u' } }, {}] }))).toEqual(['extra Secret a'])
})

test('no field is blanked because of its name', () => {
  const value = { version: '15', id: 7, bucketId: 'b-1', token: 't', createdAt: 3, etag: 'e', resourceVersion: '41' }
  expect(normalizeValue(value, { nameOf: () => undefined })).toEqual(value)
})

test('a time and a uid are replaced, unless a user wrote them', () => {
  const [time, uid] = ['2026-01-01T00:00:00Z', '0b9d1f3e-0000-4000-8000-000000000001']
  const given = { at: time, tenant: uid }
  expect(normalizeValue(given, { nameOf: () => undefined })).toEqual({ at: '<time>', tenant: '<uid>' })
  expect(normalizeValue(given, { nameOf: () => '<App default/a>' })).toEqual({
    at: '<time>',
    tenant: '<App default/a>',
  })
  expect(normalizeValue(given, { nameOf: () => undefined, isWished: () => true })).toEqual(given)
})

test('a status may have the time of something that did not happen in the undisturbed schedule', () => {
  const of = (status: unknown, data = 'x'): Snapshot => snapshot({ 'Shape a': [{ data, status }] })
  const [expected, found] = [
    { external: { id: '1' } },
    { external: { id: '1', drift: { lastRevertedTime: '<time>' } } },
  ]
  expect(compareSnapshots(of(expected), of(found))).toEqual([])
  expect(compareSnapshots(of(found), of(expected))).toHaveLength(1)
  expect(compareSnapshots(of(expected), of(found, 'y'))).toHaveLength(1)
  expect(compareSnapshots(of(expected), of({ external: { id: '2', at: '<time>' } }))).toHaveLength(1)
})

test('the report of a sweep is no part of the desired state', () => {
  const metadata = { name: 'shapes' }
  expect(isRelevant({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ExternalSweep', metadata })).toBe(false)
  expect(isRelevant({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ExternalRef', metadata })).toBe(true)
})
