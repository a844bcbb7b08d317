import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { Unstamped } from '../storage/stored-object.ts'
import { ManagedFieldsFinder } from './managed-fields.ts'

const fields = fc.dictionary(
  fc.oneof(fc.constantFrom('labels', 'managedFields', 'uid', '__proto__'), fc.string()),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 5 },
)

test('ManagedFieldsFinder cuts exactly the managed fields of the metadata out, of one object after the other', () => {
  const one = fc.tuple(fields, fields, fc.constantFrom('Thing', 'Other'), fc.boolean())
  fc.assert(
    fc.property(fc.array(one, { maxLength: 5 }), (several) => {
      const all = several.map(([metadata, rest, kind, isManaged]) => {
        const { managedFields: _, ...others } = metadata
        const whole = {
          ...rest,
          apiVersion: 'v1',
          kind,
          metadata: { name: 'x', ...(isManaged ? { ...others, managedFields: [{ time: ']"}' }] } : others) },
        } as unknown as UnstructuredObject
        return {
          bytes: new Unstamped(whole).stamped(7),
          isManaged,
          left: { ...rest, apiVersion: 'v1', kind, metadata: { name: 'x', ...others, resourceVersion: '7' } },
        }
      })
      const joined = Buffer.concat(all.flatMap(({ bytes }) => [Buffer.from('"'), bytes]))
      const finder = new ManagedFieldsFinder(joined)
      let at = 0
      for (const { bytes, isManaged, left } of all) {
        at++
        const { start, end } = finder.find(at, at + bytes.length)
        expect(end > start).toBe(isManaged)
        const text = isManaged
          ? Buffer.concat([joined.subarray(at, start), joined.subarray(end, at + bytes.length)])
          : Buffer.from(bytes)
        expect(JSON.parse(text.toString())).toEqual(JSON.parse(JSON.stringify(left)))
        at += bytes.length
      }
    }),
  )
})

test('ManagedFieldsFinder leaves alone what does not look as expected', () => {
  for (const text of [
    '',
    '{}',
    '{"metadata":{',
    '{"metadata":{}}',
    '{"metadata":{"managedFields":[]}}',
    '{"metadata":{"name":1, "managedFields":[]}}',
    '{"metadata":{"name":"x","managedFields":[',
  ]) {
    // What lies behind an object is not looked at.
    for (const after of ['', ']}}', '"managedFields":[]}}'])
      expect(new ManagedFieldsFinder(Buffer.from(text + after)).find(0, text.length)).toEqual({ start: 0, end: 0 })
  }
})
