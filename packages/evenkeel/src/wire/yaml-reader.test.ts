import { describe, expect, test } from 'vitest'
import { getOwn, isApiError, type JsonObject } from '#api'
import { readYaml } from './yaml-reader.ts'

const read = async (text: string): Promise<unknown> => (await readYaml(text)).value

async function refusal(text: string): Promise<string> {
  try {
    await readYaml(text)
  } catch (error) {
    if (isApiError(error)) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'it was read'
}

describe('readYaml', () => {
  test('reads a manifest, comments and all', async () => {
    const text =
      '# a pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: x # here\nspec:\n  containers:\n  - name: a\n    args: ["-x", \'1\']\n    script: |\n      one\n      two\n'
    expect(await readYaml(new TextEncoder().encode(text))).toEqual({
      value: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'x' },
        spec: { containers: [{ name: 'a', args: ['-x', '1'], script: 'one\ntwo\n' }] },
      },
      duplicates: [],
    })
  })

  test('reads JSON, which most clients send as YAML', async () => {
    expect(await readYaml(' {"a": "yes", "b": [1, null], "a": 2}')).toEqual({
      value: { a: 2, b: [1, null] },
      duplicates: ['a'],
    })
    expect(await read('{a: yes}')).toEqual({ a: true })
    expect(await read('{"a": yes}')).toEqual({ a: true })
  })

  /** Plain scalars as Go's parser of YAML 1.1 reads them. */
  test.each<[string, unknown]>([
    ['yes', true],
    ['Yes', true],
    ['on', true],
    ['y', true],
    ['TRUE', true],
    ['no', false],
    ['OFF', false],
    ['n', false],
    ['yEs', 'yEs'],
    ['null', null],
    ['~', null],
    ['', null],
    ['Null', null],
    ['nULL', 'nULL'],
    ['010', 8],
    ['0o17', 15],
    ['08', 8],
    ['0x1F', 31],
    ['-0x1f', -31],
    ['0b11', 3],
    ['+1', 1],
    ['1_000', 1000],
    ['1e3', 1000],
    ['.5', 0.5],
    ['5.', 5],
    ['-.5', -0.5],
    ['-0', 0],
    ['1:30', '1:30'],
    ['190:20:30', '190:20:30'],
    ['2026-01-01', '2026-01-01'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['1e400', '1e400'],
    ['1.2.3', '1.2.3'],
    ['0xFFFFFFFFFFFFFFFFFF', '0xFFFFFFFFFFFFFFFFFF'],
    ['100m', '100m'],
    ['"yes"', 'yes'],
    ["'010'", '010'],
    ['!!str 010', '010'],
    ['! 010', '010'],
    ['!!int "3"', 3],
    ['!!float 3', 3],
    ['!!bool on', true],
    ['!!null ""', null],
  ])('reads the scalar %s', async (text, value) => {
    expect(await read(`a: ${text}\n`)).toEqual({ a: value })
  })

  test('converts keys to strings', async () => {
    expect(await read('1: a\n0x10: b\n1.5: c\nyes: d\n"2": e\n99999999999999999999: f\n')).toEqual({
      1: 'a',
      16: 'b',
      '1.5': 'c',
      true: 'd',
      2: 'e',
      '99999999999999999999': 'f',
    })
    expect(await refusal('~: a\n')).toContain('unsupported map key')
    expect(await refusal('? [a]\n: 1\n')).toContain('a key must be a scalar')
  })

  test('reports duplicate keys with their paths and takes the last', async () => {
    expect(await readYaml('metadata:\n  name: a\n  labels: {x: 1, x: 2}\nspec:\n- {}\n- a: 1\n  a: 2\n')).toEqual({
      value: { metadata: { name: 'a', labels: { x: 2 } }, spec: [{}, { a: 2 }] },
      duplicates: ['metadata.labels.x', 'spec[1].a'],
    })
    expect((await readYaml('yes: 1\ntrue: 2\n')).duplicates).toEqual(['true'])
  })

  test('copies aliases: no object occurs twice', async () => {
    const value = (await read('a: &x {b: [1]}\nc: *x\nd: *x\n')) as JsonObject
    expect(value).toEqual({ a: { b: [1] }, c: { b: [1] }, d: { b: [1] } })
    expect(value['c']).not.toBe(value['d'])
    expect(await read('a: &k key\n*k : 1\n')).toEqual({ a: 'key', key: 1 })
    expect(await read('a: &x 1\nb: &x 2\nc: *x\n')).toEqual({ a: 1, b: 2, c: 2 })
  })

  test('merges merge keys in the order of the text; of several the first wins', async () => {
    expect(await read('base: &b {x: 1, z: 2}\nd:\n  <<: *b\n  x: 3\n')).toEqual({
      base: { x: 1, z: 2 },
      d: { x: 3, z: 2 },
    })
    expect(await read('a: &a {x: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: [*a, *b]\n')).toEqual({
      a: { x: 1 },
      b: { x: 2, z: 2 },
      c: { x: 1, z: 2 },
    })
    expect(await read('"<<": {a: 1}\n')).toEqual({ '<<': { a: 1 } })
    expect(await refusal('<<: 1\n')).toContain('map merge requires map')
  })

  test('treats __proto__ as an ordinary key', async () => {
    const value = (await read('__proto__: {polluted: true}\nm:\n  <<: {__proto__: 1}\n')) as JsonObject
    expect(getOwn(value, '__proto__')).toEqual({ polluted: true })
    expect(getOwn(value['m'] as JsonObject, '__proto__')).toBe(1)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test('accepts one document; others may be empty', async () => {
    expect(await read('---\na: 1\n...\n')).toEqual({ a: 1 })
    expect(await read('a: 1\n---\n')).toEqual({ a: 1 })
    expect(await read('')).toBeNull()
    expect(await read('# nothing\n')).toBeNull()
    expect(await refusal('a: 1\n---\nb: 2\n')).toContain('one document, not several')
  })

  test.each([
    ['a: [1\n', 'yaml: '],
    ['a: b: c\n', 'at line 1'],
    ['\ta: 1\n', 'yaml: '],
    ['x: *nope\n', 'nope'],
    ['a: &a [*a]\n', 'contains itself'],
    ['a: .nan\n', 'no JSON number'],
    ['a: -.inf\n', 'no JSON number'],
    ['a: !foo x\n', 'the tag !foo is not allowed'],
    ['a: !!binary aGk=\n', 'is not allowed'],
    ['a: !!set {x}\n', 'is not allowed'],
    ['a: !!js/function "x"\n', 'is not allowed'],
    ['a: !!int x\n', 'cannot decode'],
  ])('refuses %j', async (text, message) => {
    expect(await refusal(text)).toMatch(/^BadRequest: /)
    expect(await refusal(text)).toContain(message)
  })

  test('does not quote the text in its errors', async () => {
    expect(await refusal('password: hunter2\n  oops: [\n')).not.toContain('hunter2')
  })

  test('limits the expansion of nested aliases', async () => {
    const laughs = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    const merges = ['m0: &m0 {a: 1}']
    for (let level = 1; level < 30; level++) {
      laughs.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`)
      merges.push(`m${level}: &m${level} {<<: [${`*m${level - 1}, `.repeat(9)}]}`)
    }
    expect(await refusal(laughs.join('\n'))).toContain('excessive aliasing')
    expect(await refusal(merges.join('\n'))).toContain('excessive aliasing')
    expect(await refusal(`a: &a ${'x'.repeat(100_000)}\nb: [${'*a, '.repeat(1000)}]\n`)).toContain('excessive aliasing')
  })

  test('bounds depth and size', async () => {
    expect(await refusal(`${'['.repeat(100_000)}`)).toContain('nested too deeply')
    expect(await refusal(`${'['.repeat(301)}${']'.repeat(301)}`)).toMatch(/levels deep|too deeply/)
    expect(await refusal(`a: ${'x'.repeat(1024 * 1024)}`)).toBe(
      'RequestEntityTooLarge: Request entity too large: limit is 1048576',
    )
    expect(await read(`{"a": "${'x'.repeat(1024 * 1024)}"}`)).toHaveProperty('a')
  })

  test('refuses bytes that are not UTF-8', async () => {
    await expect(readYaml(Uint8Array.of(0x61, 0xff))).rejects.toThrow('not valid UTF-8')
  })
})
