import { describe, expect, test } from 'vitest'
import { storeLimits, type Write } from './store.ts'
import { checkKey, checkLimit, checkPrefix, checkRevision, checkTtl, checkWrites } from './validation.ts'

const value = new Uint8Array(4)
const put: Write = { key: '/a', value, expect: 0 }

test('checkWrites counts the values of a commit, and nothing for its deletes', () => {
  const { batchBytesMax, valueBytesMax } = storeLimits
  const whole = Math.floor(batchBytesMax / valueBytesMax)
  const sizes = [...Array.from({ length: whole }, () => valueBytesMax), batchBytesMax - whole * valueBytesMax]
  const puts = sizes.map((size, index): Write => ({ key: `/p${index}`, value: new Uint8Array(size), expect: 0 }))
  expect(() => {
    checkWrites([...puts, { key: '/d', expect: 1 }], [])
  }).not.toThrow()
  expect(() => {
    checkWrites([...puts, { key: '/d', value: new Uint8Array(1), expect: 1 }], [])
  }).toThrow(`at most ${batchBytesMax} bytes together, got ${batchBytesMax + 1}`)
})

describe('checkKey and checkPrefix', () => {
  test.each(['a', '!', '~', '/a/b', 'k'.repeat(1024)])('allow %j', (key) => {
    expect(() => {
      checkKey(key)
    }).not.toThrow()
    expect(() => {
      checkPrefix(key)
    }).not.toThrow()
  })

  test.each([' ', 'a b', 'a\n', '\u0000', '\u007f', '\u0080', 'é', 'k'.repeat(1025)])('refuse %j', (key) => {
    expect(() => {
      checkKey(key)
    }).toThrow(RangeError)
    expect(() => {
      checkPrefix(key)
    }).toThrow(RangeError)
  })

  test('differ over nothing: everything begins with it, and no key is it', () => {
    expect(() => {
      checkKey('')
    }).toThrow(RangeError)
    expect(() => {
      checkPrefix('')
    }).not.toThrow()
  })

  test('name the key, but not all of a long one', () => {
    expect(() => {
      checkKey(`a b${'c'.repeat(5_000)}`)
    }).toThrow(/"a bccc/)
    try {
      checkKey('x y'.repeat(5_000))
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(200)
    }
  })
})

test.each([
  [checkRevision, [0, 1, 2 ** 53 - 1], [-1, 0.5, NaN, Infinity, 2 ** 53]],
  [checkLimit, [1, 2, Infinity, undefined], [0, -1, NaN]],
  [checkTtl, [1, 1.5, 1e15], [0, 0.5, -1, NaN, Infinity]],
] as const)('%o knows good numbers from bad ones', (check, good, bad) => {
  const run = check as (value: number | undefined) => void
  for (const number of good)
    expect(() => {
      run(number)
    }).not.toThrow()
  for (const number of bad)
    expect(() => {
      run(number)
    }).toThrow(RangeError)
})

describe('checkWrites', () => {
  test.each<[string, readonly Write[]]>([
    ['a put', [put]],
    ['an update', [{ ...put, expect: 7 }]],
    ['a delete', [{ key: '/a', expect: 7 }]],
    ['an empty value', [{ ...put, value: new Uint8Array(0), stampAt: 0 }]],
    [
      'stamps at both ends',
      [
        { ...put, stampAt: 0 },
        { ...put, key: '/b', stampAt: 4 },
      ],
    ],
    ['a value as large as can be', [{ ...put, value: new Uint8Array(storeLimits.valueBytesMax) }]],
    [
      'as many keys as can be',
      Array.from({ length: storeLimits.batchMax }, (_, index) => ({ ...put, key: `/${index}` })),
    ],
  ])('allows %s', (_, writes) => {
    expect(() => {
      checkWrites(writes, [])
    }).not.toThrow()
  })

  test.each<[string, readonly Write[]]>([
    ['nothing at all', []],
    ['a bad key', [{ ...put, key: 'a b' }]],
    ['a bad expectation', [{ ...put, expect: -1 }]],
    ['a delete of what is absent', [{ key: '/a', expect: 0 }]],
    ['a delete with a lease', [{ key: '/a', expect: 2, lease: '1' }]],
    ['a stamp beyond the value', [{ ...put, stampAt: 5 }]],
    ['a stamp before the value', [{ ...put, stampAt: -1 }]],
    ['a stamp between two bytes', [{ ...put, stampAt: 1.5 }]],
    ['a value that is too large', [{ ...put, value: new Uint8Array(storeLimits.valueBytesMax + 1) }]],
    ['a key twice', [put, { ...put, key: '/b' }, { key: '/a', expect: 2 }]],
    ['too many keys', Array.from({ length: storeLimits.batchMax + 1 }, (_, index) => ({ ...put, key: `/${index}` }))],
    [
      'values that are too large together',
      Array.from({ length: 6 }, (_, index) => ({
        key: `/${index}`,
        value: new Uint8Array(storeLimits.valueBytesMax),
        expect: 0,
      })),
    ],
  ])('refuses %s', (_, writes) => {
    expect(() => {
      checkWrites(writes, [])
    }).toThrow(RangeError)
  })

  test('validates checks like writes', () => {
    expect(() => {
      checkWrites([put], [{ key: '/b', expect: 0 }])
    }).not.toThrow()
    for (const checks of [
      [{ key: '/a', expect: 0 }],
      [{ key: '', expect: 0 }],
      [{ key: '/b', expect: NaN }],
      [
        { key: '/b', expect: 0 },
        { key: '/b', expect: 0 },
      ],
    ]) {
      expect(() => {
        checkWrites([put], checks)
      }).toThrow(RangeError)
    }
  })
})
