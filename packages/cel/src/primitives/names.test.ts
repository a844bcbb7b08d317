import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkDns1035Label,
  checkDns1035LabelName,
  checkDnsLabel,
  checkDnsLabelName,
  checkDnsSubdomain,
  checkDnsSubdomainName,
  checkLabelValue,
  checkPathSegmentName,
  checkQualifiedName,
  generateName,
} from './names.ts'

const a = (count: number): string => 'a'.repeat(count)

interface Rule {
  readonly check: (value: string) => string[]
  readonly good: readonly string[]
  readonly bad: readonly string[]
}

const rules: Record<string, Rule> = {
  dnsLabel: {
    check: checkDnsLabel,
    good: ['a', 'ab', 'a1', 'a--1', '0', '01', '0a--1', '1--a', a(63)],
    bad: ['', 'A', 'aBc', '-', 'a-', '-a', '_', 'a_b', 'a b', ' a', 'a ', 'a\n', 'a.b', '.', 'a.', 'ä', a(64)],
  },
  dnsSubdomain: {
    check: checkDnsSubdomain,
    good: ['a', '0', 'a-b', 'a.b', 'a.b.c.d', '0.0', '1--1.a', `${a(126)}.${a(126)}`, a(253)],
    bad: ['', 'A', '-', 'a-', '-a', 'a.', '.a', 'a..b', 'a.-b', 'a-.b', 'A.b', 'a_b', 'a.b ', 'a\n', a(254)],
  },
  dns1035Label: {
    check: checkDns1035Label,
    good: ['a', 'ab', 'a1', 'a--1', a(63)],
    bad: ['', '0', '01', '0a', 'A', 'a-', '-a', 'a.b', 'a_b', a(64)],
  },
  qualifiedName: {
    check: checkQualifiedName,
    good: [
      'simple',
      'now-with-dashes',
      '1-starts-with-num',
      '1234',
      'simple/simple',
      'now.with.dots/simple',
      '1-num.2-num/3-num',
      '1.2.3.4/5678',
      'Uppercase_Is_OK_123',
      'example.com/Uppercase_Is_OK_123',
      a(63),
      `${a(253)}/${a(63)}`,
      'toString',
      'constructor',
    ],
    bad: [
      '',
      '/',
      'nospecialchars%^=@',
      'cantendwithadash-',
      '-cantstartwithadash',
      'only/one/slash',
      'Example.com/abc',
      'example_com/abc',
      'example.com/',
      '/simple',
      a(64),
      `${a(254)}/abc`,
      '__proto__',
      'a\n',
    ],
  },
  labelValue: {
    check: checkLabelValue,
    good: ['', 'simple', 'now-with-dashes', '1-starts-with-num', 'end-with-num-1', '1234', 'UPPERCASE_1.2', a(63)],
    bad: [
      'nospecialchars%^=@',
      'Tama-nui-te-rā.is.Māori.sun',
      '\\backslashes\\are\\bad',
      '-starts-with-dash',
      'ends-with-dash-',
      '.starts.with.dot',
      'ends.with.dot.',
      ' a',
      a(64),
    ],
  },
  pathSegment: {
    check: (value) => checkPathSegmentName(value),
    good: ['', 'a', 'system:node', 'a.b', '...', 'UPPER space', '.a', 'ä'],
    bad: ['.', '..', 'a/b', '/', '50%', '%2F'],
  },
}

for (const [name, { check, good, bad }] of Object.entries(rules)) {
  describe(name, () => {
    test.each(good)('allows %j', (value) => expect(check(value)).toEqual([]))
    test.each(bad)('refuses %j', (value) => expect(check(value)).not.toEqual([]))
  })
}

describe("complaints are upstream's", () => {
  const labelKeyRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  const subdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

  test.each<[string[], string[]]>([
    [
      checkDnsLabel('A'),
      [
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [checkDnsLabel('a.b'), ['must not contain dots']],
    [checkDnsLabel(a(64)), ['must be no more than 63 characters']],
    [checkDnsLabel(`${a(63)}.b`), ['must be no more than 63 characters', 'must not contain dots']],
    [
      checkDns1035Label(`1${a(63)}`),
      ['must be no more than 63 characters', expect.stringMatching(/^a DNS-1035 label/) as string],
    ],
    [checkDnsSubdomain('A'), [subdomainRule]],
    [checkDnsSubdomain(a(254)), ['must be no more than 253 characters']],
    [checkDnsSubdomain(`${a(254)}_`), ['must be no more than 253 characters', subdomainRule]],
    [
      checkDns1035Label('1'),
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      checkQualifiedName('a/b/c'),
      [`a valid label key ${labelKeyRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    [checkQualifiedName(''), ['name part must be non-empty', `name part ${labelKeyRule}`]],
    [checkQualifiedName('/a'), ['prefix part must be non-empty']],
    [checkQualifiedName('A/a'), [`prefix part ${subdomainRule}`]],
    [checkQualifiedName(`${a(254)}/a`), ['prefix part must be no more than 253 bytes']],
    [checkQualifiedName(a(64)), ['name part must be no more than 63 bytes']],
    [
      checkLabelValue('-'),
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [checkLabelValue(a(64)), ['must be no more than 63 bytes']],
    [checkPathSegmentName('..'), ["may not be '..'"]],
    [checkPathSegmentName('%/'), ["may not contain '/'", "may not contain '%'"]],
  ])('%#', (actual, expected) => expect(actual).toEqual(expected))

  test('length is counted in bytes', () => {
    expect(checkLabelValue('é'.repeat(32))).toContain('must be no more than 63 bytes')
    expect(checkLabelValue('é'.repeat(31))).not.toContain('must be no more than 63 bytes')
  })
})

describe('name rules with a prefix', () => {
  test('let a dash stand at the end, because more will follow', () => {
    for (const rule of [checkDnsLabelName, checkDnsSubdomainName, checkDns1035LabelName]) {
      expect(rule('web-')).not.toEqual([])
      expect(rule('web-', { prefix: true })).toEqual([])
      expect(rule('-', { prefix: true })).not.toEqual([])
      expect(rule('Web-', { prefix: true })).not.toEqual([])
    }
    expect(checkDnsSubdomainName('a.b-', { prefix: true })).toEqual([])
    expect(checkPathSegmentName('..', { prefix: true })).toEqual([])
    expect(checkPathSegmentName('a/', { prefix: true })).toEqual(["may not contain '/'"])
  })
})

describe('generateName', () => {
  test('appends five characters of the alphabet, picked by the random numbers', () => {
    const numbers = [0, 26, 1, 25, 13]
    const bounds: number[] = []
    const name = generateName('web-', (below) => {
      bounds.push(below)
      return numbers[bounds.length - 1] ?? 0
    })
    expect(name).toBe('web-b9c8r')
    expect(bounds).toEqual([27, 27, 27, 27, 27])
  })

  test('never gets longer than 63, whatever the prefix, and keeps its beginning', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), fc.infiniteStream(fc.nat(26)), (prefix, numbers) => {
        const name = generateName(prefix, () => numbers.next().value as number)
        expect(name.length).toBe(Math.min(prefix.length, 58) + 5)
        expect(name.startsWith(prefix.slice(0, 58))).toBe(true)
        expect(name.slice(-5)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      }),
    )
  })
})
