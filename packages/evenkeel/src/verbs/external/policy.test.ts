import fc from 'fast-check'
import { expect, test } from 'vitest'
import { annotationPrefix, basePolicy, driftOf, PolicyError, policyFor, settingsOf } from './policy.ts'

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

test('settingsOf has its defaults, and checks its options to the limit', () => {
  expect(settingsOf({ instance: 'here' } as never)).toMatchObject({
    callTimeoutMs: 20_000,
    maxAgeMs: 3_600_000,
    missingPercentMax: 50,
    manual: false,
    track: false,
  })
  const refused: readonly (readonly [object, string])[] = [
    [{ instance: 'Here' }, 'instance must be at most 20 lower-case letters'],
    [{ callTimeoutMs: 0 }, 'callTimeoutMs must be above 0, got 0'],
    [{ callTimeoutMs: Infinity }, 'callTimeoutMs must be above 0, got Infinity'],
    [{ missingPercentMax: -1 }, 'missingPercentMax must be from 0 to 100, got -1'],
    [{ missingPercentMax: 100.5 }, 'missingPercentMax must be from 0 to 100, got 100.5'],
    [{ use: 'exclusive' }, "use: 'exclusive' needs a scope"],
    [{ use: 'exclusive', scope: '' }, "use: 'exclusive' needs a scope"],
    [{ scope: 'x' }, "scope is for use: 'exclusive' only"],
    [{ secret: '' }, 'secret must not be empty'],
    [{ maxAgeMs: 1 }, 'maxAgeMs must be at least pollIntervalMs'],
  ]
  for (const [options, message] of refused)
    expect(() => settingsOf({ instance: 'here', ...options } as never)).toThrow(message)
  const allowed: readonly object[] = [{ missingPercentMax: 0 }, { missingPercentMax: 100 }, { callTimeoutMs: 0.5 }]
  for (const options of allowed) expect(() => settingsOf({ instance: 'here', ...options } as never)).not.toThrow()
})

test('driftOf compares fields to a depth of 32, and what is deeper as a whole', () => {
  const nested = (depth: number, value: number): object =>
    depth === 0 ? { a: value, b: 1 } : { x: nested(depth - 1, value) }
  const driver = {}
  const policy = { drift: 'report', driftPaths: {} } as const
  const paths = (depth: number): readonly string[] =>
    driftOf(nested(depth, 1), nested(depth, 2), { driver, policy }).report
  const path = (depth: number): string => Array.from({ length: depth }, () => 'x').join('.')
  expect(paths(2)).toEqual(['x.x.a'])
  expect(paths(31)).toEqual([`${path(31)}.a`])
  expect(paths(32)).toEqual([path(32)])
})
