import { describe, expect, test } from 'vitest'
import {
  errorsOfEach,
  fieldError,
  FieldPath,
  formatFieldError,
  formatFieldErrors,
  invalid,
  type FieldError,
} from './field-error.ts'

describe('FieldPath', () => {
  test.each([
    [FieldPath.of('spec'), 'spec'],
    [FieldPath.of('spec', 'containers').index(0).child('name'), 'spec.containers[0].name'],
    [FieldPath.of('metadata', 'labels').key('a/b'), 'metadata.labels[a/b]'],
    [FieldPath.of('a').child('b', 'c').index(1).index(2).key('k').child('d'), 'a.b.c[1][2][k].d'],
    [FieldPath.of('a').child(), 'a'],
  ])('%s', (path, text) => expect(path.toString()).toBe(text))

  test('does not change when it is made longer', () => {
    const path = FieldPath.of('spec')
    path.child('a')
    path.index(0)
    expect(`${path.toString()} ${path.child('b').toString()}`).toBe('spec spec.b')
  })
})

const path = FieldPath.of('f')
const cases: [FieldError, string, string][] = [
  [fieldError.notFound(path, 'x'), 'FieldValueNotFound', 'Not found: "x"'],
  [fieldError.required(path), 'FieldValueRequired', 'Required value'],
  [
    fieldError.required(path, 'name or generateName is required'),
    'FieldValueRequired',
    'Required value: name or generateName is required',
  ],
  [fieldError.duplicate(path, 'x'), 'FieldValueDuplicate', 'Duplicate value: "x"'],
  [fieldError.invalid(path, 'x', 'd'), 'FieldValueInvalid', 'Invalid value: "x": d'],
  [fieldError.invalid(path, -1, 'd'), 'FieldValueInvalid', 'Invalid value: -1: d'],
  [fieldError.invalid(path, 1.5, 'd'), 'FieldValueInvalid', 'Invalid value: 1.5: d'],
  [fieldError.invalid(path, true, 'd'), 'FieldValueInvalid', 'Invalid value: true: d'],
  [fieldError.invalid(path, null, 'd'), 'FieldValueInvalid', 'Invalid value: null: d'],
  [fieldError.invalid(path, undefined, 'd'), 'FieldValueInvalid', 'Invalid value: null: d'],
  [fieldError.invalid(path, ['a', 'b'], 'd'), 'FieldValueInvalid', 'Invalid value: ["a","b"]: d'],
  [fieldError.invalid(path, { a: '<&>' }, 'd'), 'FieldValueInvalid', 'Invalid value: {"a":"\\u003c\\u0026\\u003e"}: d'],
  [fieldError.invalid(path, 'line\n"q"', 'd'), 'FieldValueInvalid', 'Invalid value: "line\\n\\"q\\"": d'],
  [
    fieldError.typeInvalid(path, 'x', 'must be integer'),
    'FieldValueTypeInvalid',
    'Invalid value: "x": must be integer',
  ],
  [
    fieldError.notSupported(path, 'x', ['a', 'b']),
    'FieldValueNotSupported',
    'Unsupported value: "x": supported values: "a", "b"',
  ],
  [fieldError.notSupported(path, 'x', []), 'FieldValueNotSupported', 'Unsupported value: "x"'],
  [fieldError.forbidden(path, 'd'), 'FieldValueForbidden', 'Forbidden: d'],
  [fieldError.tooLong(path, 63), 'FieldValueTooLong', 'Too long: may not be more than 63 bytes'],
  [fieldError.tooLong(path, 1), 'FieldValueTooLong', 'Too long: may not be more than 1 byte'],
  [fieldError.tooShort(path, 2), 'FieldValueTooShort', 'Too short: must be at least 2 characters'],
  [fieldError.tooMany(path, 3, 2), 'FieldValueTooMany', 'Too many: 3: must have at most 2 items'],
  [fieldError.tooMany(path, 2, 1), 'FieldValueTooMany', 'Too many: 2: must have at most 1 item'],
  [fieldError.tooFew(path, 0, 1), 'FieldValueTooFew', 'Too few: 0: must have at least 1 item'],
  [fieldError.internal(path, 'broken'), 'InternalError', 'Internal error: broken'],
]

describe('fieldError', () => {
  test.each(cases)('%j', (error, type, body) => {
    expect(error).toEqual({ type, field: 'f', body })
    expect(formatFieldError(error)).toBe(`f: ${body}`)
  })

  test('prints <nil> where there is no path', () => {
    expect(formatFieldError(fieldError.invalid(undefined, 'x', 'd'))).toBe('<nil>: Invalid value: "x": d')
  })

  test('does not print, or trip over, a value nested too deep', () => {
    let deep: unknown = 1
    for (let level = 0; level < 10_000; level++) deep = [deep]
    expect(fieldError.invalid(path, deep, 'd').body).toBe('Invalid value: <value omitted>: d')
  })
})

describe('invalid', () => {
  const [a, b] = [fieldError.required(FieldPath.of('a')), fieldError.invalid(FieldPath.of('b'), 1, 'no')]

  test('with one error', () => {
    const error = invalid({ group: 'demo.example.com', kind: 'Website', name: 'x' }, [a])
    expect(error).toMatchObject({
      reason: 'Invalid',
      code: 422,
      message: 'Website.demo.example.com "x" is invalid: a: Required value',
    })
    expect(error.causes).toEqual([{ reason: 'FieldValueRequired', message: 'Required value', field: 'a' }])
  })

  test('with several, each told once in the message and every time in the causes', () => {
    const error = invalid({ kind: 'Pod', name: '' }, [a, b, a])
    expect(error.message).toBe('Pod "" is invalid: [a: Required value, b: Invalid value: 1: no]')
    expect(error.causes.map(({ field }) => field)).toEqual(['a', 'b', 'a'])
  })

  test('with none', () => expect(invalid({ kind: 'Pod', name: 'x' }, []).message).toBe('Pod "x" is invalid'))

  test('formatFieldErrors drops the brackets when repetitions leave one', () => {
    expect(formatFieldErrors([a, a])).toBe('a: Required value')
  })

  test('of a long list shows the first errors and counts the rest', () => {
    const many = Array.from({ length: 1500 }, (_, index) => fieldError.required(FieldPath.of('a').index(index)))
    const error = invalid({ kind: 'Pod', name: 'x' }, many)
    expect(error.causes).toHaveLength(1000)
    expect(error.message).toMatch(/a\[999\]: Required value, and at least 500 more errors\]$/)
  })

  test('shows few errors of long values, but the first in full', () => {
    const value = 'x'.repeat(300_000)
    const path = FieldPath.of('a')
    const error = invalid(
      { kind: 'Pod', name: 'x' },
      [1, 2, 3].map(() => fieldError.invalid(path, value, 'no')),
    )
    expect(error.causes).toHaveLength(1)
    expect(error.message).toContain(value)
    expect(error.message).toMatch(/, and at least 2 more errors\]$/)
  })

  test('errorsOfEach checks no further once there are more errors than are shown', () => {
    let checked = 0
    const errors = errorsOfEach(Array(100_000).keys(), (index) => {
      checked++
      return index % 2 === 0 ? [] : [a, b]
    })
    expect(errors.length).toBe(2002)
    expect(checked).toBe(2002)
    expect(errorsOfEach(['x', 'y'], (_, index) => (index === 1 ? [a] : []))).toEqual([a])
  })

  test('formats no value of an error that is not shown', () => {
    const costly = { toJSON: () => expect.fail('formatted') }
    const many = Array.from({ length: 1000 }, () => fieldError.required(FieldPath.of('a')))
    invalid({ kind: 'Pod', name: 'x' }, [...many, fieldError.invalid(FieldPath.of('b'), costly, 'no')])
  })
})
