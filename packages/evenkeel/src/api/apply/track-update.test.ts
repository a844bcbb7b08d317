import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import type { ManagedFieldsEntry } from '../object.ts'
import { apply, run, startMs, update } from './apply-sequences.fixture.ts'
import { entriesOf, excludeFields, includeFields, sameManagers } from './field-manager.ts'
import { gardenSchema } from './schemas.fixture.ts'
import { trackUpdate, type UpdateRequest } from './track-update.ts'

const apiVersion = 'example.io/v1'
const request = { manager: 'm', apiVersion, nowMs: startMs, schema: gardenSchema }
const garden = (content: JsonObject, metadata: JsonObject = {}): JsonObject =>
  deepFreeze({ apiVersion, kind: 'Garden', metadata: { name: 'g', uid: 'u', ...metadata }, ...content })
const track = (live: JsonObject | undefined, next: JsonObject, extra: Partial<UpdateRequest> = {}): JsonObject =>
  trackUpdate({ ...request, live, next, ...extra })
const created = deepFreeze(track(undefined, garden({ name: 'a', size: 1 })))
const managers = (object: JsonObject): string[] => (entriesOf(object) ?? []).map(({ manager = '' }) => manager)

describe('trackUpdate', () => {
  test("a created object is its creator's, without what the server writes", () => {
    const object = track(
      undefined,
      garden(
        { name: 'a' },
        { labels: { l: '1' }, resourceVersion: '1', generation: 1, creationTimestamp: '2001-01-01T00:00:00Z' },
      ),
    )
    assert.deepEqual(entriesOf(object), [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion,
        time: '2001-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:name': {} },
      },
    ])
  })

  test('nothing given is changed', () => {
    const next = garden({ name: 'b' })
    assert.notEqual(track(created, next), next)
    assert.equal(entriesOf(next), undefined)
  })

  test('a write that changes nothing gives back the very list, whatever the client sent', () => {
    const sent = JSON.parse(JSON.stringify(created)) as JsonObject
    assert.equal(entriesOf(track(created, sent, { manager: 'z' })), entriesOf(created))
    assert.equal(
      entriesOf(track(created, garden({ name: 'a', size: 1 }), { manager: 'z', nowMs: startMs + 5000 })),
      entriesOf(created),
    )
    assert.equal(
      entriesOf(track(created, garden({ name: 'a', size: 1 }, { resourceVersion: '9', generation: 4 }))),
      entriesOf(created),
    )
  })

  test('entries nobody touched are given back as they are', () => {
    const object = track(created, garden({ name: 'a', size: 1, open: true }), { manager: 'z' })
    assert.equal(entriesOf(object)?.[0], entriesOf(created)?.[0])
    assert.deepEqual(managers(object), ['m', 'z'])
  })

  test('a second write of one manager adds to its entry and moves its time', () => {
    const object = track(created, garden({ name: 'a', size: 2, open: true }), { nowMs: startMs + 1000 })
    assert.deepEqual(entriesOf(object), [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion,
        time: '2001-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:name': {}, 'f:open': {}, 'f:size': {} },
      },
    ])
  })

  const resets: [name: string, managedFields: JsonObject[] | null, expected: 'kept' | 'none'][] = [
    ['an empty list', [], 'none'],
    ['a list of one empty entry', [{}], 'none'],
    ['null', null, 'kept'],
    [
      'an entry with a wrong operation',
      [{ manager: 'x', operation: 'Grow', apiVersion, fieldsType: 'FieldsV1', fieldsV1: {} }],
      'kept',
    ],
    [
      'an entry without a version',
      [{ manager: 'x', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: {} }],
      'kept',
    ],
    ['an entry without a type of fields', [{ manager: 'x', operation: 'Update', apiVersion, fieldsV1: {} }], 'kept'],
    [
      'an entry with another type of fields',
      [{ manager: 'x', operation: 'Update', apiVersion, fieldsType: 'FieldsV2', fieldsV1: {} }],
      'kept',
    ],
    [
      'an entry with broken fields',
      [{ manager: 'x', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { broken: {} } }],
      'kept',
    ],
  ]
  test.each(resets)('managed fields sent as %s', (_, managedFields, expected) => {
    const object = track(created, garden({ name: 'a', size: 1 }, { managedFields }))
    assert.deepEqual(entriesOf(object), expected === 'kept' ? entriesOf(created) : undefined)
    assert.equal(expected === 'kept' || !('managedFields' in (object['metadata'] as JsonObject)), true)
  })

  test('well-formed managed fields may be edited, but not through a subresource', () => {
    const managedFields: JsonObject[] = [
      { manager: 'x', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { 'f:name': {} } },
    ]
    const next = garden({ name: 'a', size: 1 }, { managedFields })
    assert.deepEqual(managers(track(created, next)), ['x'])
    assert.deepEqual(managers(track(created, next, { subresource: 'status' })), ['m'])
  })

  test('an object that is not tracked stays so', () => {
    assert.equal(entriesOf(track(garden({ name: 'a' }), garden({ name: 'b' }))), undefined)
  })

  test('of two entries of one manager in a live object, the later counts', () => {
    const entry = (fieldsV1: JsonObject): JsonObject => ({
      manager: 'm',
      operation: 'Update',
      apiVersion,
      time: '2001-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1,
    })
    const live = garden({ name: 'a', size: 1 }, { managedFields: [entry({ 'f:name': {} }), entry({ 'f:size': {} })] })
    // Twice: the second result may come from memory.
    for (const _ of [1, 2])
      assert.deepEqual(
        entriesOf(track(live, garden({ name: 'b', size: 1 }), { manager: 'z' }))?.map(({ manager, fieldsV1 }) => [
          manager,
          fieldsV1,
        ]),
        [
          ['m', { 'f:size': {} }],
          ['z', { 'f:name': {} }],
        ],
      )
  })

  test('broken managed fields of a live object are forgotten', () => {
    const live = garden(
      { name: 'a' },
      {
        managedFields: [
          { manager: 'x', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { broken: {} } },
        ],
      },
    )
    assert.equal(entriesOf(track(live, garden({ name: 'b' }))), undefined)
  })

  test('what cannot be walked is not tracked, and the write goes on', () => {
    const object = track(created, garden({ name: 'a', weather: 1 }))
    assert.equal(entriesOf(object), undefined)
    assert.equal(object['weather'], 1)
  })

  test('a manager of a version that is not served is dropped without a word', () => {
    const old: ManagedFieldsEntry = {
      manager: 'old',
      operation: 'Update',
      apiVersion: 'example.io/v0',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:name': {} },
    }
    const live = garden(
      { name: 'a', size: 1 },
      { managedFields: [old, ...(entriesOf(created) ?? [])] as unknown as JsonObject[] },
    )
    assert.deepEqual(managers(track(live, garden({ name: 'a', size: 2 }))), ['m'])
  })

  test('subresources are managers of their own', () => {
    const { owners } = run([
      update('m', { size: 1 }),
      update('m', { size: 1, status: { phase: 'p' } }, { subresource: 'status' }),
    ])
    assert.deepEqual(owners, { 'm*': ['.size'], 'm*/status': ['.status', '.status.phase'] })
  })

  test("fields an endpoint does not write are nobody's", () => {
    const main = excludeFields(['status'])
    const status = excludeFields(['size'], ['metadata', 'labels'])
    const { owners } = run([
      update('m', { size: 1, status: { phase: 'p' } }, { filter: main }),
      update(
        'm',
        { size: 2, status: { phase: 'q' }, metadata: { labels: { l: '1' } } },
        { filter: status, subresource: 'status' },
      ),
    ])
    assert.deepEqual(owners, { 'm*': ['.size'], 'm*/status': ['.status.phase'] })
  })

  test('includeFields leaves in places, what leads there and what lies below', () => {
    const filter = includeFields(['beds', '*', 'soil'], ['size'])
    const { owners } = run([
      update('m', { size: 1, name: 'n', beds: [{ name: 'x', rows: 1, soil: { kind: 'k' } }] }, { filter }),
    ])
    assert.deepEqual(owners, {
      'm*': ['.beds', '.beds[name="x"]', '.beds[name="x"].soil', '.beds[name="x"].soil.kind', '.size'],
    })
  })
})

describe('at most ten managers that update', () => {
  const steps = (count: number): ReturnType<typeof update>[] =>
    Array.from({ length: count }, (_, index) =>
      update(`m${String(index).padStart(2, '0')}`, {
        notes: Object.fromEntries(Array.from({ length: index + 1 }, (__, key) => [`k${key}`, 'v'])),
      }),
    )

  test('ten stay as they are', () => {
    assert.equal(Object.keys(run(steps(10)).owners).length, 10)
  })

  test('the two oldest become ancient changes, with the newer of their times', () => {
    const { owners, object } = run(steps(11))
    assert.equal(Object.keys(owners).length, 10)
    assert.deepEqual(owners['ancient-changes*'], ['.notes', '.notes.k0', '.notes.k1'])
    assert.equal(entriesOf(object)?.[0]?.time, '2001-01-01T00:00:01Z')
  })

  test('ancient changes take in more, and appliers do not count', () => {
    const { owners } = run([
      apply('a', { size: 1 }),
      ...steps(13).map((step) => ({ ...step, object: { ...step.object, size: 1 } })),
    ])
    assert.equal(Object.keys(owners).length, 11)
    assert.deepEqual(owners['ancient-changes*'], ['.notes', '.notes.k0', '.notes.k1', '.notes.k2', '.notes.k3'])
  })
})

describe('sameManagers', () => {
  const entries = entriesOf(created) ?? []
  const later = entries.map((entry) => ({ ...entry, time: '2002-01-01T00:00:00Z' }))

  test('does not mind times', () => {
    assert.equal(sameManagers(entries, later), true)
    assert.equal(sameManagers(entries, entries), true)
    assert.equal(sameManagers(undefined, undefined), true)
  })

  test('minds who, and what', () => {
    assert.equal(sameManagers(entries, [...later, { manager: 'z' }]), false)
    assert.equal(
      sameManagers(
        entries,
        later.map((entry) => ({ ...entry, manager: 'z' })),
      ),
      false,
    )
    assert.equal(
      sameManagers(
        entries,
        later.map((entry) => ({ ...entry, fieldsV1: {} })),
      ),
      false,
    )
    assert.equal(sameManagers(entries, undefined), false)
  })
})
