import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkOwnership, makeOwnershipLabels, readOwnershipLabels, resourceNameFor } from './ownership-labels.ts'

const marker = { instance: 'here', kind: { group: 'demo.example.com', kind: 'Shape' }, secret: 's' }
const object = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Shape',
  metadata: { name: 'foo', namespace: 'default', uid: 'u-1' },
}

test('judgeMarks knows its own marks, and whose others are', () => {
  const labels = makeOwnershipLabels(object, marker)
  expect(checkOwnership(labels, marker, 'u-1')).toBe('ours')
  expect(checkOwnership(labels, marker, 'u-2')).toBe('otherObject')
  expect(checkOwnership(labels, { ...marker, instance: 'there' }, 'u-1')).toBe('otherInstance')
  expect(checkOwnership(labels, { ...marker, kind: { group: 'demo.example.com', kind: 'Circle' } }, 'u-1')).toBe(
    'otherKind',
  )
  expect(checkOwnership(makeOwnershipLabels(object, marker, { state: 'orphaned' }), marker, 'u-1')).toBe('orphaned')
  expect(checkOwnership(undefined, marker, 'u-1')).toBe('unmarked')
})

test('judgeMarks takes marks without our seal for forged, whatever was changed', () => {
  const labels = makeOwnershipLabels(object, marker)
  for (const name of ['namespace', 'name', 'uid', 'seal'] as const)
    expect(checkOwnership({ ...labels, [name]: 'x' }, marker, 'u-1')).toBe('forged')
  expect(checkOwnership({ ...labels, seal: undefined }, marker, 'u-1')).toBe('forged')
  expect(checkOwnership(makeOwnershipLabels(object, { ...marker, secret: 'other' }), marker, 'u-1')).toBe('forged')
  expect(checkOwnership({ ...labels, seal: '' }, { ...marker, secret: undefined }, 'u-1')).toBe('ours')
})

test('readMarks survives whatever a system gives back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      const labels = readOwnershipLabels(given)
      expect(labels === undefined || typeof labels.uid === 'string').toBe(true)
    }),
  )
  expect(
    readOwnershipLabels(JSON.parse('{"__proto__":{"instance":"here","kind":"k","name":"n","uid":"u","version":"1"}}')),
  ).toBeUndefined()
})

test('ownName is the same for the same uid, fits a label, and differs otherwise', () => {
  expect(resourceNameFor(marker, 'u-1')).toBe(resourceNameFor(marker, 'u-1'))
  expect(resourceNameFor(marker, 'u-1')).toMatch(/^ek-here-[0-9a-f]{15}$/)
  expect(resourceNameFor(marker, 'u-1')).not.toBe(resourceNameFor(marker, 'u-2'))
  expect(resourceNameFor({ instance: 'a'.repeat(20) }, 'u-1').length).toBeLessThanOrEqual(63)
})
