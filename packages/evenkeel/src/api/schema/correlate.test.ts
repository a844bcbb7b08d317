import { expect, test } from 'vitest'
import { compileSchema } from './compile.ts'
import { CorrelatedValue } from './correlate.ts'

const plan = compileSchema({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } } },
})
const item = (name: string, size: number): { name: string; size: number } => ({ name, size })

test('CorrelatedValue.item finds the old item with the same keys, wherever it was', () => {
  const pair = new CorrelatedValue([item('a', 1), item('b', 2)], [item('b', 3)], plan)
  expect(pair.item(0)).toBeUndefined()
  expect(pair.item(1)?.old).toEqual(item('b', 3))
})

test('CorrelatedValue.item finds nothing when the value was or is no list', () => {
  expect(new CorrelatedValue([item('a', 1)], { a: 1 }, plan).item(0)).toBeUndefined()
  expect(new CorrelatedValue({ a: 1 }, [item('a', 1)], plan).item(0)).toBeUndefined()
})
