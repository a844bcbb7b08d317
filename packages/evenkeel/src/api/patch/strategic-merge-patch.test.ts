import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, getOwn, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { isApiError } from '../errors/api-error.ts'
import { applyMergePatch } from './merge-patch.ts'
import { fails, podSchema, works } from './strategic-merge-patch.fixture.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

const parse = (text: string): JsonObject => deepFreeze(JSON.parse(text) as JsonObject)

describe('applyStrategicMergePatch', () => {
  test.each(works)('%s', (...[, before, patch, after]) => {
    const result = applyStrategicMergePatch(deepFreeze(before), deepFreeze(patch), podSchema)
    expect(result).toEqual(after)
  })

  test.each(fails)('refuses %s', (...[, before, patch, message, reason]) => {
    expect(() => applyStrategicMergePatch(deepFreeze(before), deepFreeze(patch), podSchema)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) as string, reason }) as Error,
    )
  })

  test.each([null, [], 'x', 1, undefined])('refuses a patch that is no object: %j', (patch) => {
    expect(() => applyStrategicMergePatch({}, patch, podSchema)).toThrow('a strategic merge patch is an object')
  })

  test('replaces an object whose strategy says so, directives and all', () => {
    const root = {
      type: 'object',
      properties: {
        settings: { type: 'object', additionalProperties: true, 'x-kubernetes-patch-strategy': 'replace' },
      },
    } as const
    const schema = { root, definitions: () => undefined }
    expect(applyStrategicMergePatch({ settings: { a: 1 } }, { settings: { b: null } }, schema)).toEqual({
      settings: { b: null },
    })
  })

  test('shares what it does not touch', () => {
    const before = parse(
      '{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a"},{"name":"b","args":["x"]}]}}',
    )
    const after = applyStrategicMergePatch(before, { spec: { containers: [{ name: 'a', image: '2' }] } }, podSchema)
    expect(after['metadata']).toBe(before['metadata'])
    const items = (object: JsonObject): readonly JsonValue[] =>
      (object['spec'] as { containers: JsonValue[] }).containers
    expect(items(after)[1]).toBe(items(before)[1])
  })

  test('neither pollutes nor loses keys of Object.prototype', () => {
    const before = parse('{"metadata":{"labels":{"__proto__":"old","constructor":"old"}}}')
    const after = applyStrategicMergePatch(
      before,
      parse(
        '{"metadata":{"labels":{"__proto__":"new"},"annotations":{"__proto__":"x"}},"__proto__":{"polluted":true}}',
      ),
      podSchema,
    )
    const labels = (after['metadata'] as JsonObject)['labels'] as JsonObject
    expect(getOwn(labels, '__proto__')).toBe('new')
    expect(getOwn(labels, 'constructor')).toBe('old')
    expect(getOwn((after['metadata'] as JsonObject)['annotations'] as JsonObject, '__proto__')).toBe('x')
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype)
    expect(({} as JsonObject)['polluted']).toBeUndefined()
  })

  test('refuses a patch that is too deep instead of running out of stack', () => {
    let patch: JsonValue = {}
    for (let depth = 0; depth < 100_000; depth++) patch = { a: patch }
    expect(() => applyStrategicMergePatch({}, patch, podSchema)).toThrow('nested more than 1000 levels deep')
  })

  test('merges long lists in reasonable time', () => {
    const items = (image: string): JsonObject => ({
      spec: { containers: Array.from({ length: 20_000 }, (_, index) => ({ name: `c${index}`, image })) },
    })
    expect(applyStrategicMergePatch(items('1'), items('2'), podSchema)).toEqual(items('2'))
  })

  test('is a merge patch where there are no lists and no directives', () => {
    const labels = fc.dictionary(
      fc.string().filter((key) => !key.startsWith('$')),
      fc.string(),
    )
    const change = fc.dictionary(
      fc.string().filter((key) => !key.startsWith('$')),
      fc.option(fc.string()),
    )
    fc.assert(
      fc.property(labels, change, (before, patch) => {
        const [object, wanted] = [{ metadata: { labels: before } }, { metadata: { labels: patch } }]
        expect(applyStrategicMergePatch(object, wanted, podSchema)).toEqual(applyMergePatch(object, wanted))
      }),
    )
  })

  test('never throws anything but an ApiError, whatever the patch', () => {
    const key = fc.constantFrom(
      'metadata',
      'spec',
      'containers',
      'finalizers',
      'labels',
      'name',
      'env',
      '$patch',
      '$retainKeys',
      '$setElementOrder/containers',
      '$deleteFromPrimitiveList/finalizers',
      '__proto__',
    )
    const leaf = fc.oneof(
      fc.constantFrom('delete', 'replace', 'a', 'name'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium' },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
      ),
    }))
    const before = parse(
      '{"metadata":{"name":"x","finalizers":["a","name"],"labels":{"a":"1"}},"spec":{"containers":[{"name":"a","env":[{"name":"a"}]},{"name":"name"}]}}',
    )
    fc.assert(
      fc.property(tree, tree, (top, inner) => {
        try {
          applyStrategicMergePatch(
            before,
            {
              spec: { containers: inner, ...(typeof top === 'object' && !Array.isArray(top) ? top : {}) },
              metadata: inner,
            },
            podSchema,
          )
        } catch (error) {
          if (!isApiError(error)) throw error
        }
      }),
    )
  })
})
