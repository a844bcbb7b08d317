import { describe, expect, test } from 'vitest'
import { FieldPath, formatFieldError } from './errors/field-error.ts'
import { annotationBytesMax, validateAnnotations, validateLabels } from './metadata.ts'

const path = FieldPath.of('metadata', 'x')

describe('validateLabels', () => {
  test('allows what is well-formed', () => {
    expect(validateLabels({ app: 'web', 'example.com/tier': '', toString: 'x' }, path)).toEqual([])
  })

  test('complains about keys and values, each by itself', () => {
    const errors = validateLabels({ 'a b': 'ok', good: 'no good', '-': '-' }, path)
    expect(errors.map(({ type, field }) => `${type} ${field}`)).toEqual(Array(4).fill('FieldValueInvalid metadata.x'))
    expect(errors.map(({ body }) => /^Invalid value: ("[^"]*")/.exec(body)?.[1])).toEqual([
      '"a b"',
      '"no good"',
      '"-"',
      '"-"',
    ])
  })
})

describe('validateAnnotations', () => {
  test('allows any value and keys in any case', () => {
    expect(validateAnnotations({ 'Example.COM/Key': 'any thing\n{"at": "all"}' }, path)).toEqual([])
  })

  test('complains about keys', () => {
    expect(validateAnnotations({ 'a b': '' }, path).map(formatFieldError)).toEqual([
      expect.stringMatching(/^metadata\.x: Invalid value: "a b": name part must consist/),
    ])
  })

  test('counts the bytes of all keys and values together', () => {
    const fill = (bytes: number): Record<string, string> => ({ ab: 'x'.repeat(bytes - 4 - 2), c: 'é', d: '' })
    expect(validateAnnotations(fill(annotationBytesMax), path)).toEqual([])
    expect(validateAnnotations(fill(annotationBytesMax + 1), path).map(formatFieldError)).toEqual([
      'metadata.x: Too long: may not be more than 262144 bytes',
    ])
  })
})
