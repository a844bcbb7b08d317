import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getOwn, isApiError, parseJson, type JsonObject } from '#api'
import { findKeys, readJson } from './json.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const errorOf = (source: string | Uint8Array): Error => {
  try {
    readJson(source)
  } catch (error) {
    if (isApiError(error) && error.reason === 'BadRequest') return error
    throw error
  }
  throw new Error('it was read')
}

describe('readJson', () => {
  test('reads bytes and text alike', () => {
    const text = '{"a":[1,"é😀",true,null,{"b":-1.5e3}]}'
    expect(readJson(text)).toEqual({ value: parseJson(text), duplicates: [] })
    expect(readJson(bytes(text))).toEqual(readJson(text))
  })

  /** [text, paths] */
  test.each<[string, string[]]>([
    ['{"a":1,"b":2}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"metadata":{"labels":{"x":"1","y":"2","x":"3"}}}', ['metadata.labels.x']],
    ['{"spec":{"containers":[{"name":"a"},{"name":"b","name":"c"}]}}', ['spec.containers[1].name']],
    ['{"a":{"b":1},"a":{"b":1}}', ['a']],
    ['[[{"a":1}],[{"a":1},{"b":1,"b":1}]]', ['[1][1].b']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{ "a" : 1 ,\n\t"a"\r:2}', ['a']],
    ['{"a":":","b":"a","c":"\\"a\\":","d":"\\\\","e":["a","a"]}', []],
    ['{"__proto__":1,"__proto__":2,"constructor":1}', ['__proto__']],
    ['{"a/b.c":1,"a/b.c":2}', ['a/b.c']],
    ['{"z":{"q":1,"q":2},"z":{"q":1,"q":2}}', ['z.q', 'z']],
    ['{"1":1,"1":2,"01":3}', ['1']],
  ])('finds the duplicate keys of %s', (text, duplicates) => {
    expect(readJson(text).duplicates).toEqual(duplicates)
    expect(readJson(text, { duplicates: false }).duplicates).toEqual([])
  })

  test('takes the last of duplicate keys', () => {
    expect(readJson('{"a":1,"a":{"b":2}}').value).toEqual({ a: { b: 2 } })
  })

  test('names at most 100 duplicates', () => {
    const text = `{${Array.from({ length: 300 }, (_, index) => `"k${index}":1,"k${index}":2`).join()}}`
    expect(readJson(text).duplicates).toHaveLength(100)
  })

  test('finds no duplicates in what JSON.stringify makes, and every one that is added', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, key) => {
        const text = JSON.stringify(value)
        expect(readJson(text)).toEqual({ value: parseJson(text), duplicates: [] })
        const name = JSON.stringify(key)
        expect(readJson(`{"list":[{${name}:0,"other${key.length}":1,${name}:${text}}]}`).duplicates).toEqual([
          `list[0].${key}`,
        ])
      }),
    )
  })

  test('treats __proto__ as an ordinary key', () => {
    const value = readJson('{"__proto__":{"polluted":true}}').value as JsonObject
    expect(getOwn(value, '__proto__')).toEqual({ polluted: true })
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test.each([
    ['', 'unexpected end of JSON input'],
    [' \n', 'unexpected end of JSON input'],
    ['{"a":1', 'invalid JSON'],
    ['{"a":1} x', 'invalid JSON'],
    ['{"a":1}{"b":2}', 'invalid JSON'],
    ["{'a':1}", 'invalid JSON'],
    ['{"a":tru}', 'invalid JSON'],
    ['\uFEFF{}', 'invalid JSON'],
    ['{"a":01}', 'invalid JSON'],
  ])('refuses %j', (text, message) => {
    expect(errorOf(text).message).toContain(message)
    expect(errorOf(bytes(text)).message).toContain(message)
  })

  test('does not quote the text in its errors', () => {
    expect(errorOf('{"password":"hunter2",}').message).not.toContain('hunter2')
    expect(errorOf('{"password":hunter2}').message).not.toContain('hunter2')
  })

  test('refuses bytes that are not UTF-8', () => {
    expect(errorOf(Uint8Array.of(0x22, 0xff, 0x22)).message).toBe('the body is not valid UTF-8')
    expect(errorOf(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)).message).toBe('the body is not valid UTF-8')
  })

  test('refuses numbers beyond float64, and accepts long finite ones', () => {
    expect(errorOf('{"a":1e400}').message).toContain('range of a float64')
    expect(errorOf(`[-${'9'.repeat(400)}]`).message).toContain('range of a float64')
    expect(readJson(`[1E5,0.${'1'.repeat(400)},1e-400]`).value).toEqual([1e5, Number(`0.${'1'.repeat(400)}`), 0])
  })

  test('bounds the depth', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(readJson(nested(1000)).duplicates).toEqual([])
    expect(errorOf(nested(1001)).message).toContain('more than 1000 levels')
    expect(errorOf(nested(200_000)).message).toContain('more than 1000 levels')
    expect(() => readJson('{"a":[{}]}', { depthMax: 2 })).toThrow('more than 2 levels')
  })
})

describe('valuesMax', () => {
  test('counts keys, lists and objects in full and further items of a list as a quarter', () => {
    const read = (text: string, valuesMax: number): unknown => readJson(text.padEnd(1000), { valuesMax }).value
    expect(() => read('{"a":1,"b":[1,2,3,4,5]}', 4)).toThrow('the document has more than 4 values')
    expect(read('{"a":1,"b":[1,2,3,4,5]}', 6)).toEqual({ a: 1, b: [1, 2, 3, 4, 5] })
    expect(read('{"a":"[[[[[[[[[[,,,,,,::::::"}', 2)).toEqual({ a: '[[[[[[[[[[,,,,,,::::::' })
  })

  test('leaves text that is not JSON to the parser', () => {
    for (const text of ['"', '{"a', '[1,2', '\\"'])
      expect(() => readJson(text.padEnd(1000), { valuesMax: 4 })).toThrow(/JSON/)
  })
})

describe('findKeys', () => {
  test('gives duplicates and wanted keys in the order of the text, each path once', () => {
    const text = '{"x":{"y":1,"y":2},"a.b":1,"l":[{"k":1,"k":2}],"x":2,"x":3,"z":0}'
    expect(findKeys(text, ['z', 'a.b', 'x'])).toEqual([
      { path: 'x', isDuplicate: false },
      { path: 'x.y', isDuplicate: true },
      { path: 'a.b', isDuplicate: false },
      { path: 'l[0].k', isDuplicate: true },
      { path: 'z', isDuplicate: false },
    ])
  })

  test('finds only duplicates when nothing is wanted', () => {
    expect(findKeys('{"a":1,"b":{"c":2,"c":3}}')).toEqual([{ path: 'b.c', isDuplicate: true }])
  })
})
