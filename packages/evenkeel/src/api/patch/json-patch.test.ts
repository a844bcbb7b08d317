import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { deepFreeze, getOwn, type JsonValue } from '@evenkeel/cel/primitives'
import { isApiError } from '../errors/api-error.ts'
import { formatPointer, parsePointer } from './json-draft.ts'
import { applyJsonPatch } from './json-patch.ts'

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue

/** Every situation of the public JSON patch test suite, with documents of our own: [what, document, patch, result]. */
const works: [string, string, string, string][] = [
  ['nothing to do', '{"a":1}', '[]', '{"a":1}'],
  ['add a member', '{"a":1}', '[{"op":"add","path":"/b","value":"x"}]', '{"a":1,"b":"x"}'],
  ['add over a member', '{"a":null}', '[{"op":"add","path":"/a","value":1}]', '{"a":1}'],
  [
    'add null, true and a list',
    '{}',
    '[{"op":"add","path":"/a","value":null},{"op":"add","path":"/b","value":true},{"op":"add","path":"/c","value":[1,[2]]}]',
    '{"a":null,"b":true,"c":[1,[2]]}',
  ],
  [
    'add into a list, front, middle and back',
    '["m"]',
    '[{"op":"add","path":"/0","value":"a"},{"op":"add","path":"/1","value":"c"},{"op":"add","path":"/3","value":"z"}]',
    '["a","c","m","z"]',
  ],
  ['add a list as one item', '["a","z"]', '[{"op":"add","path":"/1","value":["b","c"]}]', '["a",["b","c"],"z"]'],
  [
    'append',
    '{"l":[1,[2]]}',
    '[{"op":"add","path":"/l/-","value":3},{"op":"add","path":"/l/1/-","value":4}]',
    '{"l":[1,[2,4],3]}',
  ],
  ['append to the empty document list', '[]', '[{"op":"add","path":"/-","value":"x"}]', '["x"]'],
  ['a digit is a key where there is an object', '{"a":1}', '[{"op":"add","path":"/0","value":"x"}]', '{"0":"x","a":1}'],
  ['a dash is a key where there is an object', '{}', '[{"op":"add","path":"/-","value":1}]', '{"-":1}'],
  [
    'the empty key',
    '{"a":{}}',
    '[{"op":"add","path":"/","value":1},{"op":"add","path":"/a/","value":2}]',
    '{"a":{"":2},"":1}',
  ],
  [
    'escapes, in the right order',
    '{"/":9,"~1":10,"m~n":8,"a/b":7}',
    '[{"op":"test","path":"/~01","value":10},{"op":"test","path":"/~1","value":9},{"op":"replace","path":"/m~0n","value":1},{"op":"remove","path":"/a~1b"}]',
    '{"/":9,"~1":10,"m~n":1}',
  ],
  [
    'keys that need escapes elsewhere',
    '{"c%d":2,"e^f":3,"i\\\\j":5,"k\\"l":6," ":7}',
    '[{"op":"test","path":"/c%d","value":2},{"op":"test","path":"/e^f","value":3},{"op":"test","path":"/i\\\\j","value":5},{"op":"test","path":"/k\\"l","value":6},{"op":"test","path":"/ ","value":7}]',
    '{"c%d":2,"e^f":3,"i\\\\j":5,"k\\"l":6," ":7}',
  ],
  ['unknown members are ignored', '{"a":1}', '[{"op":"test","path":"/a","value":1,"why":"because"}]', '{"a":1}'],
  ['capital letters are other keys', '{"a":1}', '[{"op":"add","path":"/A","value":2}]', '{"a":1,"A":2}'],
  ['replace the document by add', '{"a":1}', '[{"op":"add","path":"","value":[]}]', '[]'],
  ['replace the document', '[1]', '[{"op":"replace","path":"","value":{"b":1}}]', '{"b":1}'],
  ['replace a scalar document', '"a"', '[{"op":"replace","path":"","value":"b"}]', '"b"'],
  [
    'replace in objects and lists',
    '{"a":[{"b":1},""]}',
    '[{"op":"replace","path":"/a/0/b","value":[2]},{"op":"replace","path":"/a/1","value":false}]',
    '{"a":[{"b":[2]},false]}',
  ],
  [
    'null is a value: replace, test, move, copy, remove',
    '{"a":null,"b":null,"d":null}',
    '[{"op":"test","path":"/a","value":null},{"op":"replace","path":"/a","value":1},{"op":"move","from":"/b","path":"/c"},{"op":"copy","from":"/c","path":"/e"},{"op":"remove","path":"/d"}]',
    '{"a":1,"c":null,"e":null}',
  ],
  [
    'remove from objects and lists, one after the other',
    '{"a":[1,2,3,4],"b":{"c":1}}',
    '[{"op":"remove","path":"/a/1"},{"op":"remove","path":"/a/2"},{"op":"remove","path":"/b/c"}]',
    '{"a":[1,3],"b":{}}',
  ],
  [
    'test compares whatever the order of keys',
    '{"a":[{"x":1,"y":2}]}',
    '[{"op":"test","path":"/a","value":[{"y":2,"x":1}]},{"op":"test","path":"","value":{"a":[{"y":2,"x":1}]}}]',
    '{"a":[{"x":1,"y":2}]}',
  ],
  ['a number written otherwise is the same number', '{"a":1}', '[{"op":"test","path":"/a","value":1.0}]', '{"a":1}'],
  [
    'move between objects',
    '{"a":{"x":1},"b":{}}',
    '[{"op":"move","from":"/a/x","path":"/b/y"}]',
    '{"a":{},"b":{"y":1}}',
  ],
  [
    'move within a list: the place is counted after taking it out',
    '["a","b","c","d"]',
    '[{"op":"move","from":"/1","path":"/3"}]',
    '["a","c","d","b"]',
  ],
  ['move to where it is', '{"a":1}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1}'],
  ['move over the parent', '{"a":{"b":{"c":1}}}', '[{"op":"move","from":"/a/b","path":"/a"}]', '{"a":{"c":1}}'],
  [
    'copy, then change the copy',
    '{"a":{"b":[{"c":1}]}}',
    '[{"op":"copy","from":"/a","path":"/z"},{"op":"replace","path":"/z/b/0/c","value":2}]',
    '{"a":{"b":[{"c":1}]},"z":{"b":[{"c":2}]}}',
  ],
  [
    'copy, then change the original',
    '{"a":{"b":[{"c":1}]}}',
    '[{"op":"replace","path":"/a/b/0/c","value":3},{"op":"copy","from":"/a","path":"/z"},{"op":"replace","path":"/a/b/0/c","value":2}]',
    '{"a":{"b":[{"c":2}]},"z":{"b":[{"c":3}]}}',
  ],
  ['copy the document into itself', '{"a":1}', '[{"op":"copy","from":"","path":"/b"}]', '{"a":1,"b":{"a":1}}'],
  ['an index that is a key', '{"1e0":"x"}', '[{"op":"test","path":"/1e0","value":"x"}]', '{"1e0":"x"}'],
]

describe('applyJsonPatch', () => {
  test.each(works)('%s', (...[, before, patch, after]) => {
    const document = deepFreeze(parse(before))
    expect(applyJsonPatch(document, deepFreeze(parse(patch)))).toEqual(parse(after))
    expect(document).toEqual(parse(before))
  })

  /** [what, document, patch, what the message must say] */
  const fails: [string, string, string, string][] = [
    ['add without a parent', '{"a":{}}', '[{"op":"add","path":"/b/c","value":1}]', 'there is no "b"'],
    ['add into a scalar', '{"a":"text"}', '[{"op":"add","path":"/a/b","value":1}]', 'a scalar has nothing inside'],
    ['add through a scalar', '{"a":1}', '[{"op":"add","path":"/a/b/c","value":1}]', 'a scalar has nothing inside'],
    ['test through a scalar', '{"a":1}', '[{"op":"test","path":"/a/b","value":1}]', 'there is nothing inside a scalar'],
    ['add beyond the end', '[1,2]', '[{"op":"add","path":"/3","value":1}]', 'index 3 lies outside an array of 2'],
    ['add before the beginning', '[1,2]', '[{"op":"add","path":"/-1","value":1}]', '"-1" is no index'],
    ['add by name to a list', '[1]', '[{"op":"add","path":"/a","value":1}]', '"a" is no index'],
    ['an index in scientific notation', '[1,2]', '[{"op":"test","path":"/1e0","value":2}]', '"1e0" is no index'],
    ['an index with a leading zero', '[1,2]', '[{"op":"test","path":"/01","value":2}]', '"01" is no index'],
    ['an index of zeros', '[1,2]', '[{"op":"test","path":"/00","value":1}]', '"00" is no index'],
    ['an empty index', '[1]', '[{"op":"test","path":"/","value":1}]', '"" is no index'],
    ['the append mark where something must be', '[1]', '[{"op":"replace","path":"/-","value":2}]', '"-" is no index'],
    ['replace what is not there', '{}', '[{"op":"replace","path":"/a","value":1}]', 'there is no "a"'],
    ['replace under what is not there', '{"b":1}', '[{"op":"replace","path":"/a/b","value":1}]', 'there is no "a"'],
    ['replace beyond the end', '[1]', '[{"op":"replace","path":"/1","value":1}]', 'outside'],
    ['remove what is not there', '{"a":1}', '[{"op":"remove","path":"/b"}]', 'there is no "b"'],
    ['remove under what is not there', '{"a":1}', '[{"op":"remove","path":"/b/c"}]', 'there is no "b"'],
    ['remove beyond the end', '[1]', '[{"op":"remove","path":"/1"}]', 'outside'],
    ['remove the document', '{"a":1}', '[{"op":"remove","path":""}]', 'the whole document cannot be removed'],
    ['a test that fails', '{"a":1}', '[{"op":"test","path":"/a","value":2}]', 'test failed'],
    ['a test of a missing member', '{"a":1}', '[{"op":"test","path":"/b","value":2}]', 'test failed'],
    ['a test of a number against text', '{"a":10}', '[{"op":"test","path":"/a","value":"10"}]', 'test failed'],
    ['a test of an object against a list', '{"a":{"0":1}}', '[{"op":"test","path":"/a","value":[1]}]', 'test failed'],
    ['a test of what is not there against null', '{}', '[{"op":"test","path":"/a","value":null}]', 'there is no "a"'],
    ['move what is not there', '{"a":1}', '[{"op":"move","from":"/b","path":"/a"}]', 'there is no "b"'],
    ['move what is not there to where it is', '{"a":1}', '[{"op":"move","from":"/b","path":"/b"}]', 'there is no "b"'],
    ['move into itself', '{"a":{"b":1}}', '[{"op":"move","from":"/a","path":"/a/c"}]', 'moved into itself'],
    ['move the document', '{"a":1}', '[{"op":"move","from":"","path":"/a"}]', 'moved into itself'],
    ['copy what is not there', '{"a":1}', '[{"op":"copy","from":"/b","path":"/a"}]', 'there is no "b"'],
    ['no path', '{}', '[{"op":"add","value":1}]', '"path" must be a JSON pointer'],
    ['path null', '{}', '[{"op":"add","path":null,"value":1}]', '"path" must be a JSON pointer'],
    ['path without a slash', '{}', '[{"op":"add","path":"a","value":1}]', '"path" must be a JSON pointer'],
    ['path with a bad escape', '{}', '[{"op":"add","path":"/~2","value":1}]', '"path" must be a JSON pointer'],
    ['no from', '[1]', '[{"op":"copy","path":"/-"}]', '"from" must be a JSON pointer'],
    ['no from in a move', '{"a":1}', '[{"op":"move","path":""}]', '"from" must be a JSON pointer'],
    ['no value to add', '[1]', '[{"op":"add","path":"/-"}]', '"value" is missing'],
    ['no value to replace', '[1]', '[{"op":"replace","path":"/0"}]', '"value" is missing'],
    ['no value to test', '[null]', '[{"op":"test","path":"/0"}]', '"value" is missing'],
    ['an unknown operation', '{"a":1}', '[{"op":"spam","path":"/a","value":1}]', '"op" must be'],
    ['no operation', '{"a":1}', '[{"path":"/a","value":1}]', '"op" must be'],
    [
      'an inherited name is not there',
      '{}',
      '[{"op":"test","path":"/toString/name","value":"toString"}]',
      'there is no "toString"',
    ],
    [
      'the prototype is not there',
      '{}',
      '[{"op":"add","path":"/__proto__/polluted","value":1}]',
      'there is no "__proto__"',
    ],
    [
      'nor behind constructor',
      '{}',
      '[{"op":"add","path":"/constructor/prototype/polluted","value":1}]',
      'there is no "constructor"',
    ],
    [
      'the length of a list is not there',
      '[1]',
      '[{"op":"replace","path":"/length","value":0}]',
      '"length" is no index',
    ],
  ]

  test.each(fails)('Invalid: %s', (...[, before, patch, why]) => {
    const document = deepFreeze(parse(before))
    const error = thrownBy(() => applyJsonPatch(document, parse(patch)))
    expect(error).toMatchObject({ reason: 'Invalid', code: 422 })
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^the server rejected our request due to an error in our request: operation 0/,
      ) as string,
    })
    expect((error as Error).message).toContain(why)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test.each(['null', '{}', '"add"', '1', '[1]', '[[]]', '[null]', '[{"op":"test","path":"","value":{}},null]'])(
    'BadRequest: %s is no patch',
    (patch) => {
      expect(thrownBy(() => applyJsonPatch({}, parse(patch)))).toMatchObject({ reason: 'BadRequest', code: 400 })
    },
  )

  test('says which operation it was, and nothing of what came before stays', () => {
    const document = deepFreeze({ a: { b: 1 } })
    const patch = [
      { op: 'replace', path: '/a/b', value: 2 },
      { op: 'test', path: '/a/b', value: 1 },
    ]
    expect(thrownBy(() => applyJsonPatch(document, patch))).toMatchObject({
      message: expect.stringContaining('operation 1 (test /a/b): test failed') as string,
    })
    expect(document).toEqual({ a: { b: 1 } })
  })
})

describe('missingIsNull', () => {
  const nothing = [{ op: 'test', path: '/a/b', value: null }]
  test('lets a test for null pass where nothing is, if its place is there', () => {
    expect(applyJsonPatch({ a: {} }, nothing, { missingIsNull: true })).toEqual({ a: {} })
    expect(applyJsonPatch({ a: { b: null } }, nothing, { missingIsNull: true })).toEqual({ a: { b: null } })
    expect(thrownBy(() => applyJsonPatch({}, nothing, { missingIsNull: true }))).toMatchObject({ reason: 'Invalid' })
    expect(thrownBy(() => applyJsonPatch({ a: { b: 1 } }, nothing, { missingIsNull: true }))).toMatchObject({
      reason: 'Invalid',
    })
    expect(thrownBy(() => applyJsonPatch({ a: {} }, nothing))).toMatchObject({ reason: 'Invalid' })
  })
})

test('replace sets a member that is not there, if missing is null', () => {
  const patch = [{ op: 'replace', path: '/a/b', value: 1 }]
  expect(applyJsonPatch({ a: {} }, patch, { missingIsNull: true })).toEqual({ a: { b: 1 } })
  expect(thrownBy(() => applyJsonPatch({}, patch, { missingIsNull: true }))).toMatchObject({ reason: 'Invalid' })
  expect(thrownBy(() => applyJsonPatch({ a: [] }, patch, { missingIsNull: true }))).toMatchObject({ reason: 'Invalid' })
})

describe('negativeIndices', () => {
  test.each([
    ['[{"op":"remove","path":"/-1"}]', '[1,2]'],
    ['[{"op":"replace","path":"/-3","value":0}]', '[0,2,3]'],
    ['[{"op":"add","path":"/-1","value":4}]', '[1,2,3,4]'],
    ['[{"op":"add","path":"/-4","value":0}]', '[0,1,2,3]'],
    ['[{"op":"test","path":"/-2","value":2}]', '[1,2,3]'],
  ])('%s', (patch, after) =>
    expect(applyJsonPatch([1, 2, 3], parse(patch), { negativeIndices: true })).toEqual(parse(after)),
  )

  test.each(['/-4', '/-0', '/-01'])('has its bounds: %s', (path) => {
    expect(
      thrownBy(() => applyJsonPatch([1, 2, 3], [{ op: 'remove', path }], { negativeIndices: true })),
    ).toMatchObject({ reason: 'Invalid' })
  })
})

describe('limits', () => {
  const noop = { op: 'test', path: '', value: {} }

  test('10,000 operations are allowed and one more is not', () => {
    expect(applyJsonPatch({}, Array(10_000).fill(noop))).toEqual({})
    expect(thrownBy(() => applyJsonPatch({}, Array(10_001).fill(noop)))).toMatchObject({
      reason: 'RequestEntityTooLarge',
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    })
  })

  test('a patch that doubles the document again and again stops at 3 MiB', () => {
    const double = Array(40)
      .fill(null)
      .map((_, round) => ({ op: 'copy', from: '', path: `/${round}` }))
    expect(thrownBy(() => applyJsonPatch({ seed: 'x'.repeat(100) }, double))).toMatchObject({
      reason: 'Invalid',
      message: expect.stringContaining('grow beyond the limit') as string,
    })
  })

  test('copies are counted in bytes of JSON, all together', () => {
    const copies = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'copy', from: '/a', path: '/c' },
    ]
    expect(applyJsonPatch({ a: 'ä' }, copies, { copyBytesMax: 8 })).toEqual({ a: 'ä', b: 'ä', c: 'ä' })
    expect(thrownBy(() => applyJsonPatch({ a: 'ä' }, copies, { copyBytesMax: 7 }))).toMatchObject({ reason: 'Invalid' })
  })

  test('neither a deep document nor a deep patch overflows the stack', () => {
    let deep: JsonValue = {}
    for (let level = 0; level < 50_000; level++) deep = { a: deep }
    const patched = applyJsonPatch(
      { deep },
      [
        { op: 'copy', from: '/deep', path: '/copy' },
        { op: 'test', path: '/copy', value: deep },
        { op: 'add', path: `/copy${'/a'.repeat(50_000)}/end`, value: deep },
      ],
      { copyBytesMax: 1e9 },
    )
    expect(getOwn(patched as Record<string, JsonValue>, 'deep')).toBe(deep)
    expect(thrownBy(() => applyJsonPatch({}, [{ op: deep, path: deep }]))).toMatchObject({ reason: 'Invalid' })
    expect(thrownBy(() => applyJsonPatch({}, deep))).toMatchObject({ reason: 'BadRequest' })
  })
})

describe('keys are only keys', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s can be added, tested, copied, moved, replaced and removed',
    (key) => {
      const added = applyJsonPatch({ x: {} }, [
        { op: 'add', path: `/x/${key}`, value: { a: 1 } },
        { op: 'test', path: `/x/${key}/a`, value: 1 },
        { op: 'copy', from: `/x/${key}`, path: `/${key}` },
        { op: 'add', path: `/${key}/b`, value: 2 },
      ])
      expect(JSON.stringify(added)).toBe(`{"x":{"${key}":{"a":1}},"${key}":{"a":1,"b":2}}`)
      const moved = applyJsonPatch(added, [
        { op: 'move', from: `/x/${key}`, path: '/y' },
        { op: 'replace', path: `/${key}`, value: 3 },
      ])
      expect(JSON.stringify(moved)).toBe(`{"x":{},"${key}":3,"y":{"a":1}}`)
      expect(JSON.stringify(applyJsonPatch(moved, [{ op: 'remove', path: `/${key}` }]))).toBe('{"x":{},"y":{"a":1}}')
      expect(Object.getPrototypeOf(added)).toBe(Object.prototype)
    },
  )
})

test('shares with the document what did not change', () => {
  const document = deepFreeze({ a: { deep: [1] }, b: { c: { d: 1 }, e: [2] } })
  const after = applyJsonPatch(document, [{ op: 'replace', path: '/b/c/d', value: 2 }]) as typeof document
  expect(after).not.toBe(document)
  expect(after.a).toBe(document.a)
  expect(after.b.e).toBe(document.b.e)
  expect(applyJsonPatch(document, [{ op: 'test', path: '/a/deep/0', value: 1 }])).toBe(document)
})

describe('on random documents and patches', () => {
  const key = fc.constantFrom('a', 'b', '', '~', '/')
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(1, 'x', null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const pointer = fc.array(fc.oneof(key, fc.constantFrom('0', '1', '2', '-')), { maxLength: 3 }).map(formatPointer)
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
    fc.record({ op: fc.constant('remove'), path: pointer }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
  ) as fc.Arbitrary<RandomOperation>
  const anyPatch = fc.array(operation, { minLength: 1, maxLength: 4 })
  const anyDocument = fc.record({ a: value, b: value })

  test('agrees with a naive model on results and refusals', () => {
    let [worked, refused] = [0, 0]
    fc.assert(
      fc.property(anyDocument, anyPatch, (document, patch) => {
        const text = JSON.stringify(document)
        const expected = naivePatch(document, patch)
        const ours = outcomeOf(document, patch)
        expect(JSON.stringify(ours)).toBe(JSON.stringify(expected))
        expect(JSON.stringify(document)).toBe(text)
        if (expected === undefined) refused++
        else worked++
      }),
      { numRuns: 3000 },
    )
    expect(Math.min(worked, refused)).toBeGreaterThan(100)
  })

  // rfc6902 appends beyond the end of arrays and sets names on them, so it is only asked about what we let pass.
  test('agrees with rfc6902 wherever the patch applies', () => {
    fc.assert(
      fc.property(anyDocument, anyPatch, (document, patch) => {
        const ours = outcomeOf(document, patch)
        fc.pre(ours !== undefined)
        const oracle = { root: JSON.parse(JSON.stringify(document)) as JsonValue }
        const rooted = patch.map(({ path, from, ...rest }) => ({
          ...rest,
          path: `/root${path}`,
          ...(from !== undefined && { from: `/root${from}` }),
        }))
        expect(
          applyPatch(oracle, JSON.parse(JSON.stringify(rooted)) as Operation[]).filter((result) => result !== null),
        ).toEqual([])
        expect(ours).toEqual([oracle.root])
      }),
      { numRuns: 1000 },
    )
  })
})

interface RandomOperation {
  readonly op: string
  readonly path: string
  readonly from?: string
  readonly value?: JsonValue
}

/** The patched document in a list, or undefined when the patch is refused. */
function outcomeOf(document: JsonValue, patch: readonly RandomOperation[]): JsonValue[] | undefined {
  const error = thrownBy(() => applyJsonPatch(document, patch))
  if (error === undefined) return [applyJsonPatch(document, patch)]
  expect(isApiError(error)).toBe(true)
  return undefined
}

/** RFC 6902 said once more, without a thought for speed: copies everything, all the time. */
function naivePatch(document: JsonValue, patch: readonly RandomOperation[]): JsonValue[] | undefined {
  const root = JSON.parse(JSON.stringify([document])) as unknown[]
  try {
    for (const { op, path, from, value } of patch)
      naiveStep(root, op, {
        path: `/0${path}`,
        from: `/0${from}`,
        value: JSON.parse(JSON.stringify(value ?? null)) as unknown,
      })
    return root as JsonValue[]
  } catch {
    return undefined
  }
}

function naiveStep(
  root: unknown[],
  op: string,
  { path, from, value }: { path: string; from: string; value: unknown },
): void {
  const steps = (text: string): string[] =>
    text
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const find = (text: string, mustExist: boolean): { parent: Record<string, unknown>; key: string } => {
    const names = steps(text)
    let parent: unknown = root
    for (const name of names.slice(0, -1))
      parent = Array.isArray(parent) && !/^\d+$/.test(name) ? undefined : (parent as Record<string, unknown>)[name]
    const key = names.at(-1) ?? ''
    if (typeof parent !== 'object' || parent === null) throw new Error('no parent')
    if (
      Array.isArray(parent) &&
      !(key === '-' && !mustExist) &&
      !(Number(key) < parent.length + (mustExist ? 0 : 1) && /^\d+$/.test(key))
    )
      throw new Error('no index')
    if (mustExist && !Object.hasOwn(parent, key)) throw new Error('nothing there')
    return { parent: parent as Record<string, unknown>, key }
  }
  const get = (text: string): unknown => {
    const { parent, key } = find(text, true)
    return parent[key]
  }
  const put = (text: string, what: unknown, insert: boolean): void => {
    const { parent, key } = find(text, !insert)
    if (Array.isArray(parent) && insert && parent !== root)
      parent.splice(key === '-' ? parent.length : Number(key), 0, what)
    else parent[key] = what
  }
  const cut = (text: string): void => {
    const { parent, key } = find(text, true)
    if ((parent as unknown) === root) throw new Error('the document stays')
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  }
  if (op === 'test' && JSON.stringify(sortKeys(get(path))) !== JSON.stringify(sortKeys(value)))
    throw new Error('differs')
  if (op === 'add') put(path, value, true)
  if (op === 'replace') put(path, value, false)
  if (op === 'remove') cut(path)
  if (op === 'copy') put(path, JSON.parse(JSON.stringify(get(from))), true)
  if (op === 'move') {
    const moved = get(from)
    if (path === from) return
    if (path.startsWith(`${from}/`)) throw new Error('into itself')
    cut(from)
    put(path, moved, true)
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return {
    entries: Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  }
}

describe('pointers', () => {
  test('parsePointer undoes formatPointer', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('~', '/', '~1', '~01', ''))), (steps) => {
        expect(parsePointer(formatPointer(steps))).toEqual(steps)
      }),
    )
  })

  test.each([
    ['', []],
    ['/', ['']],
    ['/a/b', ['a', 'b']],
    ['/~01', ['~1']],
    ['/~1~0', ['/~']],
    ['//', ['', '']],
  ])('parsePointer(%j)', (text, steps) => expect(parsePointer(text)).toEqual(steps))
  test.each(['a', '~', '/~', '/~2', '/a~', '#/a'])('parsePointer refuses %j', (text) =>
    expect(parsePointer(text)).toBeUndefined(),
  )
})

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}
