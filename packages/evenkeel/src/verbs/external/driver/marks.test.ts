import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeMarks, makeMarks, ownName, readMarks } from './marks.ts'

const marker = { instance: 'here', kind: { group: 'demo.example.com', kind: 'Shape' }, secret: 's' }
const object = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Shape',
  metadata: { name: 'foo', namespace: 'default', uid: 'u-1' },
}

test('judgeMarks knows its own marks, and whose others are', () => {
  const marks = makeMarks(object, marker)
  expect(judgeMarks(marks, marker, 'u-1')).toBe('ours')
  expect(judgeMarks(marks, marker, 'u-2')).toBe('otherObject')
  expect(judgeMarks(marks, { ...marker, instance: 'there' }, 'u-1')).toBe('otherInstance')
  expect(judgeMarks(marks, { ...marker, kind: { group: 'demo.example.com', kind: 'Circle' } }, 'u-1')).toBe('otherKind')
  expect(judgeMarks(makeMarks(object, marker, { state: 'orphaned' }), marker, 'u-1')).toBe('orphaned')
  expect(judgeMarks(undefined, marker, 'u-1')).toBe('unmarked')
})

test('judgeMarks takes marks without our seal for forged, whatever was changed', () => {
  const marks = makeMarks(object, marker)
  for (const name of ['namespace', 'name', 'uid', 'seal'] as const)
    expect(judgeMarks({ ...marks, [name]: 'x' }, marker, 'u-1')).toBe('forged')
  expect(judgeMarks({ ...marks, seal: undefined }, marker, 'u-1')).toBe('forged')
  expect(judgeMarks(makeMarks(object, { ...marker, secret: 'other' }), marker, 'u-1')).toBe('forged')
  expect(judgeMarks({ ...marks, seal: '' }, { ...marker, secret: undefined }, 'u-1')).toBe('ours')
})

test('readMarks survives whatever a system gives back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      const marks = readMarks(given)
      expect(marks === undefined || typeof marks.uid === 'string').toBe(true)
    }),
  )
  expect(
    readMarks(JSON.parse('{"__proto__":{"instance":"here","kind":"k","name":"n","uid":"u","version":"1"}}')),
  ).toBeUndefined()
})

test('ownName is the same for the same uid, fits a label, and differs otherwise', () => {
  expect(ownName(marker, 'u-1')).toBe(ownName(marker, 'u-1'))
  expect(ownName(marker, 'u-1')).toMatch(/^ek-here-[0-9a-f]{15}$/)
  expect(ownName(marker, 'u-1')).not.toBe(ownName(marker, 'u-2'))
  expect(ownName({ instance: 'a'.repeat(20) }, 'u-1').length).toBeLessThanOrEqual(63)
})
