import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { sourcePlace } from './source-maps.ts'

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-maps-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Line 1 of the compiled file is line 3 of the source, column for column. */
const map = JSON.stringify({ version: 3, sources: ['../src/app.ts'], names: [], mappings: 'AAEA' })

function compiled(name: string, comment: string): string {
  const path = join(folder, name)
  writeFileSync(path, `throw new Error()\n${comment}\n`)
  return path
}

describe('F1: sourcePlace', () => {
  test.each([
    ['a map beside the file', 'a.js', '//# sourceMappingURL=a.js.map'],
    [
      'a map in the file',
      'b.mjs',
      `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`,
    ],
  ])('follows %s', (_, name, comment) => {
    const path = compiled(name, comment)
    writeFileSync(`${path}.map`, map)
    expect(sourcePlace({ path, line: 1, column: 1 })).toEqual({
      path: join(folder, '../src/app.ts'),
      line: 3,
      column: 1,
    })
  })

  test.each([
    ['no map', 'c.js', ''],
    ['a map that is missing', 'd.js', '//# sourceMappingURL=nowhere.map'],
    ['a map that cannot be read', 'e.js', '//# sourceMappingURL=data:application/json;base64,AAAA'],
    ['TypeScript', 'f.ts', '//# sourceMappingURL=a.js.map'],
  ])('stays where it is with %s', (_, name, comment) => {
    const place = { path: compiled(name, comment), line: 1, column: 1 }
    expect(sourcePlace(place)).toEqual(place)
  })

  test('stays where it is when the file is gone', () => {
    const place = { path: join(folder, 'gone.js'), line: 1, column: 1 }
    expect(sourcePlace(place)).toEqual(place)
  })
})
