import { describe, expect, test } from 'vitest'
import { sitesOf, withSwitches } from './mutate/sites.ts'

/** Every mutant of a text, as `kind: original -> mutated`. */
function mutantsOf(text: string): string[] {
  return sitesOf('a.ts', text).map(({ kind, original, mutated }) => `${kind}: ${original} -> ${mutated}`)
}

/** The text with its first mutant of a sort behind a switch. */
function switched(text: string, sort: string): string {
  return withSwitches(
    text,
    sitesOf('a.ts', text)
      .filter(({ kind }) => kind === sort)
      .slice(0, 1)
      .map((site) => ({ ...site, id: 7 })),
  )
}

describe('sites', () => {
  test.for([
    [
      'function f(a: number) { if (a < 2) g() }',
      [
        'condition: a < 2 -> !(a < 2)',
        'condition: a < 2 -> a <= 2',
        'constant: 2 -> (2 + 1)',
        'call: g() -> undefined',
      ],
    ],
    [
      'function f(a: boolean, b: boolean) { return a && b }',
      ['return: a && b -> undefined', 'condition: a && b -> a || b'],
    ],
    ['const f = () => { return true }', ['return: true -> false']],
    ['class A { #n = 1 }', ['constant: 1 -> (1 + 1)']],
    ['class A { static n = 1 }', []],
    ['function f(log: Log) { log.warn("a", { n: 1 }); assert(true) }', []],
    ['const table = { a: 1 }', []],
    ['const limit = 10', []],
    [
      'const limit = 10\nfunction f(n: number) { h(n, limit) }',
      ['call: h(n, limit) -> undefined', 'constant: 10 -> (10 + 1)'],
    ],
  ] as const)('of %s', ([text, expected]) => {
    expect(mutantsOf(text)).toEqual(expected)
  })
})

describe('switches', () => {
  test('change an expression only while the mutant is active', () => {
    const changed = switched('function f(a) { return a === 1 }', 'return')
    expect(changed).toBe('function f(a) { return (globalThis.__mutant?.(7) ? (undefined) : (a === 1)) }')
  })

  test('keep a statement apart from the line before', () => {
    const changed = switched('function f(a) {\n  const b = a\n  g(b)\n}', 'call')
    expect(changed).toContain('const b = a\n  void (globalThis.__mutant?.(7) ? (undefined) : (g(b)))')
  })

  test('change the uses of a constant, which is evaluated before any test runs', () => {
    const changed = switched(
      'const limit = 10\nconst f = (n) => ({ limit, over: n > limit, at: { limit: limit } })',
      'constant',
    )
    expect(changed.split('\n')[0]).toBe('const limit = 10')
    expect(changed.match(/__mutant/g)).toHaveLength(2)
  })
})
