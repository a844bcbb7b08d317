import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FieldPath, formatFieldError } from '../errors/field-error.ts'
import { parseLabelSelector } from './label-parser.ts'
import {
  exactLabelValue,
  formatLabelRequirements,
  labelRequirementsOf,
  matchesLabels,
  selectsLabels,
  toLabelSelector,
  validateLabelRequirement,
  validateLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  type LabelSelector,
} from './label-selector.ts'

const canonical = (text: string): string => formatLabelRequirements(parseLabelSelector(text))

describe('parseLabelSelector', () => {
  /** [text, canonical text] */
  test.each([
    ['', ''],
    ['   ', ''],
    ['x', 'x'],
    ['!x', '!x'],
    ['! x', '!x'],
    ['x=a', 'x=a'],
    ['x==a', 'x==a'],
    ['x!=a', 'x!=a'],
    ['x=', 'x='],
    ['x= ', 'x='],
    ['x!=', 'x!='],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['z,y,x', 'x,y,z'],
    ['x = a , y != b', 'x=a,y!=b'],
    ['x=,z= ', 'x=,z='],
    ['x= ,z= ', 'x=,z='],
    ['x in (a)', 'x in (a)'],
    ['x in (b,a)', 'x in (a,b)'],
    ['x in (a,b,a)', 'x in (a,b)'],
    ['x in()', 'x in ()'],
    ['x in (,)', 'x in ()'],
    ['x in (a,)', 'x in (,a)'],
    ['x in (,a)', 'x in (,a)'],
    ['x in (a,,b)', 'x in (,a,b)'],
    ['x notin (a,b)', 'x notin (a,b)'],
    ['x notin (a,b),y', 'x notin (a,b),y'],
    ['x\tin\n( a ,\r b )', 'x in (a,b)'],
    ['x>1', 'x>1'],
    ['x<7', 'x<7'],
    ['x > 1, y<0', 'x>1,y<0'],
    ['x=in', 'x=in'],
    ['x=notin', 'x=notin'],
    ['in', 'in'],
    ['notin,in', 'in,notin'],
    ['in in (in)', 'in in (in)'],
    ['notin notin (notin)', 'notin notin (notin)'],
    ['!in', '!in'],
    ['example.com/x=y', 'example.com/x=y'],
    ['x in (foo,,baz),y,z notin ()', 'x in (,baz,foo),y,z notin ()'],
    ['a=b,a!=c', 'a=b,a!=c'],
    ['toString', 'toString'],
    ['inx in (notiny)', 'inx in (notiny)'],
    ['a=\0b', 'a=b'],
    ['a\0', 'a'],
    ['\0junk===', ''],
  ])('%j', (text, expected) => {
    expect(canonical(text)).toBe(expected)
    expect(canonical(expected)).toBe(expected)
  })

  /** [text, the sentence of kube-apiserver] */
  test.each([
    [
      'x=a||y=b',
      'unable to parse requirement: values[0][x]: Invalid value: "a||y": a valid label must be an empty string or consist of alphanumeric characters',
    ],
    ['x==a==b', "found '==', expected: ',' or 'end of string'"],
    ['!x=a', "found '=', expected: ',' or 'end of string'"],
    [
      'x<a',
      "unable to parse requirement: [values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer".replace(
        '[values',
        'values',
      ),
    ],
    [
      'x>',
      "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['x,', "found '', expected: identifier after ','"],
    ['x,,y', "found ',', expected: identifier after ','"],
    [',x', "found ',', expected: !, identifier, or 'end of string'"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!!x', "unable to parse requirement: found '!', expected: identifier"],
    ['x y', "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
    ['x!', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ['x in a', "unable to parse requirement: found 'a' expected: '('"],
    ['x in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['x in (a b)', "unable to parse requirement: found 'b', expected: ',' or ')'"],
    ['x in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['x in (a,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['x in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['x=(', "unable to parse requirement: found '(', expected: identifier"],
    ['x=a)', "found ')', expected: ',' or 'end of string'"],
    ['x=a b', "found 'b', expected: ',' or 'end of string'"],
    ['a\0b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    [
      'a@b',
      'unable to parse requirement: <nil>: Invalid value: "a@b": name part must consist of alphanumeric characters',
    ],
    ['/a', 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
    ['__proto__', 'unable to parse requirement: <nil>: Invalid value: "__proto__": name part must consist'],
    ['x=-', 'unable to parse requirement: values[0][x]: Invalid value: "-": a valid label'],
    [`x=${'a'.repeat(64)}`, 'must be no more than 63 bytes'],
    ['x in (a,-,b)', 'unable to parse requirement: values[0][x]: Invalid value: "-"'],
  ])('refuses %j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', code: 400, message: expect.stringContaining(message) as string }),
    )
  })

  test('reads 100,000 requirements', () => {
    expect(parseLabelSelector(Array(100_000).fill('a=b').join(','))).toHaveLength(100_000)
  })
})

const negative: LabelRequirement = { key: 'absent', operator: '!', values: [] }

describe('matchesLabels', () => {
  test('finds the same with many requirements as with each of them', () => {
    const key = fc.constantFrom('a', 'b', 'c', '__proto__', ...Array.from({ length: 30 }, (_, index) => `k${index}`))
    const value = fc.constantFrom('', 'x', 'y', '5', '7')
    const requirement = fc.record({
      key,
      operator: fc.constantFrom('=', '!=', 'in', 'notin', 'exists', '!', 'gt', 'lt'),
      values: fc.array(value, { minLength: 1, maxLength: 2 }),
    }) as fc.Arbitrary<LabelRequirement>
    const labelsOf = fc
      .array(fc.tuple(key, value), { maxLength: 40 })
      .map((entries) => JSON.parse(`{${entries.map(([name, text]) => `"${name}":"${text}"`).join()}}`) as Labels)
    fc.assert(
      fc.property(fc.array(requirement, { minLength: 21, maxLength: 40 }), labelsOf, (many, labels) => {
        // Requirements that hold, and any one more: random ones would never all hold.
        const holding = many.filter((one) => matchesLabels([one], labels))
        const padded = [...holding, ...Array.from({ length: 21 }, () => negative)]
        expect(matchesLabels(padded, labels)).toBe(true)
        for (const one of many) expect(matchesLabels([...padded, one], labels)).toBe(matchesLabels([one], labels))
      }),
    )
  })

  const labels: Labels = { x: 'a', y: '', n: '10', env: 'prod' }

  test.each([
    ['', true],
    ['x', true],
    ['!x', false],
    ['z', false],
    ['!z', true],
    ['x=a', true],
    ['x==a', true],
    ['x=b', false],
    ['x!=b', true],
    ['x!=a', false],
    ['z!=a', true],
    ['z=', false],
    ['y=', true],
    ['y', true],
    ['x in (a,b)', true],
    ['x in (b)', false],
    ['z in (a)', false],
    ['z in ()', false],
    ['y in ()', true],
    ['x notin (b)', true],
    ['x notin (a,b)', false],
    ['z notin (a)', true],
    ['n>9', true],
    ['n>10', false],
    ['n<11', true],
    ['n<10', false],
    ['z>1', false],
    ['z<1', false],
    ['x>1', false],
    ['x=a,n>9,!z', true],
    ['x=a,n>10', false],
    ['toString', false],
    ['!toString', true],
    ['constructor', false],
    ['hasOwnProperty notin (a)', true],
    ['valueOf!=x', true],
  ])('%s', (selector, expected) => expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(expected))

  test('an object without labels', () => {
    expect(matchesLabels(parseLabelSelector('!x,x!=a,x notin (a)'), undefined)).toBe(true)
    expect(matchesLabels(parseLabelSelector('x'), undefined)).toBe(false)
  })

  test('labels that are called like inherited properties count when they are there', () => {
    expect(
      matchesLabels(parseLabelSelector('toString=x,constructor'), {
        toString: 'x',
        constructor: 'y',
      } as unknown as Labels),
    ).toBe(true)
  })

  test.each([
    ['9223372036854775807', true],
    ['9223372036854775808', false],
    ['99999999999999999999', false],
  ])('numbers have 64 bits: %s', (value, expected) => {
    expect(matchesLabels([{ key: 'n', operator: 'gt', values: ['9223372036854775806'] }], { n: value })).toBe(expected)
  })
})

const [keys, values] = [
  ['a', 'b', 'in', 'notin', 'example.com/x', 'toString', 'constructor'],
  ['', 'v', 'w', 'in', '1', '2', '10'],
]
const anyRequirement: fc.Arbitrary<LabelRequirement> = fc
  .record({
    key: fc.constantFrom(...keys),
    operator: fc.constantFrom<LabelOperator>('=', '==', '!=', 'in', 'notin', 'exists', '!', 'gt', 'lt'),
    values: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }),
    number: fc.constantFrom('1', '5', '10'),
  })
  .map(({ key, operator, values: many, number }) => {
    if (operator === 'exists' || operator === '!') return { key, operator, values: [] }
    if (operator === 'gt' || operator === 'lt') return { key, operator, values: [number] }
    return { key, operator, values: operator === 'in' || operator === 'notin' ? [...many].sort() : many.slice(0, 1) }
  })
const anyLabels = fc
  .array(fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values)), { maxLength: 5 })
  .map((entries): Labels => Object.fromEntries(entries))

/** What the operators mean, said once more and as simply as can be. */
function model({ key, operator, values: wanted }: LabelRequirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key)
  const isOne = value !== undefined && wanted.includes(value)
  const isNumber = value !== undefined && /^\d+$/.test(value)
  const meaning: Record<LabelOperator, boolean> = {
    '=': isOne,
    '==': isOne,
    in: isOne,
    '!=': !isOne,
    notin: !isOne,
    exists: value !== undefined,
    '!': value === undefined,
    gt: isNumber && Number(value) > Number(wanted[0]),
    lt: isNumber && Number(value) < Number(wanted[0]),
  }
  return meaning[operator]
}

describe('against a simple model', () => {
  test('matching', () => {
    fc.assert(
      fc.property(fc.array(anyRequirement, { maxLength: 3 }), anyLabels, (requirements, labels) => {
        const expected = requirements.every((requirement) => model(requirement, new Map(Object.entries(labels))))
        expect(matchesLabels(requirements, labels)).toBe(expected)
        expect(matchesLabels(parseLabelSelector(formatLabelRequirements(requirements)), labels)).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('parsing undoes formatting, up to the order of keys', () => {
    fc.assert(
      fc.property(fc.array(anyRequirement, { maxLength: 4 }), (requirements) => {
        const parsed = parseLabelSelector(formatLabelRequirements(requirements))
        expect(parsed).toEqual([...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)))
        expect(requirements.flatMap(validateLabelRequirement)).toEqual([])
      }),
    )
  })

  test('the object form selects the same', () => {
    fc.assert(
      fc.property(
        fc.array(
          anyRequirement.filter(({ operator }) => operator !== 'gt' && operator !== 'lt'),
          { maxLength: 4 },
        ),
        anyLabels,
        (requirements, labels) => {
          expect(selectsLabels(toLabelSelector(requirements), labels)).toBe(matchesLabels(requirements, labels))
        },
      ),
    )
  })

  test('no text makes the parser do anything but parse or refuse', () => {
    const piece = fc.constantFrom(
      'a',
      'in',
      'notin',
      '=',
      '==',
      '!=',
      '!',
      '(',
      ')',
      ',',
      ' ',
      '<',
      '>',
      '1',
      '-',
      '\0',
      'é',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
        (text) => {
          try {
            const parsed = parseLabelSelector(text)
            expect(parseLabelSelector(formatLabelRequirements(parsed))).toEqual(parsed)
          } catch (error) {
            expect(error).toMatchObject({ reason: 'BadRequest' })
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})

test.each([
  ['a=b', 'b'],
  ['a==b', 'b'],
  ['a in (b)', 'b'],
  ['a in (b,c)', undefined],
  ['a!=b', undefined],
  ['a', undefined],
  ['x=y', undefined],
  ['a!=c,a=b', undefined],
])('exactLabelValue of a in %s', (selector, value) => {
  expect(exactLabelValue(parseLabelSelector(selector), 'a')).toBe(value)
})

describe('validateLabelRequirement', () => {
  test.each<[LabelRequirement, string]>([
    [{ key: 'a b', operator: 'exists', values: [] }, 'key: Invalid value: "a b": name part must consist'],
    [
      { key: 'a', operator: 'in', values: [] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { key: 'a', operator: '=', values: ['x', 'y'] },
      'values: Invalid value: ["x","y"]: exact-match compatibility requires one single value',
    ],
    [
      { key: 'a', operator: '!', values: ['x'] },
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
    [
      { key: 'a', operator: 'gt', values: [] },
      "values: Invalid value: []: for 'Gt', 'Lt' operators, exactly one value is required",
    ],
    [
      { key: 'a', operator: 'lt', values: ['x'] },
      "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      { key: 'a', operator: 'near' as never, values: [] },
      'operator: Unsupported value: "near": supported values: "in", "notin", "=", "==", "!=", "gt", "lt", "exists", "!"',
    ],
    [{ key: 'a', operator: 'in', values: ['ok', '-'] }, 'values[1][a]: Invalid value: "-": a valid label must be'],
  ])('%j', (requirement, message) =>
    expect(validateLabelRequirement(requirement).map(formatFieldError)).toEqual([expect.stringContaining(message)]),
  )
})

describe('the object form', () => {
  const selector: LabelSelector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['b', 'a'] },
      { key: 'x', operator: 'NotIn', values: ['1'] },
      { key: 'y', operator: 'Exists' },
      { key: 'z', operator: 'DoesNotExist' },
    ],
  }

  test('means the same as its text', () => {
    expect(formatLabelRequirements(labelRequirementsOf(selector) ?? [])).toBe('app=web,tier in (a,b),x notin (1),y,!z')
    expect(selectsLabels(selector, { app: 'web', tier: 'a', y: '' })).toBe(true)
    expect(selectsLabels(selector, { app: 'web', tier: 'c', y: '' })).toBe(false)
  })

  test('missing selects nothing, empty selects everything', () => {
    expect(labelRequirementsOf(undefined)).toBeUndefined()
    expect([
      selectsLabels(undefined, {}),
      selectsLabels({}, undefined),
      selectsLabels({ matchLabels: {}, matchExpressions: [] }, { a: 'b' }),
    ]).toEqual([false, true, true])
  })

  test('is made from text', () => {
    expect(toLabelSelector(parseLabelSelector('a=1,b==2,c!=3,d in (4,5),e,!f,g notin (6)'))).toEqual({
      matchLabels: { a: '1', b: '2' },
      matchExpressions: [
        { key: 'c', operator: 'NotIn', values: ['3'] },
        { key: 'd', operator: 'In', values: ['4', '5'] },
        { key: 'e', operator: 'Exists' },
        { key: 'f', operator: 'DoesNotExist' },
        { key: 'g', operator: 'NotIn', values: ['6'] },
      ],
    })
    expect(toLabelSelector([])).toEqual({})
    expect(toLabelSelector(parseLabelSelector('a=1,a=2'))).toEqual({
      matchLabels: { a: '1' },
      matchExpressions: [{ key: 'a', operator: 'In', values: ['2'] }],
    })
  })

  test.each<[LabelSelector, string]>([
    [{ matchExpressions: [{ key: 'a', operator: 'Near' as never }] }, '"Near" is not a valid label selector operator'],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, "values set can't be empty"],
    [{ matchLabels: { 'a b': 'x' } }, 'key: Invalid value: "a b"'],
  ])('refuses %j', (bad, message) => {
    expect(() => labelRequirementsOf(bad)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: expect.stringContaining(message) as string }),
    )
  })

  test('cannot say greater or less', () => {
    expect(() => toLabelSelector(parseLabelSelector('a>1'))).toThrow('"gt" is not a valid label selector operator')
  })

  test('validateLabelSelector', () => {
    const path = FieldPath.of('spec', 'selector')
    const complaints = (bad: LabelSelector): string[] => validateLabelSelector(bad, path).map(formatFieldError)
    expect(complaints(selector)).toEqual([])
    expect(complaints({ matchLabels: { a: '-' } })).toEqual([
      expect.stringMatching(/^spec\.selector\.matchLabels: Invalid value: "-": a valid label/),
    ])
    expect(
      complaints({
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['x'] },
          { key: 'a', operator: 'Near' as never },
          { key: '-', operator: 'Exists' },
          { key: 'a', operator: 'NotIn', values: ['x', '-'] },
        ],
      }),
    ).toEqual([
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector.matchExpressions[2].operator: Invalid value: "Near": not a valid selector operator',
      expect.stringMatching(/^spec\.selector\.matchExpressions\[3\]\.key: Invalid value: "-": name part/),
      expect.stringMatching(/^spec\.selector\.matchExpressions\[4\]\.values\[1\]: Invalid value: "-": a valid label/),
    ])
  })
})
