import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import { isApiError, type ApiError } from '../errors/api-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { applyConfiguration, type ApplyRequest } from './apply-configuration.ts'
import { apply, force, run, startMs, update } from './apply-sequences.fixture.ts'
import { entriesOf, excludeFields, type ConvertedObject } from './field-manager.ts'
import { garden, gardenSchema, schemaOf } from './schemas.fixture.ts'
import { trackUpdate } from './track-update.ts'

const apiVersion = 'example.io/v1'
const base = {
  manager: 'a',
  apiVersion,
  kind: 'Garden',
  nowMs: startMs,
  schema: gardenSchema,
  live: undefined,
  force: false,
}
const config = (content: JsonObject, metadata: JsonObject = {}): JsonObject =>
  deepFreeze({ apiVersion, kind: 'Garden', metadata: { name: 'g', ...metadata }, ...content })

function refusal(request: Partial<ApplyRequest>): ApiError {
  try {
    applyConfiguration({ ...base, config: config({}), ...request })
  } catch (error) {
    if (isApiError(error)) return error
    throw error
  }
  return assert.fail('was not refused')
}

describe('applyConfiguration', () => {
  test('creates what is not there', () => {
    const object = applyConfiguration({ ...base, config: config({ size: 1 }, { labels: { l: '1' } }) })
    assert.deepEqual(object, {
      apiVersion,
      kind: 'Garden',
      size: 1,
      metadata: {
        name: 'g',
        labels: { l: '1' },
        managedFields: [
          {
            manager: 'a',
            operation: 'Apply',
            apiVersion,
            time: '2001-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:metadata': { 'f:labels': { 'f:l': {} } }, 'f:size': {} },
          },
        ],
      },
    })
  })

  test('gives back the live object itself when nothing changes', () => {
    const live = deepFreeze(
      applyConfiguration({ ...base, config: config({ size: 1, beds: [{ name: 'x' }], bees: ['p'] }) }),
    )
    assert.equal(
      applyConfiguration({
        ...base,
        live,
        nowMs: startMs + 9000,
        config: config({ bees: ['p'], beds: [{ name: 'x' }], size: 1 }),
      }),
      live,
    )
  })

  test('who shares values without changing anything gets an entry without a time', () => {
    const live = applyConfiguration({ ...base, config: config({ size: 1 }) })
    const object = applyConfiguration({ ...base, live, manager: 'b', config: config({ size: 1 }) })
    assert.deepEqual(
      entriesOf(object)?.map(({ manager, time }) => [manager, time]),
      [
        ['b', undefined],
        ['a', '2001-01-01T00:00:00Z'],
      ],
    )
  })

  test('what was there before the first apply has a manager of its own', () => {
    const live = config({ size: 1, name: 'n' })
    const error = refusal({ live, config: config({ size: 2 }) })
    assert.equal(
      error.message,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.io/v1: .size',
    )
    const object = applyConfiguration({ ...base, live, config: config({ size: 1 }) })
    assert.deepEqual(
      entriesOf(object)?.map(({ manager, operation }) => [manager, operation]),
      [
        ['a', 'Apply'],
        ['before-first-apply', 'Update'],
      ],
    )
  })

  test('the first apply accepts an object with duplicates in a set', () => {
    const live = config({ bees: ['a', 'a', 'b'] })
    const object = applyConfiguration({ ...base, live, config: config({ size: 1 }) })
    assert.deepEqual(object['bees'], ['a', 'a', 'b'])
  })

  test('a conflict carries one cause per field', () => {
    const live = applyConfiguration({ ...base, config: config({ size: 1, beds: [{ name: 'x', rows: 1 }] }) })
    const error = refusal({ live, manager: 'b', config: config({ size: 2, beds: [{ name: 'x', rows: 2 }] }) })
    assert.equal(error.code, 409)
    assert.deepEqual(error.causes, [
      { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.size' },
      { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.beds[name="x"].rows' },
    ])
    assert.equal(error.message, 'Apply failed with 2 conflicts: conflicts with "a":\n- .size\n- .beds[name="x"].rows')
  })

  test('a conflict names subresource and version of who updated', () => {
    const { refusal: message } = run([
      update('k', { status: { phase: 'p' } }, { subresource: 'status' }),
      apply('a', { status: { phase: 'q' } }),
    ])
    assert.equal(
      message,
      'Apply failed with 1 conflict: conflict with "k" with subresource "status" using example.io/v1: .status.phase',
    )
  })

  const refusals: [name: string, request: Partial<ApplyRequest>, code: number, message: string][] = [
    ['another kind', { config: { ...config({}), kind: 'Bed' } }, 400, 'invalid object type: example.io/v1, Kind=Bed'],
    ['another version', { config: { ...config({}), apiVersion: 'v2' } }, 400, 'invalid object type: /v2, Kind=Garden'],
    ['no type', { config: { metadata: {} } }, 400, 'invalid object type: /, Kind='],
    [
      'a version with slashes',
      { config: { ...config({}), apiVersion: 'a/b/c' } },
      400,
      'invalid object type: /, Kind=Garden',
    ],
    ['managed fields', { config: config({}, { managedFields: [] }) }, 400, 'metadata.managedFields must be nil'],
    [
      'a wrong value',
      { config: config({ size: 'big' }, { namespace: 'n' }) },
      500,
      'failed to create typed patch object (n/g; example.io/v1, Kind=Garden): .size: expected numeric (int or float), got string',
    ],
    [
      'broken managed fields in the live object',
      { live: config({}, { managedFields: [{ manager: 'x', operation: 'Sow' }] }) },
      500,
      'failed to decode managed fields: operation must be `Apply` or `Update`',
    ],
    [
      'a live object that is not tracked and does not fit',
      { live: config({ beds: [{}] }) },
      500,
      'failed to create manager for existing fields: failed to convert new object (/g; example.io/v1, Kind=Garden) to smd typed: .beds: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      'a live object that does not fit',
      {
        live: config(
          { beds: [{}] },
          {
            managedFields: [
              { manager: 'x', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { 'f:name': {} } },
            ],
          },
        ),
        config: config({ beds: [{ name: 'x' }] }),
      },
      500,
      'failed to create typed live object (/g; example.io/v1, Kind=Garden): .beds: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
  ]
  test.each(refusals)('refuses %s', (_, ...[request, code, message]) => {
    const error = refusal(request)
    assert.equal(error.code, code)
    assert.equal(error.message, message)
  })

  test('managedFields: null is as good as none', () => {
    assert.equal(applyConfiguration({ ...base, config: config({ size: 1 }, { managedFields: null }) })['size'], 1)
  })

  test('spec fields in an apply to status are neither owned nor pruned later', () => {
    const status = { filter: excludeFields(['size']), subresource: 'status' }
    const { owners } = run([apply('a', { size: 1 }), force('a', { size: 5, status: { phase: 'p' } }, status)])
    assert.deepEqual(owners, { a: ['.size'], 'a/status': ['.status.phase'] })
  })
})

/** Version v2 calls `size` `area`. */
const properties = { ...garden.properties }
const { size = {}, ...others } = properties
const second = schemaOf({ ...garden, properties: { ...others, area: size } as Record<string, SchemaNode> })
const schemas = { v1: gardenSchema, v2: second }

function convert(object: JsonObject, to: string): ConvertedObject | undefined {
  const version = to.slice(to.indexOf('/') + 1)
  if (version !== 'v1' && version !== 'v2') return undefined
  const { size: old, area, ...rest } = object
  const value = old ?? area
  return {
    object: { ...rest, apiVersion: to, ...(value !== undefined && { [version === 'v1' ? 'size' : 'area']: value }) },
    schema: schemas[version],
  }
}

describe('managers of several versions', () => {
  /** Brings the live object to the version of the next step, as a server does. */
  const at = (version: 'v1' | 'v2', object: JsonObject): JsonObject =>
    convert(object, `example.io/${version}`)?.object ?? {}

  test('a field keeps its owner under another name', () => {
    const live = applyConfiguration({ ...base, convert, config: config({ size: 1 }) })
    const error = refusal({
      convert,
      live: at('v2', live),
      manager: 'b',
      apiVersion: 'example.io/v2',
      schema: second,
      config: { ...config({}), apiVersion: 'example.io/v2', area: 2 },
    })
    assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "a": .size')
  })

  test('an applier that moves to another version prunes in the old one', () => {
    const live = applyConfiguration({ ...base, convert, config: config({ size: 1, name: 'n' }) })
    const moved = applyConfiguration({
      ...base,
      convert,
      live: at('v2', live),
      apiVersion: 'example.io/v2',
      schema: second,
      config: { ...config({ name: 'n' }), apiVersion: 'example.io/v2' },
    })
    assert.equal(moved['area'], undefined)
    assert.deepEqual(
      entriesOf(moved)?.map(({ manager, apiVersion: version, fieldsV1 }) => [manager, version, fieldsV1]),
      [['a', 'example.io/v2', { 'f:name': {} }]],
    )
  })

  test('an updater is another manager in another version', () => {
    const request = { manager: 'm', nowMs: startMs, convert }
    const live = trackUpdate({
      ...request,
      apiVersion,
      schema: gardenSchema,
      live: undefined,
      next: config({ size: 1, name: 'n' }),
    })
    const next = { ...config({ name: 'o' }), apiVersion: 'example.io/v2', area: 2 }
    const object = trackUpdate({ ...request, apiVersion: 'example.io/v2', schema: second, live: at('v2', live), next })
    assert.deepEqual(
      entriesOf(object)?.map(({ apiVersion: version, fieldsV1 }) => [version, fieldsV1]),
      [['example.io/v2', { 'f:area': {}, 'f:name': {} }]],
    )
    const half = trackUpdate({
      ...request,
      apiVersion: 'example.io/v2',
      schema: second,
      live: at('v2', live),
      next: { ...next, name: 'n' },
    })
    assert.deepEqual(
      entriesOf(half)?.map(({ apiVersion: version, fieldsV1 }) => [version, fieldsV1]),
      [
        ['example.io/v1', { 'f:name': {} }],
        ['example.io/v2', { 'f:area': {} }],
      ],
    )
  })

  test('what others own in another version is not pruned', () => {
    const live = applyConfiguration({ ...base, convert, config: config({ size: 1 }) })
    const shared = applyConfiguration({
      ...base,
      convert,
      manager: 'b',
      live: at('v2', live),
      apiVersion: 'example.io/v2',
      schema: second,
      config: { ...config({}), apiVersion: 'example.io/v2', area: 1 },
    })
    const left = applyConfiguration({ ...base, convert, live: at('v1', shared), config: config({}) })
    assert.equal(left['size'], 1)
    assert.deepEqual(
      entriesOf(left)?.map(({ manager }) => manager),
      ['b'],
    )
  })

  test('an applier of an obsolete version is forgotten, and what it applied stays', () => {
    const entry = {
      manager: 'old',
      operation: 'Apply',
      apiVersion: 'example.io/v0',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:size': {} },
    }
    const live = config({ size: 1 }, { managedFields: [entry] })
    const object = applyConfiguration({ ...base, convert, live, manager: 'old', config: config({ name: 'n' }) })
    assert.equal(object['size'], 1)
    assert.deepEqual(
      entriesOf(object)?.map(({ manager, apiVersion: version }) => [manager, version]),
      [['old', apiVersion]],
    )
  })
})
