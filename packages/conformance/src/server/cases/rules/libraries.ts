/**
 * The CEL functions of rules: each expression holds for the given object, and its negation does not.
 */
import type { ServerCase } from '../../target.ts'
import { checked, ruleCase } from './judge.ts'
import type { RuleCase } from './judge.ts'

const text = { type: 'string', maxLength: 60 }
const texts = { type: 'array', maxItems: 10, items: text }
const numbers = { type: 'array', maxItems: 10, items: { type: 'integer' } }

interface Library {
  readonly id: string
  readonly rule: string
  readonly holds: readonly string[]
}

const libraries: readonly Library[] = [
  {
    id: 'text',
    rule: 'Rules can use string functions.',
    holds: [
      'self.s.lowerAscii() == "hello, world"',
      'self.s.upperAscii().contains("WORLD")',
      'self.s.split(", ") == ["Hello", "World"]',
      'self.s.replace("World", "you") == "Hello, you"',
      'self.s.indexOf("o") == 4 && self.s.lastIndexOf("o") == 8',
      'self.s.substring(7) == "World" && self.s.charAt(0) == "H"',
      '"  x ".trim() == "x"',
      'self.s.matches("^H.*d$")',
      '"%s has %d".format([self.s, 2]) == "Hello, World has 2"',
      'strings.quote("a\\"b") == "\\"a\\\\\\"b\\""',
      'size("äöü") == 3',
    ],
  },
  {
    id: 'lists',
    rule: 'Rules can use list functions.',
    holds: [
      'self.n.sum() == 6',
      'self.n.min() == 1 && self.n.max() == 3',
      'self.n.isSorted()',
      'self.n.indexOf(2) == 1 && self.n.lastIndexOf(9) == -1',
      'self.n.map(x, x * 2) == [2, 4, 6]',
      'self.n.filter(x, x > 1).size() == 2',
      'self.n.exists(x, x == 3) && self.n.exists_one(x, x == 3) && !self.n.all(x, x == 3)',
      'self.n.map(x, x > 1, x) == [2, 3]',
      'self.n.slice(1, 3) == [2, 3]',
      '[[1], [2, 3]].flatten() == [1, 2, 3]',
      '[3, 1, 2].sort() == [1, 2, 3]',
      '[1, 1, 2].distinct() == [1, 2]',
      'lists.range(3) == [0, 1, 2]',
      '[1, 2].reverse() == [2, 1]',
      '[{"k": 2}, {"k": 1}].sortBy(e, e.k)[0].k == 1',
      '2 in self.n && !(5 in self.n)',
    ],
  },
  {
    id: 'sets',
    rule: 'Rules can use set functions.',
    holds: [
      'sets.contains(self.l, ["a"])',
      'sets.intersects(self.l, ["b", "z"])',
      'sets.equivalent(self.l, ["b", "a", "a"])',
      '!sets.contains(self.l, ["z"])',
    ],
  },
  {
    id: 'regex',
    rule: 'Rules can use regular expressions.',
    holds: [
      '"abc 123 def 456".find("[0-9]+") == "123"',
      '"abc 123 def 456".findAll("[0-9]+") == ["123", "456"]',
      '"abc 123 def 456".findAll("[0-9]+", 1) == ["123"]',
      '"x".find("[0-9]") == ""',
    ],
  },
  {
    id: 'url',
    rule: 'Rules can parse URLs.',
    holds: [
      'isURL(self.u) && !isURL("../x")',
      'url(self.u).getScheme() == "https"',
      'url(self.u).getHost() == "example.com:8443"',
      'url(self.u).getHostname() == "example.com" && url(self.u).getPort() == "8443"',
      'url(self.u).getEscapedPath() == "/a%20b"',
      'url(self.u).getQuery()["q"] == ["1", "2"]',
    ],
  },
  {
    id: 'quantity',
    rule: 'Rules can compute with quantities.',
    holds: [
      'isQuantity(self.q) && !isQuantity("x")',
      'quantity(self.q).isGreaterThan(quantity("1Gi"))',
      'quantity(self.q).sub(quantity("512Mi")).compareTo(quantity("1Gi")) == 0',
      'quantity(self.q).add(quantity("512Mi")).compareTo(quantity("2Gi")) == 0',
      'quantity("50k").asInteger() == 50000 && quantity("50k").isInteger()',
      'quantity("200M").compareTo(quantity("0.2G")) == 0',
      'quantity("0.5").asApproximateFloat() == 0.5',
    ],
  },
  {
    id: 'network',
    rule: 'Rules can use IP addresses and CIDRs.',
    holds: [
      'isIP("10.0.0.1") && isIP("::1") && !isIP("x")',
      'ip("10.0.0.1").family() == 4 && ip("::1").isLoopback()',
      'ip.isCanonical("127.0.0.1") && !ip.isCanonical("2001:DB8::ABCD")',
      'ip("fe80::1").isLinkLocalUnicast() && ip("0.0.0.0").isUnspecified()',
      'isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0")',
      'cidr("10.0.0.0/8").containsIP("10.1.2.3") && cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")',
      'cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8") && cidr("10.0.0.0/8").prefixLength() == 8',
      'cidr("10.0.0.0/8").ip() == ip("10.0.0.0")',
      'string(ip("10.0.0.1")) == "10.0.0.1"',
    ],
  },
  {
    id: 'formats',
    rule: 'Rules can use named formats.',
    holds: [
      '!format.dns1123Label().validate("abc").hasValue()',
      'format.dns1123Label().validate("A B").hasValue()',
      'format.named("uuid").hasValue() && !format.named("none").hasValue()',
      '!format.uri().validate("https://example.com").hasValue()',
      'format.dns1123Subdomain().validate("a..b").hasValue()',
      '!format.qualifiedName().validate("example.com/a").hasValue()',
      '!format.date().validate("2026-01-31").hasValue()',
    ],
  },
  {
    id: 'semver',
    rule: 'Rules can compare semantic versions.',
    holds: [
      'isSemver("1.2.3") && !isSemver("1.2")',
      'semver("1.2.3").isLessThan(semver("1.10.0"))',
      'semver("1.2.3").major() == 1 && semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3',
      'semver("v1.2", true) == semver("1.2.0")',
      'semver("1.0.0-alpha").compareTo(semver("1.0.0")) == -1',
    ],
  },
  {
    id: 'two-variables',
    rule: 'Comprehensions can have two variables.',
    holds: [
      'self.n.all(i, v, v == i + 1)',
      'self.n.exists(i, v, i == 2 && v == 3)',
      'self.n.existsOne(i, v, v == 2)',
      'self.n.transformList(i, v, i * v) == [0, 2, 6]',
      'self.m.transformMap(k, v, v + 1) == {"x": 2, "y": 3}',
      'self.m.transformMapEntry(k, v, {v: k})[1] == "x"',
      'self.m.all(k, v, k in self.m && v > 0)',
    ],
  },
  {
    id: 'optionals',
    rule: 'Optional field access on a missing field is not an error.',
    holds: [
      'self.?none.hasValue() == false',
      'self.?s.orValue("x") == "Hello, World"',
      'self.m[?"x"].value() == 1 && !self.m[?"z"].hasValue()',
      'self.n[?7].orValue(0) == 0',
      'optional.of(1).optMap(x, x + 1).value() == 2',
      'optional.none().or(optional.of(3)).value() == 3',
      '[?self.?none, ?optional.of("a")] == ["a"]',
      '{?"k": optional.of(1)} == {"k": 1}',
    ],
  },
  {
    id: 'conversions',
    rule: 'Rules can convert values between types.',
    holds: [
      'int("5") + int(2.9) == 7',
      'double("1.5") == 1.5',
      'string(true) == "true"',
      'bytes("abc") == b"abc"',
      'bool("true")',
      'timestamp("2026-01-01T00:00:00Z").getMonth() == 0',
      'duration("90s").getMinutes() == 1',
      'uint(5) == 5u',
      'dyn(5) == 5.0',
      'type(self.n) == list && type("") == string',
      'has(self.s) ? true : false',
      'timestamp("2026-01-01T00:00:00Z") + duration("24h") == timestamp("2026-01-02T00:00:00Z")',
    ],
  },
]

const spec = {
  s: 'Hello, World',
  n: [1, 2, 3],
  l: ['a', 'b'],
  u: 'https://example.com:8443/a%20b?q=1&q=2',
  q: '1.5Gi',
  m: { x: 1, y: 2 },
}
const properties = {
  s: text,
  n: numbers,
  l: texts,
  u: text,
  q: text,
  m: { type: 'object', maxProperties: 10, additionalProperties: { type: 'integer' } },
  none: text,
}

function libraryCase({ id, rule, holds }: Library): RuleCase {
  const opposite = { rule: `has(self.none) ? !(${holds[0] ?? 'true'}) : true`, message: 'the opposite' }
  return {
    id: `library-${id}`,
    rule,
    spec: { type: 'object', properties, ...checked(...holds, opposite) },
    steps: [
      { create: spec },
      {
        create: { ...spec, none: 'x' },
        causes:
          id === 'optionals'
            ? [
                'spec: Invalid value: failed rule: self.?none.hasValue() == false',
                'spec: Invalid value: failed rule: [?self.?none, ?optional.of("a")] == ["a"]',
              ]
            : ['spec: Invalid value: the opposite'],
      },
    ],
  }
}

export const ruleLibraryCases: readonly ServerCase[] = libraries.map(libraryCase).map(ruleCase)
