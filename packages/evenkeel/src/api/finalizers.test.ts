import { describe, expect, test } from 'vitest'
import { deepFreeze } from '@evenkeel/cel/primitives'
import { FieldPath, formatFieldError } from './errors/field-error.ts'
import {
  addFinalizer,
  finalizerWarnings,
  foregroundFinalizer,
  hasFinalizer,
  orphanFinalizer,
  removeFinalizer,
  validateFinalizers,
  validateNoNewFinalizers,
} from './finalizers.ts'
import type { ObjectMeta } from './object.ts'

const [a, b] = ['example.com/a', 'example.com/b']
const object = (metadata: ObjectMeta = {}): { apiVersion: string; kind: string; metadata: ObjectMeta; spec: object } =>
  deepFreeze({ apiVersion: 'demo.example.com/v1', kind: 'Website', metadata: { name: 'x', ...metadata }, spec: {} })
const path = FieldPath.of('metadata', 'finalizers')

describe('addFinalizer', () => {
  test('adds at the end and shares the rest', () => {
    const before = object({ finalizers: [a] })
    const after = addFinalizer(before, b)
    expect(after.metadata).toEqual({ name: 'x', finalizers: [a, b] })
    expect(after.spec).toBe(before.spec)
    expect(before.metadata.finalizers).toEqual([a])
    expect(addFinalizer(object(), a).metadata.finalizers).toEqual([a])
  })

  test('changes nothing when it is there, even during deletion', () => {
    const deleting = object({ finalizers: [a], deletionTimestamp: '2026-01-01T00:00:00Z' })
    expect(addFinalizer(deleting, a)).toBe(deleting)
  })

  test('refuses during deletion, as every server would', () => {
    expect(() => addFinalizer(object({ finalizers: [a], deletionTimestamp: '2026-01-01T00:00:00Z' }), b)).toThrow(
      'Website x is being deleted, so finalizer example.com/b cannot be added: handle deletion before anything else',
    )
  })

  test.each(['', 'a b', 'a/b/c', '-'])('refuses the name %j', (name) =>
    expect(() => addFinalizer(object(), name)).toThrow('is no name for a finalizer'),
  )
})

test('hasFinalizer', () => {
  expect([
    hasFinalizer(object({ finalizers: [a] }), a),
    hasFinalizer(object({ finalizers: [a] }), b),
    hasFinalizer(object(), a),
  ]).toEqual([true, false, false])
})

test('removeFinalizer removes every occurrence, leaves no empty list, and works during deletion', () => {
  const deleting = object({ finalizers: [a, b, a], deletionTimestamp: '2026-01-01T00:00:00Z' })
  expect(removeFinalizer(deleting, a).metadata).toEqual({
    name: 'x',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [b],
  })
  expect(removeFinalizer(object({ finalizers: [a] }), a).metadata).toEqual({ name: 'x' })
  expect(removeFinalizer(deleting, 'example.com/none')).toBe(deleting)
})

describe('validateFinalizers', () => {
  test('is content with good ones', () =>
    expect(validateFinalizers([a, 'kubernetes', orphanFinalizer], path)).toEqual([]))

  test('complains about names', () => {
    expect(validateFinalizers([a, 'b c'], path).map(formatFieldError)).toEqual([
      expect.stringMatching(/^metadata\.finalizers: Invalid value: "b c": name part/),
    ])
  })

  test('complains about both ways of treating dependents at once', () => {
    expect(validateFinalizers([foregroundFinalizer, orphanFinalizer], path).map(formatFieldError)).toEqual([
      'metadata.finalizers: Invalid value: ["foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set',
    ])
  })
})

test('validateNoNewFinalizers lets finalizers go but not come', () => {
  expect(validateNoNewFinalizers([a], [a, b], path)).toEqual([])
  expect(validateNoNewFinalizers([], [], path)).toEqual([])
  expect(validateNoNewFinalizers([b, 'x/z', a, 'x/c', 'x/z'], [a, b], path).map(formatFieldError)).toEqual([
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c", "x/z"}',
  ])
})

test('finalizerWarnings asks for a domain', () => {
  expect(
    finalizerWarnings([a, foregroundFinalizer, orphanFinalizer, 'kubernetes', 'plain', 'example.com'], path),
  ).toEqual([
    'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    'metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
  ])
})
