import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { duplicateYamlKeys } from './yaml-reader.ts'

describe('repeatedKeys', () => {
  test.each([
    ['a: 1\nb: 2\n', []],
    ['# one\na: 1\na: 2\n', ['line 3: key "a" already set in map']],
    [
      'x:\n  a: 1\n  a: 2\ny:\n- b: 1\n  b: 2\n  b: 3\n',
      [
        'line 3: key "a" already set in map',
        'line 6: key "b" already set in map',
        'line 7: key "b" already set in map',
      ],
    ],
    ['{"a":1,\n"a":2}', ['line 2: key "a" already set in map']],
    ['', []],
  ] as const)('finds in %j: %j', async (text, sentences) => {
    assert.deepEqual(await duplicateYamlKeys(Buffer.from(text)), sentences)
  })

  test('reports at most 100', async () => {
    assert.equal((await duplicateYamlKeys(Buffer.from('a: 1\n'.repeat(500)))).length, 100)
  })
})
