import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Query } from './path.ts'

test('Query answers as URLSearchParams does', () => {
  const name = fc.oneof(fc.constantFrom('a', 'limit', '__proto__', 'constructor', ''), fc.string({ maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string({ maxLength: 4 })), { maxLength: 5 }), name, (pairs, asked) => {
      const expected = new URLSearchParams(pairs)
      const query = new Query(expected.toString())
      expect([query.get(asked), [...query.getAll(asked)], query.has(asked)]).toEqual([
        expected.get(asked),
        expected.getAll(asked),
        expected.has(asked),
      ])
    }),
  )
})

test('an empty Query has no values', () => {
  expect([new Query().get('a'), new Query().getAll('a'), new Query().has('a')]).toEqual([null, [], false])
})
