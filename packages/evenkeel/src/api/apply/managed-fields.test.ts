import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { ManagedFieldsEntry } from '../object.ts'
import { apply, run } from './apply-sequences.fixture.ts'
import { upgradeManagers } from './client-side-apply.ts'
import { extractOwned } from './extract.ts'
import { decodeManagedFields, encodeManagedFields, identityOf, managedFieldsError } from './managed-fields.ts'
import { fromScaleEntries, toScaleEntries } from './scale.ts'
import { gardenSchema } from './schemas.fixture.ts'

const entry = (manager: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  ...more,
})

describe('decodeManaged and encodeManaged', () => {
  test('sort by operation, time, name, version and subresource', () => {
    const sorted = [
      entry('z', { operation: 'Apply' }),
      entry('a', { operation: 'Apply', time: '2001-01-01T00:00:02Z' }),
      entry('n'),
      entry('b', { time: '2001-01-01T00:00:01Z' }),
      entry('b', { time: '2001-01-01T00:00:01Z', subresource: 'status' }),
      entry('c', { time: '2001-01-01T00:00:01Z' }),
      entry('c', { time: '2001-01-01T00:00:01Z', apiVersion: 'apps/v2' }),
      entry('a', { time: '2001-01-01T01:00:02+01:00' }),
      entry('d', { time: '2001-01-01T00:00:02Z' }),
    ]
    assert.deepEqual(encodeManagedFields(decodeManagedFields([...sorted].reverse())), sorted)
  })

  test('give back the very list when it is sorted and nothing changed', () => {
    const entries = [entry('a'), entry('b')]
    assert.equal(encodeManagedFields(decodeManagedFields(entries)), entries)
  })

  test('read entries that are written alike as one', () => {
    const [first, second] = [
      decodeManagedFields([entry('a', { time: '2001-01-01T00:00:01Z' })]),
      decodeManagedFields([entry('a')]),
    ]
    assert.equal(first.managers.get(identityOf(entry('a'))), second.managers.get(identityOf(entry('a'))))
    const other = decodeManagedFields([entry('a', { fieldsV1: { 'f:spec': {} } })])
    assert.notEqual(first.managers.get(identityOf(entry('a'))), other.managers.get(identityOf(entry('a'))))
    assert.equal(decodeManagedFields([entry('x y')]).managers.has(identityOf(entry('x y'))), true)
  })

  test('nobody is no list', () => {
    assert.equal(encodeManagedFields(decodeManagedFields([])), undefined)
    assert.equal(encodeManagedFields(decodeManagedFields(undefined)), undefined)
  })

  test('an applier is the same in every version, an updater is not', () => {
    assert.equal(
      identityOf(entry('a', { operation: 'Apply' })),
      identityOf(entry('a', { operation: 'Apply', apiVersion: 'apps/v2' })),
    )
    assert.notEqual(identityOf(entry('a')), identityOf(entry('a', { apiVersion: 'apps/v2' })))
    assert.notEqual(identityOf(entry('a')), identityOf(entry('a', { subresource: 'status' })))
  })

  test('managedFieldsMistake tells what is wrong with a list, if anything is', () => {
    assert.equal(managedFieldsError([entry('a')]), undefined)
    assert.equal(managedFieldsError(undefined), undefined)
    assert.equal(
      managedFieldsError([entry('a'), { manager: 'b', operation: 'Update', apiVersion: 'v1' }]),
      'missing fieldsType in managed fields entry 1',
    )
    assert.equal(managedFieldsError([entry('a', { fieldsV1: { broken: {} } })]), 'missing colon: broken')
  })

  test('an entry without fields is an empty one', () => {
    const { fieldsV1: _, ...bare } = entry('a')
    assert.equal(decodeManagedFields([bare]).managers.get(identityOf(bare))?.set.isEmpty, true)
  })
})

describe('scale', () => {
  const paths = new Map([
    ['apps/v1', ['spec', 'replicas']],
    ['apps/v2', null],
  ])
  const more = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }
  const scaled = (manager: string, extra: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry =>
    entry(manager, { apiVersion: 'autoscaling/v1', ...extra })

  test('shows those who own the count, and only that', () => {
    const parent = [
      entry('a', { fieldsV1: more }),
      entry('b', { fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry('c', { apiVersion: 'apps/v9' }),
      entry('d', { apiVersion: 'apps/v2' }),
    ]
    assert.deepEqual(toScaleEntries(parent, paths), [scaled('a')])
  })

  test('who scales takes the count from who had it', () => {
    const parent = [entry('a', { operation: 'Apply', fieldsV1: more })]
    const scale = [scaled('hpa', { subresource: 'scale' })]
    assert.deepEqual(fromScaleEntries({ parent, scale, apiVersion: 'apps/v1' }, paths), [
      entry('a', { operation: 'Apply', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry('hpa', { subresource: 'scale' }),
    ])
  })

  test('who had nothing but the count is gone, who still has it is left alone, unknown versions are dropped', () => {
    const parent = [
      entry('a'),
      entry('b'),
      entry('c', { apiVersion: 'apps/v9' }),
      entry('d', { apiVersion: 'apps/v2' }),
    ]
    assert.deepEqual(
      fromScaleEntries(
        { parent, scale: [scaled('x'), { ...scaled('y'), fieldsV1: { 'f:spec': {} } }], apiVersion: 'apps/v1' },
        paths,
      ),
      [entry('d', { apiVersion: 'apps/v2' }), entry('x')],
    )
    const kept = [entry('a', { fieldsV1: more })]
    assert.equal(
      fromScaleEntries(
        {
          parent: kept,
          scale: toScaleEntries(kept, new Map([['apps/v1', ['spec', 'replicas']]])),
          apiVersion: 'apps/v1',
        },
        paths,
      )?.length,
      2,
    )
  })
})

describe('upgradeManagers', () => {
  const fields = (name: string): JsonObject => ({ [`f:${name}`]: {} })

  test('an updater becomes an applier', () => {
    const entries = [entry('other'), entry('csa', { fieldsV1: fields('a'), time: '2001-01-01T00:00:00Z' })]
    assert.deepEqual(upgradeManagers(entries, { from: 'csa', to: 'ssa' }), [
      entry('other'),
      entry('ssa', { operation: 'Apply', fieldsV1: fields('a'), time: '2001-01-01T00:00:00Z' }),
    ])
  })

  test('what it owned is united with what its successor owns, if of one version', () => {
    const entries = [
      entry('ssa', { operation: 'Apply', fieldsV1: fields('b') }),
      entry('csa', { fieldsV1: fields('a') }),
      entry('csa', { apiVersion: 'apps/v2', fieldsV1: fields('c') }),
    ]
    assert.deepEqual(upgradeManagers(entries, { from: 'csa', to: 'ssa' }), [
      entry('ssa', { operation: 'Apply', fieldsV1: { ...fields('a'), ...fields('b') } }),
    ])
  })

  test('other subresources and operations are left alone', () => {
    const entries = [entry('csa', { operation: 'Apply' }), entry('csa', { subresource: 'status' })]
    assert.equal(upgradeManagers(entries, { from: 'csa', to: 'ssa' }), entries)
    assert.deepEqual(
      upgradeManagers(entries, { from: 'csa', to: 'ssa' }, { subresource: 'status' })[1],
      entry('ssa', { operation: 'Apply', subresource: 'status' }),
    )
  })
})

describe('extractOwned', () => {
  const { object } = run([
    apply('a', { size: 1, beds: [{ name: 'x', rows: 1 }], bees: ['p'], plants: ['q'] }),
    apply('b', { name: 'n', beds: [{ name: 'x', soil: { kind: 'k' } }] }),
  ])

  test('reads out what a manager applied', () => {
    assert.deepEqual(extractOwned(object, 'b', { schema: gardenSchema }), {
      apiVersion: 'example.io/v1',
      kind: 'Garden',
      metadata: { name: 'g' },
      name: 'n',
      beds: [{ name: 'x', soil: { kind: 'k' } }],
    })
    assert.deepEqual(extractOwned(object, 'a', { schema: gardenSchema }), {
      apiVersion: 'example.io/v1',
      kind: 'Garden',
      metadata: { name: 'g' },
      size: 1,
      beds: [{ name: 'x', rows: 1 }],
      bees: ['p'],
      plants: ['q'],
    })
  })

  test('of a manager that applied nothing is only the name', () => {
    assert.deepEqual(extractOwned(object, 'c'), {
      apiVersion: 'example.io/v1',
      kind: 'Garden',
      metadata: { name: 'g' },
    })
    assert.deepEqual(extractOwned(object, 'a', { subresource: 'status' }), {
      apiVersion: 'example.io/v1',
      kind: 'Garden',
      metadata: { name: 'g' },
    })
  })
})
