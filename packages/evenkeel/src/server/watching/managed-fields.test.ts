import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { Unstamped } from '../storage/bytes.ts'
import { findManagedFields } from './managed-fields.ts'

const fields = fc.dictionary(fc.oneof(fc.constantFrom('labels', 'managedFields', 'uid', '__proto__'), fc.string()), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })

test('findManagedFields cuts exactly the managed fields of the metadata out', () => {
  fc.assert(fc.property(fields, fields, fc.boolean(), (metadata, rest, isManaged) => {
    const { managedFields: _, ...others } = metadata
    const object = { ...rest, apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', ...isManaged ? { ...others, managedFields: [{ time: ']"}' }] } : others } } as unknown as JsonObject
    const bytes = new Unstamped(object).stamped(7)
    const { start, end } = findManagedFields(bytes)
    expect(end > start).toBe(isManaged)
    const left = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]).toString()
    expect(JSON.parse(left)).toEqual(JSON.parse(JSON.stringify({ ...rest, apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', ...others, resourceVersion: '7' } })))
  }))
})

test('findManagedFields leaves alone what does not look as expected', () => {
  for (const text of ['', '{}', '{"metadata":{', '{"metadata":{}}', '{"metadata":{"managedFields":[]}}', '{"metadata":{"name":1, "managedFields":[]}}', '{"metadata":{"name":"x","managedFields":[']) {
    expect(findManagedFields(Buffer.from(text))).toEqual({ start: 0, end: 0 })
  }
})
