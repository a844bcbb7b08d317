import { expect, test } from 'vitest'
import { defaultIgnored, ignoreTest } from './ignore-patterns.ts'

test.each<[pattern: string, path: string, isIgnored: boolean]>([
  ['node_modules', '/app/node_modules/x/index.js', true],
  ['node_modules', '/app/src/node_modules', true],
  ['node_modules', '/app/src/node_modules.ts', false],
  ['*.log', '/app/a/b.log', true],
  ['*.log', '/app/a/b.logs', false],
  ['a?c', '/app/abc', true],
  ['dist/', '/app/dist/x', true],
  ['src/gen/**', '/app/src/gen/a/b.ts', true],
  ['src/gen/**', '/app/lib/src/gen/a.ts', false],
  ['**/gen/*.ts', '/app/a/b/gen/x.ts', true],
  ['src/*.ts', '/app/src/a/b.ts', false],
  ['./src/a.ts', '/app/src/a.ts', true],
  ['a+(b)', '/app/a+(b)', true],
  ['/app/data', '/app/data/session', true],
  ['/app/data', '/app/database', false],
  ['src', '/app', false],
])('%s ignores %s: %s', (pattern, path, isIgnored) => {
  expect(ignoreTest(['/app'], [pattern])(path)).toBe(isIgnored)
})

test('what tools and editors write is ignored without being named', () => {
  const isIgnored = ignoreTest(['/app'], defaultIgnored)
  for (const name of ['.git/HEAD', 'node_modules/a', 'src/.a.ts.swp', 'src/a.ts~', 'src/.#a.ts', '4913'])
    expect(isIgnored(`/app/${name}`), name).toBe(true)
  expect(isIgnored('/app/src/a.ts')).toBe(false)
})
