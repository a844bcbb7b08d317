import { describe, expect, test } from 'vitest'
import { formatOf } from './formats.ts'

/** [format, texts that have it, texts that have not] */
const formats: [string, string[], string[]][] = [
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'x'.repeat(24)]],
  [
    'uri',
    [
      'http://a.b/c',
      'https://u:p@h:80/x?y#z',
      '/a',
      '*',
      'mailto:a@b',
      'urn:a',
      'http://[::1]:80/',
      'http://[fe80::1%25en0]/',
      'http://ü/',
      'db://a:1,b:2/',
    ],
    [
      '',
      'a',
      ':a',
      'http://a b/',
      'http://a/%zz',
      'http://h:x/',
      'http://[:1]/',
      'http://[::1',
      'a\nb',
      'http://a/\u007f',
      'http://a/\u0001',
      'http://:x/',
      'http://%41/',
      'http://a:1:2/',
      'http://a[/',
      'http://u r@h/',
    ],
  ],
  [
    'email',
    ['a@b', 'a.b@c.d', 'A B. <a@b.c>', '"q q"@x.y', '"A, B" <a@b>', '<a@b>', 'a@[1.2.3.4]', ' a@b ', 'a@b (c)', 'ü@x'],
    ['', 'a', '@b', '.a@b', 'a..b@c', 'a@b.', 'a @b', 'a@b@c', 'a@[1.2]', '""@b', 'a@b, c@d', 'A <a@b', '<', '"a'],
  ],
  [
    'hostname',
    ['a', 'localhost', 'a-b', 'foo.bar.com', 'é.com', '1a.com', '☃.net'],
    [
      '',
      '-a',
      'ab-c',
      'a.b',
      'a-.com',
      'a_b.com',
      'a.c1',
      'a.com.',
      `${'a'.repeat(64)}.com`,
      `${'abc.'.repeat(70)}com`,
    ],
  ],
  ['ipv4', ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'], ['', '1.2.3', '256.1.1.1', '::1', '1.2.3.4.5', '1..2.3']],
  [
    'ipv6',
    ['::', '::1', '1:2:3:4:5:6:7:8', '1::8', '::ffff:1.2.3.4', '1:2:3:4:5:6:1.2.3.4'],
    [
      '',
      '1.2.3.4',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7:8:9',
      '12345::',
      '::1%eth0',
      '::ffff:01.2.3.4',
      '1:2:3:4:5:6:7:8::',
      '1.2.3.4::',
    ],
  ],
  [
    'cidr',
    ['10.0.0.0/8', '::/0', '01.0.0.0/08'],
    ['10.0.0.0', '10.0.0.0/33', '::/129', '/8', '1.2.3.4/', '1.2.3.4/-1'],
  ],
  [
    'mac',
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef'],
    ['', '01:23:45:67:89', '01:23-45:67:89:ab', '0123:4567:89ab'],
  ],
  [
    'uuid',
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567e89b12d3a456426614174000'],
    ['', '123e4567-e89b-12d3-a456-42661417400'],
  ],
  ['uuid3', ['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  [
    'uuid4',
    ['123e4567-e89b-42d3-a456-426614174000'],
    ['123e4567-e89b-42d3-c456-426614174000', '123e4567-e89b-52d3-a456-426614174000'],
  ],
  ['uuid5', ['123e4567-e89b-52d3-B456-426614174000'], ['123e4567-e89b-52d3-c456-426614174000']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044', 'x']],
  ['isbn10', ['0-321-75104-3', '097522980X'], ['978-0321751041']],
  ['isbn13', ['978 0321751041'], ['9780321751042', '0321751043']],
  ['creditcard', ['4111 1111 1111 1111', '378282246310005'], ['4111111111111112', '1234', '']],
  ['ssn', ['111-11-1111', '111 11-1111'], ['111111111', '111-11-111']],
  ['hexcolor', ['#fff', 'FFFFFF'], ['#ffff', 'red']],
  ['rgbcolor', ['rgb(1,2,3)', 'rgb( 255 , 0,0)'], ['rgb(256,0,0)', 'rgb(01,1,1)', 'rgb(1,2)']],
  ['byte', ['aGk=', 'YQ==', 'aGkx'], ['', 'aGk', 'a===', 'a-_=']],
  ['password', ['', 'x'], []],
  ['date', ['2026-02-28'], ['2026-02-29', '2026-1-1', '']],
  [
    'date-time',
    ['2026-01-01T00:00:00Z', '2026-01-31t23:59:59.5+01:00', '2026-01-01T00:00:00,5z'],
    ['2026-01-01', '2026-01-01T24:00:00Z', '2026-01-01T00:00:60Z', '2026-02-30T00:00:00Z', '2026-01-01 00:00:00Z'],
  ],
  [
    'duration',
    ['1h30m', '-1s', '0', '3 days', '2 WEEKS', '1d', '9999999h'],
    ['', '5', '1 fortnight', '99999999999999999999s'],
  ],
  ['k8s-short-name', ['a-b', '0'], ['', '-a', 'A', 'a.b', 'a'.repeat(64)]],
  ['k8s-long-name', ['a.b', 'a'.repeat(253)], ['', 'a..b', '.a', 'a'.repeat(254)]],
]

describe('formatOf', () => {
  test.each(formats)('%s', (name, good, bad) => {
    const matches = formatOf(name, ['string'])?.matches ?? (() => undefined)
    expect(good.filter((text) => matches(text) !== true)).toEqual([])
    expect(bad.filter((text) => matches(text) !== false)).toEqual([])
  })

  test('dashes in names mean nothing', () => {
    expect(formatOf('datetime', ['string'])?.matches).toBe(formatOf('date-time', ['string'])?.matches)
  })

  test('knows formats only for the types they belong to', () => {
    expect(formatOf('int32', ['integer'])).toEqual({ name: 'int32', limitsNumbers: true })
    expect(formatOf('double', ['number'])).toEqual({ name: 'double', limitsNumbers: true })
    for (const [name, types] of [
      ['int32', ['string']],
      ['int32', ['number']],
      ['float', ['integer']],
      ['date', ['boolean']],
      ['date', ['integer']],
      ['unheard-of', ['string']],
      ['', ['string']],
    ] as const)
      expect(formatOf(name, types)).toBeUndefined()
    expect(formatOf('date', undefined)?.name).toBe('date')
    expect(formatOf('date', ['integer', 'string'])?.name).toBe('date')
  })

  test('is quick with long texts', () => {
    const long = [
      'a'.repeat(200_000),
      '1'.repeat(200_000),
      'a.'.repeat(100_000),
      ':'.repeat(200_000),
      '('.repeat(200_000),
      ' '.repeat(200_000),
      '"\\'.repeat(100_000),
      '1 '.repeat(100_000),
      `rgb(${' '.repeat(200_000)}`,
    ]
    for (const [name] of formats)
      for (const text of long) expect(formatOf(name, ['string'])?.matches?.(text)).toBeTypeOf('boolean')
  })
})
