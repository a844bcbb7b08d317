import { describe, expect, test } from 'vitest'
import type { Node } from './ast.ts'
import { formatIssues } from './issues.ts'
import { parseExpression } from './parser.ts'
import { Bytes, Double, Uint, type Value } from './values.ts'

describe('parseExpression', () => {
  test.each([
    ['1 + 2 * 3', '_+_(1, _*_(2, 3))'],
    ['1 - 2 - 3', '_-_(_-_(1, 2), 3)'],
    ['!a.b && c', '_&&_(!_(a.b), c)'],
    ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'],
    ['a in b == c', '_==_(@in(a, b), c)'],
    ['-a.b', '-_(a.b)'],
    ['--a', 'a'],
    ['!!!a', '!_(a)'],
    ['a.b(c, d)[0]', '_[_](a.b(c, d), 0)'],
    ['a.?b[?c]', '_[?_](_?._(a, "b"), c)'],
    ['[1, ?a,]', '[1, ?a]'],
    ['{a: 1, ?"b": 2}', '{a: 1, ?"b": 2}'],
    ['a.`b-c/d.e`', 'a.b-c/d.e'],
    ['.a.b', '.a.b'],
    ['a && b && c && d', '_&&_(_&&_(a, b), _&&_(c, d))'],
    ['has(a.b)', 'has(a.b)'],
    ['a // comment\n + 1', '_+_(a, 1)'],
    ['a.b.C{d: 1}', 'a.b.C{d: 1}'],
    ['has(a)(b)', undefined],
  ])('reads %s by the precedence of the grammar', (text, shape) => {
    const node = parseExpression(text)
    expect('issues' in node ? undefined : print(node)).toBe(shape)
  })

  test.each<[string, Value]>([
    ['-9223372036854775808', -9223372036854775808n],
    ['0x1F', 31],
    ['42u', new Uint(42n)],
    ['.5e1', new Double(5)],
    ["'a\\n\\x41\\u00e9\\U0001F600\\101'", 'a\nAé😀A'],
    ['r"\\d\\n"', '\\d\\n'],
    ['"""a"b\r\nc"""', 'a"b\nc'],
    ["''", ''],
    ["b'\\xff\\377é'", new Bytes(Uint8Array.of(255, 255, 0xc3, 0xa9))],
    ["bR'\\x'", new Bytes(Uint8Array.of(92, 120))],
    ['null', null],
    ['true', true],
  ])('reads the literal %s', (text, value) => {
    expect(parseExpression(text)).toMatchObject({ kind: 'literal', value })
  })

  test.each([
    ['1 +', '1:4', "mismatched input '<EOF>'"],
    ['1 2', '1:3', "extraneous input '2' expecting <EOF>"],
    ['(1', '1:3', "missing ')' at '<EOF>'"],
    ['a\n && for', '2:5', 'reserved identifier: for'],
    ['9223372036854775808', '1:1', 'invalid int literal'],
    ['18446744073709551616u', '1:1', 'invalid uint literal'],
    ['1e999', '1:1', 'invalid double literal'],
    ["'\\ud800'", '1:1', 'invalid unicode code point'],
    ["b'\\u00e9'", '1:1', 'unable to unescape string'],
    ["'abc", '1:1', "token recognition error at: ''abc'"],
    ['a # b', '1:3', "token recognition error at: '#'"],
    ['has(a)', '1:5', 'invalid argument to has() macro'],
    ['a.all(b.c, true)', '1:8', 'argument must be a simple name'],
    ['a.map(b.c, true)', '1:8', 'argument is not an identifier'],
    ['a.all(x, x, true)', '1:10', 'duplicate variable name: x'],
    ['a.all(__result__, true)', '1:7', 'iteration variable overwrites accumulator variable'],
  ])('says what is wrong with %s, and where', (text, place, message) => {
    const node = parseExpression(text)
    const [first] = 'issues' in node ? formatIssues(text, node.issues).split('\n') : []
    expect(first).toContain(`ERROR: <input>:${place}: `)
    expect(first).toContain(message)
  })

  test('points at the place, counting characters', () => {
    const text = "a ==\n\t'😀' + §"
    const node = parseExpression(text)
    expect('issues' in node && formatIssues(text, node.issues).split('\n').slice(0, 3)).toEqual([
      "ERROR: <input>:2:8: Syntax error: token recognition error at: '§'",
      " |  '😀' + §",
      ' | ..．....＾',
    ])
  })

  test.each<[string, (count: number) => string]>([
    ['parentheses', (count) => `${'('.repeat(count)}1${')'.repeat(count)}`],
    ['lists', (count) => `${'['.repeat(count)}1${']'.repeat(count)}`],
    ['sums', (count) => '1+'.repeat(count) + '1'],
    ['selections', (count) => 'a' + '.b'.repeat(count)],
    ['calls', (count) => 'a' + '.map(x, x)'.repeat(count)],
  ])('takes %s to a depth of 249 and refuses a thousand', (_, text) => {
    expect(parseExpression(text(249))).not.toHaveProperty('issues')
    expect(parseExpression(text(1000))).toHaveProperty('issues')
  })

  test('takes long chains of && and refuses very long texts', () => {
    expect(parseExpression('a && '.repeat(15_000) + 'a')).not.toHaveProperty('issues')
    expect(parseExpression(`'${'x'.repeat(100_000)}'`)).toEqual({
      issues: [{ message: 'expression code point size exceeds limit: size: 100002, limit 100000' }],
    })
  })

  test('refuses a chain of macros that would double without end', () => {
    expect(parseExpression('a' + '.optMap(x, x)'.repeat(60))).toHaveProperty('issues')
  })
})

function print(node: Node): string {
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value)
    case 'identifier':
      return node.name
    case 'select':
      return node.testOnly ? `has(${print(node.operand)}.${node.field})` : `${print(node.operand)}.${node.field}`
    case 'call':
      return `${node.target ? `${print(node.target)}.` : ''}${node.name}(${node.arguments.map(print).join(', ')})`
    case 'list':
      return `[${node.elements.map((element, index) => (node.optional.has(index) ? '?' : '') + print(element)).join(', ')}]`
    case 'map':
      return `{${node.entries.map(({ key, value, optional }) => `${optional ? '?' : ''}${print(key)}: ${print(value)}`).join(', ')}}`
    case 'struct':
      return `${node.typeName}{${node.fields.map(({ name, value }) => `${name}: ${print(value)}`).join(', ')}}`
    case 'comprehension':
      return 'loop'
  }
}
