import { expect, test } from 'vitest'
import { columnsFor } from '@evenkeel/builtins'
import { makeTable, metadataListOnly, metadataOnly } from './table.ts'

const nowMs = 1_767_225_660_000
const metadata = {
  name: 'settings',
  namespace: 'default',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { a: 'b' },
  resourceVersion: '7',
}
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1', b: '2' } }
const columns = columnsFor('', 'ConfigMap')
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }

test('makeTable gives columns, a row per object, and the metadata of each', () => {
  const table = makeTable({
    columns,
    objects: [configMap, configMap],
    nowMs,
    listMeta: { resourceVersion: '9', continue: 'more' },
  })
  expect(Object.keys(table)).toEqual(['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows'])
  expect(table).toMatchObject({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9', continue: 'more' },
  })
  expect(table.columnDefinitions?.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual([
    ['Name', 'string', 'name', 0],
    ['Data', 'string', '', 0],
    ['Age', 'string', '', 0],
  ])
  expect(table.columnDefinitions?.every(({ description }) => description.length > 0)).toBe(true)
  expect(table.rows).toEqual([
    { cells: ['settings', 2, '60s'], object: partial },
    { cells: ['settings', 2, '60s'], object: partial },
  ])
})

test('makeTable of nothing has no rows and still has columns', () => {
  const table = makeTable({ columns, objects: [], nowMs })
  expect([table.rows, table.metadata, table.columnDefinitions?.length]).toEqual([[], {}, 3])
})

test('makeTable includes as much of the object as asked for', () => {
  const shown = (request: object): unknown =>
    makeTable({ columns, objects: [configMap], nowMs, ...request }).rows[0]?.object
  expect(shown({ includeObject: 'Metadata' })).toEqual(partial)
  expect(shown({ includeObject: 'Object' })).toBe(configMap)
  expect(shown({ includeObject: 'None' })).toBeNull()
})

test('makeTable keeps the metadata of the bookmark that ends the initial events', () => {
  const bookmark = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
  }
  const table = makeTable({ columns, objects: [bookmark], nowMs, includeObject: 'None' })
  expect(table.rows).toEqual([{ cells: ['', 0, '<unknown>'], object: { ...partial, metadata: bookmark.metadata } }])
})

test('makeTable without headers, for all events of a watch but the first', () => {
  const table = makeTable({ columns, objects: [configMap], nowMs, headers: false })
  expect(table.columnDefinitions).toBeNull()
  expect(table.rows).toHaveLength(1)
})

test('makeTable in the older version', () => {
  const table = makeTable({ columns, objects: [configMap], nowMs, version: 'v1beta1' })
  expect([table.apiVersion, table.rows[0]?.object?.apiVersion]).toEqual(['meta.k8s.io/v1beta1', 'meta.k8s.io/v1beta1'])
})

test('makeTable marks the rows of pods that have ended', () => {
  const objects = ['Running', 'Succeeded', 'Failed'].map((phase) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    status: { phase },
  }))
  const { rows } = makeTable({ columns: columnsFor('', 'Pod'), objects, nowMs })
  expect(rows.map(({ conditions }) => conditions?.map(({ type, status, reason }) => [type, status, reason]))).toEqual([
    undefined,
    [['Completed', 'True', 'Succeeded']],
    [['Completed', 'True', 'Failed']],
  ])
})

test('metadataOnly keeps the metadata and nothing else', () => {
  expect(metadataOnly(configMap)).toEqual(partial)
  expect(metadataOnly(configMap).metadata).toBe(metadata)
  expect(metadataOnly(configMap, { version: 'v1beta1' }).apiVersion).toBe('meta.k8s.io/v1beta1')
})

test('metadataListOnly makes a list of partial objects', () => {
  expect(metadataListOnly([configMap], { metadata: { resourceVersion: '9' } })).toEqual({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    items: [partial],
  })
  expect(metadataListOnly([], { version: 'v1beta1' })).toEqual({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: {},
    items: [],
  })
})
