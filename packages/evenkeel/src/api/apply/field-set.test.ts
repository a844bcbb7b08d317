import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { FieldSet, noFields } from './field-set.ts'
import { decodeFields, encodeFields } from './fields-v1.ts'
import type { ElementPath } from './path-element.ts'

const element = fc.constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:"x"')
const path = fc.array(element, { minLength: 1, maxLength: 4 })
const paths = fc.array(path, { maxLength: 12 })

/** The model: members as a set of texts. */
const texts = (list: readonly ElementPath[]): Set<string> => new Set(list.map((steps) => steps.join(' ')))
const members = (set: FieldSet): Set<string> => texts([...set.paths()])

describe('FieldSet agrees with a set of paths', () => {
  const law = (name: string, check: (a: ElementPath[], b: ElementPath[]) => void): void => {
    test(name, () => {
      fc.assert(fc.property(paths, paths, check), { numRuns: 300 })
    })
  }
  const both = (a: ElementPath[], b: ElementPath[]): [FieldSet, FieldSet] => [FieldSet.of(...a), FieldSet.of(...b)]

  law('in members, size and has', (a, b) => {
    const set = FieldSet.of(...a)
    assert.deepEqual(members(set), texts(a))
    assert.equal(set.size, texts(a).size)
    for (const steps of [...a, ...b]) assert.equal(set.has(steps), texts(a).has(steps.join(' ')))
  })
  law('in union', (a, b) => {
    const [x, y] = both(a, b)
    assert.deepEqual(members(x.union(y)), texts([...a, ...b]))
  })
  law('in intersection', (a, b) => {
    const [x, y] = both(a, b)
    assert.deepEqual(members(x.intersection(y)), texts(a.filter((steps) => texts(b).has(steps.join(' ')))))
  })
  law('in difference', (a, b) => {
    const [x, y] = both(a, b)
    assert.deepEqual(members(x.difference(y)), texts(a.filter((steps) => !texts(b).has(steps.join(' ')))))
  })
  law('in recursive difference', (a, b) => {
    const [x, y] = both(a, b)
    const covered = (steps: ElementPath): boolean =>
      steps.some((_, index) => texts(b).has(steps.slice(0, index + 1).join(' ')))
    assert.deepEqual(members(x.recursiveDifference(y)), texts(a.filter((steps) => !covered(steps))))
  })
  law('in leaves', (a) => {
    const isLeaf = (steps: ElementPath): boolean =>
      !a.some((other) => other.length > steps.length && steps.every((step, index) => other[index] === step))
    assert.deepEqual(members(FieldSet.of(...a).leaves()), texts(a.filter(isLeaf)))
  })
  law('in equality', (a, b) => {
    const [x, y] = both(a, b)
    assert.equal(x.equals(y), [...texts(a)].sort().join() === [...texts(b)].sort().join())
    assert.equal(x.equals(FieldSet.of(...a.toReversed())), true)
  })
  law('after a round trip through JSON', (a) => {
    const set = FieldSet.of(...a)
    const copy = decodeFields(JSON.parse(JSON.stringify(encodeFields(set))) as Record<string, never>)
    assert.deepEqual([...copy.paths()], [...set.paths()])
  })
})

describe('FieldSet', () => {
  test('operations that change nothing give back the very set', () => {
    const set = FieldSet.of(['f:a', 'f:b'], ['f:c'])
    assert.equal(set.union(FieldSet.of(['f:c'])), set)
    assert.equal(set.union(noFields), set)
    assert.equal(set.difference(FieldSet.of(['f:a'], ['f:x'])), set)
    assert.equal(set.recursiveDifference(FieldSet.of(['f:a', 'f:z'])), set)
    assert.equal(noFields.union(set), set)
  })

  test('a set without members has no nodes', () => {
    const set = FieldSet.of(['f:a', 'f:b']).difference(FieldSet.of(['f:a', 'f:b']))
    assert.equal(set.isEmpty, true)
    assert.equal(set.node('f:a'), undefined)
  })

  test('nobody owns the whole object', () => {
    const set = FieldSet.of([])
    assert.equal(set.isEmpty, true)
    assert.equal(set.has([]), false)
  })

  test('paths come level by level, in the order of their elements', () => {
    const set = FieldSet.of(['f:b'], ['f:a', 'f:x'], ['f:a'], ['k:{"n":2}'], ['k:{"n":1}', 'f:y'])
    assert.deepEqual(
      [...set.paths()].map((steps) => steps.join(' ')),
      ['f:a', 'f:b', 'k:{"n":2}', 'f:a f:x', 'k:{"n":1} f:y'],
    )
  })
})
