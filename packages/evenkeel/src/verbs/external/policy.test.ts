import fc from 'fast-check'
import { expect, test } from 'vitest'
import { annotationPrefix, basePolicy, driftOf, PolicyError, policyFor } from './policy.ts'

function annotated(annotations: Record<string, string>): {
  apiVersion: string
  kind: string
  metadata: { name: string; annotations: Record<string, string> }
} {
  return {
    apiVersion: 'v1',
    kind: 'Shape',
    metadata: {
      name: 'foo',
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [`${annotationPrefix}${name}`, value]),
      ),
    },
  }
}

test('policyFor: annotations take precedence over the function, and the function over the default', () => {
  const source = ({ metadata: { name } }: { metadata: { name?: string } }): { deletion: 'orphan' } | object =>
    name === 'foo' ? { deletion: 'orphan' } : {}
  expect(policyFor(annotated({}), source).deletion).toBe('orphan')
  expect(policyFor(annotated({ deletion: 'delete' }), source).deletion).toBe('delete')
  expect(
    policyFor(
      annotated({
        drift: 'report,color=ignore',
        manage: 'observe, create',
        'poll-interval-ms': '5000',
        paused: 'true',
      }),
      {},
    ),
  ).toMatchObject({
    drift: 'report',
    driftPaths: { color: 'ignore' },
    manage: ['observe', 'create'],
    pollIntervalMs: 5000,
    paused: true,
  })
})

test.each([
  { deletion: 'perhaps' },
  { drift: 'x' },
  { drift: 'color=x' },
  { manage: 'everything' },
  { adoption: '' + 'x' },
  { 'poll-interval-ms': '1' },
  { 'poll-interval-ms': 'NaN' },
  { paused: 'yes' },
  { duplicates: 'keep' },
])('policyFor refuses %j', (annotations) => {
  expect(() => policyFor(annotated(annotations as Record<string, string>), {})).toThrow(PolicyError)
})

test('policyFor never throws anything but a PolicyError, whatever is annotated', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('manage', 'deletion', 'drift', 'adoption', 'paused', 'poll-interval-ms'),
        fc.string(),
      ),
      (annotations) => {
        try {
          policyFor(annotated(annotations), {})
        } catch (error) {
          expect(error).toBeInstanceOf(PolicyError)
        }
      },
    ),
  )
})

const driver = {}

test('driftOf compares desired fields only', () => {
  const policy = basePolicy()
  expect(
    driftOf(
      { color: 'red', size: { width: 1 } },
      { color: 'red', size: { width: 1, height: 2 }, extra: true },
      { driver, policy },
    ).revert,
  ).toEqual([])
  expect(
    driftOf(
      { color: 'red', size: { width: 1, height: 2 }, tags: ['a'] },
      { color: 'blue', size: { width: 1 }, tags: ['a', 'b'] },
      { driver, policy },
    ).revert,
  ).toEqual(['color', 'size.height', 'tags'])
  expect(driftOf({ color: undefined }, {}, { driver, policy }).revert).toEqual([])
  expect(driftOf('a', 'b', { driver, policy }).revert).toEqual([''])
})

test('driftOf uses the rule of the longest path, and the comparison of the driver', () => {
  const policy = basePolicy({ drift: 'report', driftPaths: { size: 'ignore', 'size.width': 'revert' } })
  expect(driftOf({ color: 'a', size: { width: 1, height: 1 } }, {}, { driver, policy })).toEqual({
    revert: [],
    report: ['color'],
    ignore: ['size'],
  })
  expect(driftOf({ color: 'a', size: { width: 1, height: 1 } }, { size: {} }, { driver, policy })).toEqual({
    revert: ['size.width'],
    report: ['color'],
    ignore: ['size.height'],
  })
  expect(driftOf(1, 2, { driver: { diff: () => ['b', 'a', 'b'] }, policy }).report).toEqual(['a', 'b'])
})

test('driftOf: a state never differs from itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(driftOf(value, structuredClone(value), { driver, policy: basePolicy() }).revert).toEqual([])
    }),
  )
})
