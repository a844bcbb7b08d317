import { expect, test } from 'vitest'
import { assert, AssertionError, unreachable } from './assert.ts'

test('assert passes for a true condition', () => {
  for (const value of [true, 1, 'x', {}, []])
    expect(() => {
      assert(value, 'it holds')
    }).not.toThrow()
})

test('assert throws the claim, marked as a bug', () => {
  for (const value of [false, 0, '', undefined, null, NaN]) {
    expect(() => {
      assert(value, 'the sky is up')
    }).toThrow(new AssertionError('bug: assertion failed: the sky is up'))
  }
})

test('unreachable names the unhandled value', () => {
  expect(() => unreachable('surprise' as never)).toThrow(/surprise/)
  expect(() => unreachable(7 as never)).toThrow(AssertionError)
})

test('AssertionError is an Error with a name of its own', () => {
  const error = new AssertionError('x')
  expect(error).toBeInstanceOf(Error)
  expect(error.name).toBe('AssertionError')
})
