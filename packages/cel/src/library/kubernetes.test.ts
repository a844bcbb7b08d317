import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CompiledExpression, compileExpression } from '../expression.ts'
import { describeValue as show } from '../type-names.ts'
import { baseEnvironment } from './base.ts'
import { formatAddress, parseAddress } from './ip.ts'
import { escapedPath, parseRequestUrl, unescapeUrl } from './url.ts'

function run(text: string): string {
  const compiled = compileExpression(text, baseEnvironment)
  if (!(compiled instanceof CompiledExpression)) return compiled.errors
  const { value, error } = compiled.evaluate({})
  return error === undefined ? show(value) : `error: ${error}`
}

describe('addresses', () => {
  test('are read as they were written canonically', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text)
        if (typeof address !== 'string') expect(parseAddress(formatAddress(address))).toEqual(address)
      }),
    )
  })

  test.each([
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::1.2.3.4', '::102:304'],
    ['10.0.0.1', '10.0.0.1'],
  ])('%s is written %s', (text, canonical) => {
    const address = parseAddress(text)
    expect(typeof address === 'string' ? address : formatAddress(address)).toBe(canonical)
  })

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4/8',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    'g::',
    '::ffff:1.2.3.4',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7',
  ])('%j is none', (text) => {
    expect(parseAddress(text)).toBeTypeOf('string')
  })
})

describe('URLs', () => {
  test.each([
    'https://a.b/c?d#e',
    '/only/a/path',
    'http://[::1]:80/',
    'mailto:a@b',
    'http://u:p@h/',
    'http://h:/',
    'HTTP://X',
    '*',
  ])('%s is one', (text) => {
    expect(parseRequestUrl(text)).toBeTypeOf('object')
  })

  test.each([
    '',
    'a/b',
    'http://a b/',
    'http://h:x/',
    'http://[::1/',
    '://x',
    'http://h/%zz',
    'http://%41/',
    'http://a\u0000/',
    'http://h:80:80/',
  ])('%j is none', (text) => {
    expect(parseRequestUrl(text)).toBeTypeOf('string')
  })

  test('paths are unescaped to what they were before escaping', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (path) => {
        if (!path.includes('%')) expect(unescapeUrl(escapedPath(path))).toBe(path)
      }),
    )
  })
})

describe('functions of Kubernetes', () => {
  test.each([
    ['quantity("1.5Gi").add(quantity("512Mi"))', '2Gi'],
    ['quantity("1").sub(2).compareTo(quantity("-1"))', '0'],
    ['quantity("1000m").isInteger()', 'false'],
    [
      'quantity("x")',
      "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['semver("1.2.3-rc.1").isLessThan(semver("1.2.3"))', 'true'],
    ['semver("v1", true)', '1.0.0'],
    ['semver("1.2")', 'error: No Major.Minor.Patch elements found'],
    ['isSemver("1.2.3+b.1")', 'true'],
    ['cidr("10.1.2.3/8").masked()', '10.0.0.0/8'],
    ['cidr("10.0.0.0/8").containsCIDR("10.0.0.0/7")', 'false'],
    ['cidr("fd00::/8").containsIP("10.0.0.1")', 'false'],
    ['ip("ff12::1").isLinkLocalMulticast()', 'true'],
    ['format.named("dns1035Label").value().validate("a-1").hasValue()', 'false'],
    ['format.uuid().validate("x").value()[0]', 'does not match the UUID format'],
    ['format.datetime().validate("2024-01-01T24:00:00Z").hasValue()', 'true'],
    ['url("https://a.b:1/c d?x=1&x=%32;&x=+3").getQuery()["x"].join("|")', '1| 3'],
    ['url("https://a.b:1/c d").getEscapedPath()', '/c%20d'],
    ['"a1b22".findAll("[0-9]+", 1)[0]', '1'],
    ['[2, 1].isSorted() || ["a", "b"].max() == "b"', 'true'],
    ['[].min()', 'error: min called on empty list'],
  ])('%s is %s', (text, wanted) => {
    expect(run(text)).toBe(wanted)
  })
})
