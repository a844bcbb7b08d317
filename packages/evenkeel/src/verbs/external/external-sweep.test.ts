import { expect, test } from 'vitest'
import { makeQuestion } from './external-sweep.ts'

test('makeQuestion names the first hundred resources in order, and counts all', () => {
  const ids = Array.from({ length: 101 }, (_, index) => `s-${String(100 - index).padStart(3, '0')}`)
  const question = makeQuestion('missing' as never, 'many are gone', ids)
  expect(question).toMatchObject({ message: 'many are gone', count: 101 })
  expect([question.ids.length, question.ids[0], question.ids.at(-1)]).toEqual([100, 's-000', 's-099'])
})
