import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkOwnership, makeOwnershipLabels, readOwnershipLabels, resourceNameFor } from './ownership-labels.ts'

const identity = { instance: 'here', kind: { group: 'demo.example.com', kind: 'Shape' }, secret: 's' }
const object = {
  apiVersion: 'demo.example.com/v1',
  kind: 'Shape',
  metadata: { name: 'foo', namespace: 'default', uid: 'u-1' },
}

test('checkOwnership recognizes its own labels, and those of other owners', () => {
  const labels = makeOwnershipLabels(object, identity)
  expect(checkOwnership(labels, identity, 'u-1')).toBe('ours')
  expect(checkOwnership(labels, identity, 'u-2')).toBe('otherObject')
  expect(checkOwnership(labels, { ...identity, instance: 'there' }, 'u-1')).toBe('otherInstance')
  expect(checkOwnership(labels, { ...identity, kind: { group: 'demo.example.com', kind: 'Circle' } }, 'u-1')).toBe(
    'otherKind',
  )
  expect(checkOwnership(makeOwnershipLabels(object, identity, { state: 'orphaned' }), identity, 'u-1')).toBe('orphaned')
  expect(checkOwnership(undefined, identity, 'u-1')).toBe('unlabelled')
})

test('checkOwnership reports labels with an invalid seal as forged, whichever field was changed', () => {
  const labels = makeOwnershipLabels(object, identity)
  for (const name of ['namespace', 'name', 'uid', 'seal'] as const)
    expect(checkOwnership({ ...labels, [name]: 'x' }, identity, 'u-1')).toBe('forged')
  expect(checkOwnership({ ...labels, seal: undefined }, identity, 'u-1')).toBe('forged')
  expect(checkOwnership(makeOwnershipLabels(object, { ...identity, secret: 'other' }), identity, 'u-1')).toBe('forged')
  expect(checkOwnership({ ...labels, seal: '' }, { ...identity, secret: undefined }, 'u-1')).toBe('ours')
})

test('readOwnershipLabels accepts any JSON that a system returns', () => {
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

test('resourceNameFor is stable for a UID, fits a label, and differs for other UIDs', () => {
  expect(resourceNameFor(identity, 'u-1')).toBe(resourceNameFor(identity, 'u-1'))
  expect(resourceNameFor(identity, 'u-1')).toMatch(/^ek-here-[0-9a-f]{15}$/)
  expect(resourceNameFor(identity, 'u-1')).not.toBe(resourceNameFor(identity, 'u-2'))
  expect(resourceNameFor({ instance: 'a'.repeat(20) }, 'u-1').length).toBeLessThanOrEqual(63)
})
