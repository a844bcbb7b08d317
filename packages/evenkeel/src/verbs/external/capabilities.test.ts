import { expect, test } from 'vitest'
import {
  chooseStrategy,
  describeStrategy,
  ExternalError,
  failureOf,
  retryAfterOf,
  type Capabilities,
} from './driver.ts'

const list = async function* list(): AsyncGenerator<never[]> {
  yield await Promise.resolve([])
}

interface Case {
  readonly list?: boolean
  readonly identify?: boolean
  readonly hasCheckpoint?: boolean
  readonly gives: string
}

test.each<[string, Capabilities, Case]>([
  ['derived names', { ids: 'deterministic' }, { gives: 'S1' }],
  [
    'names of the author, with labels',
    { ids: 'deterministic', labels: 'atomicOnCreate' },
    { identify: true, gives: 'S2' },
  ],
  ['names of the author, without labels', { ids: 'deterministic' }, { identify: true, gives: 'S4' }],
  ['labels and a list', { labels: 'atomicOnCreate' }, { list: true, gives: 'S2' }],
  ['labels without a list', { labels: 'atomicOnCreate' }, { gives: 'S4' }],
  ['labels that are set after the create call', { labels: 'afterCreate' }, { list: true, gives: 'S4' }],
  ['tokens', { idempotent: 'byToken' }, { gives: 'S3' }],
  ['nothing', {}, { gives: 'S4' }],
  ['nothing, and a checkpoint', {}, { hasCheckpoint: true, gives: 'S5' }],
])(
  'chooseStrategy: %s',
  (_, capabilities, { list: hasList = false, identify = false, hasCheckpoint = false, gives }) => {
    const chosen = chooseStrategy(
      { capabilities, ...(hasList && { list }), ...(identify && { identify: () => 'x' }) },
      { hasCheckpoint },
    )
    expect(chosen).toBe(gives)
    expect(describeStrategy(chosen)).not.toBe('')
  },
)

test.each([
  [404, 'absent'],
  [410, 'absent'],
  [429, 'throttled'],
  [400, 'refused'],
  [401, 'refused'],
  [409, 'refused'],
  [408, 'unknown'],
  [500, 'unknown'],
  [503, 'unknown'],
] as const)('failureOf %d is %s, wherever the status is', (status, failure) => {
  expect(failureOf(new ExternalError('x', { status }))).toBe(failure)
  expect(failureOf(Object.assign(new Error('x'), { statusCode: status }))).toBe(failure)
  expect(failureOf({ code: status })).toBe(failure)
})

test('failureOf and retryAfterOf: an error without a status is unknown', () => {
  for (const error of [
    new Error('reset'),
    Object.assign(new Error('x'), { code: 'ECONNRESET' }),
    undefined,
    null,
    'text',
    { status: 'bad' },
    { status: 9 },
  ])
    expect(failureOf(error)).toBe('unknown')
  expect(retryAfterOf(new ExternalError('x', { status: 429, retryAfterMs: 1e12 }))).toBe(3_600_000)
  expect(retryAfterOf({ retryAfterMs: -1 })).toBeUndefined()
  expect(retryAfterOf(undefined)).toBeUndefined()
})
