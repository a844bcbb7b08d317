import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { SchemaNode } from '../schema/schema.ts'
import { applyConfiguration } from './apply-configuration.ts'
import { managedFieldsAfterUpdate } from './track-update.ts'
import { fieldManagementSchema, wouldApplyChange } from './would-apply-change.ts'

const text: SchemaNode = { type: 'string' }
const port: SchemaNode = {
  type: 'object',
  required: ['port'],
  properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: text },
}
const schema: SchemaNode = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 1 },
        name: text,
        notes: { type: 'object', additionalProperties: text },
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        args: { type: 'array', items: text },
        ports: {
          type: 'array',
          items: port,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
        },
      },
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}

const config = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.io/v1',
  kind: 'Thing',
  metadata: { name: 't', ...metadata },
  spec,
})
const request = { apiVersion: 'example.io/v1', kind: 'Thing', schema: fieldManagementSchema(schema), nowMs: 0 }

/** What a server would hold after an apply; defaults are filled in by hand. */
function liveOf(
  spec: JsonObject,
  { metadata = {}, defaults = {} }: { metadata?: JsonObject; defaults?: JsonObject } = {},
): JsonObject {
  const applied = applyConfiguration({
    ...request,
    manager: 'm',
    live: undefined,
    config: config(spec, metadata),
    force: false,
  })
  return {
    ...applied,
    metadata: { ...(applied['metadata'] as JsonObject), uid: 'u', resourceVersion: '7' },
    spec: { size: 1, ...spec, ...defaults },
  }
}

const both = (live: JsonObject, wanted: JsonObject, manager = 'm'): [exact: boolean, careful: boolean] => [
  wouldApplyChange(live, wanted, { manager, schema }),
  wouldApplyChange(live, wanted, { manager }),
]

describe('wouldApplyChange', () => {
  const spec = {
    name: 'n',
    notes: { a: '1', b: '2' },
    whole: { x: '1' },
    tags: ['p', 'q'],
    args: ['-a'],
    ports: [
      { port: 80, name: 'http' },
      { port: 81, protocol: 'UDP' },
    ],
  }
  const live = liveOf(spec, {
    metadata: { labels: { l: '1' } },
    defaults: {
      ports: [
        { port: 80, protocol: 'TCP', name: 'http' },
        { port: 81, protocol: 'UDP' },
      ],
    },
  })
  const wanted = (more: JsonObject = {}): JsonObject => config({ ...spec, ...more }, { labels: { l: '1' } })

  test('no, when everything is owned and as it is', () => {
    assert.deepEqual(both(live, wanted()), [false, false])
    assert.deepEqual(both(live, config(spec, { labels: { l: '1' }, uid: 'u', resourceVersion: '7' })), [false, false])
  })

  test.each<[string, JsonObject]>([
    ['a value', { name: 'other' }],
    ['a value of a map', { notes: { a: '1', b: '3' } }],
    ['one field more', { size: 2 }],
    ['a default that is said', { size: 1 }],
    ['an item less', { tags: ['p'] }],
    ['an item more', { tags: ['p', 'q', 'r'] }],
    ['another order', { tags: ['q', 'p'] }],
    ['an atomic list', { args: ['-b'] }],
    ['an atomic map', { whole: { x: '1', y: '2' } }],
    [
      'a key',
      {
        ports: [
          { port: 80, name: 'http' },
          { port: 81, protocol: 'TCP' },
        ],
      },
    ],
    [
      'a key that is said',
      {
        ports: [
          { port: 80, protocol: 'TCP', name: 'http' },
          { port: 81, protocol: 'UDP' },
        ],
      },
    ],
    [
      'a field of an item',
      {
        ports: [
          { port: 80, name: 'web' },
          { port: 81, protocol: 'UDP' },
        ],
      },
    ],
    ['a map that is emptied', { notes: {} }],
    ['null', { name: null }],
    ['what fits no schema', { nowhere: 1 }],
  ])('yes, for %s', (_, change) => {
    assert.deepEqual(both(live, wanted(change)), [true, true])
  })

  test('no, for an item without one of its keys, which has no default', () => {
    const item = { '.': {}, 'f:port': {} }
    const entry = {
      manager: 'm',
      operation: 'Apply',
      apiVersion: 'example.io/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":null}': item, 'k:{"port":81,"protocol":null}': item } },
      },
    }
    const ports = [{ port: 80 }, { port: 81 }]
    const stored = config({ ports }, { uid: 'u', resourceVersion: '7', managedFields: [entry] })
    const changes = (wanted: JsonObject[], there = stored): boolean =>
      wouldApplyChange(there, config({ ports: wanted }), { manager: 'm' })
    assert.equal(changes(ports), false)
    assert.equal(changes([{ port: 81 }, { port: 80 }]), true)
    const twice = config({ ports: [...ports, { port: 81 }] }, { ...(stored['metadata'] as JsonObject) })
    assert.equal(changes(ports, twice), true)
  })

  test('yes, for a field that is dropped, another manager, another object', () => {
    const { name: _, ...less } = spec
    assert.deepEqual(both(live, config(less, { labels: { l: '1' } })), [true, true])
    assert.deepEqual(both(live, wanted(), 'other'), [true, true])
    assert.deepEqual(both(live, { ...wanted(), metadata: { name: 'x', labels: { l: '1' } } }), [true, true])
    assert.deepEqual(both(live, config(spec, { labels: { l: '1' }, uid: 'x' })), [true, true])
    assert.deepEqual(both(live, { ...wanted(), apiVersion: 'example.io/v2' }), [true, true])
  })

  test('yes, where nobody was tracked, and where another one changed what is wanted', () => {
    assert.deepEqual(both({ ...live, metadata: { name: 't' } }, wanted()), [true, true])
    const next = { ...live, spec: { ...(live['spec'] as JsonObject), name: 'other' } }
    const taken = {
      ...next,
      metadata: {
        ...(live['metadata'] as JsonObject),
        managedFields: managedFieldsAfterUpdate({ ...request, manager: 'x', live, next }) as never,
      },
    }
    assert.deepEqual(both(taken, wanted()), [true, true])
  })

  test('an empty configuration of nobody changes nothing', () => {
    assert.deepEqual(both(live, { apiVersion: 'example.io/v1', kind: 'Thing', metadata: { name: 't' } }, 'other'), [
      false,
      false,
    ])
  })

  test('a status in a configuration for the object counts for nothing, if one knows that it has an endpoint', () => {
    const extra = { ...wanted(), status: { ready: true } }
    assert.deepEqual(both(live, extra), [false, true])
    assert.equal(wouldApplyChange(live, extra, { manager: 'm', schema, hasStatus: false }), true)
    assert.equal(wouldApplyChange(live, extra, { manager: 'm', schema, subresource: 'status' }), true)
  })

  test('kubectl keeps an annotation up to date, so it had better ask', () => {
    const annotated = liveOf(
      { name: 'n' },
      { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } } },
    )
    assert.equal(wouldApplyChange(annotated, config({ name: 'n' }), { manager: 'kubectl' }), true)
  })
})
