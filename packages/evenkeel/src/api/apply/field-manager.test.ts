import { expect, test } from 'vitest'
import { stripSystemFields } from './field-manager.ts'
import { FieldSet } from './field-set.ts'

const owning = (...paths: string[][]): { set: FieldSet; apiVersion: string; applied: boolean } => ({
  set: FieldSet.of(...paths),
  apiVersion: 'v1',
  applied: false,
})

test('stripSystemFields removes system fields, and a manager that owns nothing else', () => {
  const managers = new Map([
    ['a', owning(['f:kind'], ['f:spec'])],
    ['b', owning(['f:kind'])],
  ])
  const stripped = stripSystemFields(managers, 'a')
  expect(stripped.get('a')?.set.equals(FieldSet.of(['f:spec']))).toBe(true)
  expect([...stripSystemFields(managers, 'b').keys()]).toEqual(['a'])
})

test('stripSystemFields returns the same managers when there is nothing to remove', () => {
  const managers = new Map([['a', owning(['f:spec'])]])
  expect(stripSystemFields(managers, 'a')).toBe(managers)
  expect(stripSystemFields(managers, 'none')).toBe(managers)
})
