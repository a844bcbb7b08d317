import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyJsonPatch, deepEqual, type JsonValue } from '#api'
import { diffJson } from './admission.ts'

const keys = fc.constantFrom('a', 'b', 'c', 'a/b', 'm~n', '', '__proto__', 'constructor', '0')
const values = fc.letrec<{ any: JsonValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(null, true, 0, 1, '', 'x'),
    fc.array(tie('any'), { maxLength: 5 }),
    fc
      .array(fc.tuple(keys, tie('any')), { maxLength: 5 })
      .map(
        (entries) =>
          JSON.parse(
            `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
          ) as JsonValue,
      ),
  ),
})).any

describe('diffJson', () => {
  test('gives steps that lead from any value to any other', () => {
    fc.assert(
      fc.property(values, values, (before, after) => {
        expect(deepEqual(applyJsonPatch(before, diffJson(before, after)), after)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('gives no steps for what is equal, in whatever order', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(diffJson(value, JSON.parse(JSON.stringify(value)) as JsonValue)).toEqual([])
      }),
    )
    expect(diffJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([])
  })

  test('says no more than what changed', () => {
    expect(
      diffJson(
        { metadata: { name: 'a' }, spec: { replicas: 1 } },
        { metadata: { name: 'a', labels: { 'x/y': 'z' } }, spec: {} },
      ),
    ).toEqual([
      { op: 'add', path: '/metadata/labels', value: { 'x/y': 'z' } },
      { op: 'remove', path: '/spec/replicas' },
    ])
    expect(diffJson([1, 2, 3, 4], [1, 3, 4])).toEqual([{ op: 'remove', path: '/1' }])
    expect(diffJson([{ name: 'a', image: '1' }], [{ name: 'a', image: '2' }])).toEqual([
      { op: 'replace', path: '/0/image', value: '2' },
    ])
    expect(diffJson({ a: 1 }, { a: undefined } as unknown as JsonValue)).toEqual([{ op: 'remove', path: '/a' }])
  })
})
