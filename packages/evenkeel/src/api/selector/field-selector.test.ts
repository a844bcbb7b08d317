import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { badRequest } from '../errors/constructors.ts'
import {
  escapeFieldValue,
  exactFieldValue,
  formatFieldRequirements,
  matchesFields,
  parseFieldSelector,
  requireSelectable,
  transformFields,
  type FieldRequirement,
} from './field-selector.ts'

describe('parseFieldSelector', () => {
  /** [text, canonical text] */
  test.each([
    ['', ''],
    [',', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a=b'],
    ['a!=b', 'a!=b'],
    ['a=', 'a='],
    ['=b', '=b'],
    ['z=1,a=2', 'a=2,z=1'],
    ['a=b,', 'a=b'],
    ['metadata.name=web,status.phase!=Running', 'metadata.name=web,status.phase!=Running'],
    ['a=\\\\', 'a=\\\\'],
    ['a=\\,', 'a=\\,'],
    ['a=\\=', 'a=\\='],
    ['a=\\,b\\=c,d=e', 'a=\\,b\\=c,d=e'],
    ['a!=b!c', 'a!=b!c'],
    ['a b= c ', 'a b= c '],
    ['a!b=c', 'a!b=c'],
    ['a=é😀', 'a=é😀'],
  ])('%j', (text, expected) => {
    expect(formatFieldRequirements(parseFieldSelector(text))).toBe(expected)
    expect(formatFieldRequirements(parseFieldSelector(expected))).toBe(expected)
  })

  test('unescapes values, and only values', () => {
    expect(parseFieldSelector('a\\b=c\\,\\=\\\\')).toEqual([{ field: 'a\\b', operator: '=', value: 'c,=\\' }])
  })

  test.each([
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    ['a>1', "can't understand 'a>1'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a===b', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=\\😀', 'invalid field selector: invalid escape sequence: \\😀'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', code: 400, message: expect.stringContaining(message) as string }),
    )
  })
})

describe('matchesFields', () => {
  const fields = { 'metadata.name': 'web', 'status.phase': 'Running', empty: '' }

  test.each([
    ['', true],
    ['metadata.name=web', true],
    ['metadata.name=db', false],
    ['metadata.name!=db', true],
    ['metadata.name!=web', false],
    ['metadata.name=web,status.phase=Running', true],
    ['metadata.name=web,status.phase!=Running', false],
    ['empty=', true],
    ['empty!=', false],
    ['absent=', true],
    ['absent!=', false],
    ['absent!=x', true],
    ['absent=x', false],
    ['toString=', true],
    ['constructor!=', false],
    ['__proto__=', true],
  ])('%s', (selector, expected) => expect(matchesFields(parseFieldSelector(selector), fields)).toBe(expected))
})

const text = fc.string({ unit: fc.constantFrom('a', 'b', ',', '=', '\\', '!', ' ') })
const anyRequirement: fc.Arbitrary<FieldRequirement> = fc.record({
  field: fc.constantFrom('a', 'b.c', 'd'),
  operator: fc.constantFrom('=', '!='),
  value: text,
})

test('parsing undoes formatting for every value, up to the order of terms', () => {
  fc.assert(
    fc.property(fc.array(anyRequirement, { maxLength: 4 }), (requirements) => {
      const sort = (list: readonly FieldRequirement[]): string[] =>
        list.map((requirement) => JSON.stringify(requirement, ['field', 'operator', 'value'])).sort()
      expect(sort(parseFieldSelector(formatFieldRequirements(requirements)))).toEqual(sort(requirements))
    }),
    { numRuns: 500 },
  )
})

test('matching agrees with a simple model', () => {
  const value = fc.constantFrom('', 'x', 'y')
  const requirement = fc.record({
    field: fc.constantFrom('a', 'b'),
    operator: fc.constantFrom<'=' | '!='>('=', '!='),
    value,
  })
  fc.assert(
    fc.property(
      fc.array(requirement, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b'), value),
      (requirements, fields) => {
        const holds = requirements.filter(({ field, operator, value: wanted }) => {
          const actual = new Map(Object.entries(fields)).get(field) ?? ''
          return operator === '=' ? actual === wanted : actual !== wanted
        })
        expect(matchesFields(requirements, fields)).toBe(holds.length === requirements.length)
      },
    ),
  )
})

test.each([
  ['a=b', 'b'],
  ['a==b', 'b'],
  ['a!=b', undefined],
  ['x=y', undefined],
  ['a!=c,a=b', 'b'],
  ['a=', ''],
])('exactFieldValue of a in %s', (selector, value) => {
  expect(exactFieldValue(parseFieldSelector(selector), 'a')).toBe(value)
})

describe('transformFields', () => {
  test('renames, rewrites and drops', () => {
    const changed = transformFields(parseFieldSelector('host=a,gone=x,keep!=1'), (field, value) => {
      if (field === 'gone') return undefined
      return field === 'host' ? { field: 'spec.nodeName', value: value.toUpperCase() } : { field, value }
    })
    expect(formatFieldRequirements(changed)).toBe('spec.nodeName=A,keep!=1')
  })

  test('lets an error through', () => {
    expect(() =>
      transformFields(parseFieldSelector('a=b'), () => {
        throw badRequest('no')
      }),
    ).toThrow('no')
  })
})

test('requireSelectable names the field nobody can select by', () => {
  const supported = ['metadata.name', 'metadata.namespace']
  expect(() => requireSelectable(parseFieldSelector('metadata.name=a,metadata.namespace!=b'), supported)).not.toThrow()
  expect(() => requireSelectable([], supported)).not.toThrow()
  expect(() => requireSelectable(parseFieldSelector('metadata.name=a,spec.color=red'), supported)).toThrow(
    expect.objectContaining({ reason: 'BadRequest', message: 'field label not supported: spec.color' }),
  )
})

test('escapeFieldValue makes any literal a value', () => {
  expect(escapeFieldValue('a,b=c\\d')).toBe('a\\,b\\=c\\\\d')
})
