import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { pick, projectPaths, type CachedOf } from './projection.ts'

const Website = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Website',
  spec: {
    type: 'object',
    required: ['image', 'deep'],
    properties: {
      image: { type: 'string' },
      replicas: { type: 'integer' },
      deep: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
    },
  },
  status: { type: 'object', properties: { ready: { type: 'integer' } } },
} as const)

test('pick makes fields that were not picked unreadable', () => {
  const Slim = pick(Website, ['spec.image', 'spec.deep.a'])
  const read = (site: CachedOf<typeof Slim>): unknown[] => [
    site.spec.image.length,
    site.spec.deep.a,
    site.metadata.name,
    site.metadata.uid,
    // @ts-expect-error not picked
    site.spec.replicas,
    // @ts-expect-error not picked
    site.spec.deep.b,
    // @ts-expect-error not picked
    site.status,
  ]
  expect(read).toBeTypeOf('function')
  expect(Slim.paths).toEqual(['spec.deep.a', 'spec.image'])
})

test('pick refuses paths that the kind does not have', () => {
  // @ts-expect-error there is no such field
  pick(Website, ['spec.colour'])
  // @ts-expect-error metadata is always kept
  pick(Website, ['metadata'])
  expect(() => pick(Website, ['spec.' as 'spec.image'])).toThrow('names joined by dots')
})

test('projectPaths keeps type, metadata and what is at the paths, and shares the values', () => {
  const object = {
    apiVersion: 'test.dev/v1',
    kind: 'Website',
    metadata: { name: 'a' },
    spec: { list: [1, 2], deep: { a: 1, b: 2 }, other: 3 },
    status: { ready: 1 },
  }
  const kept = projectPaths(object, ['spec.deep.a', 'spec.list', 'spec.missing.x', 'status'])
  expect(kept).toEqual({
    apiVersion: 'test.dev/v1',
    kind: 'Website',
    metadata: { name: 'a' },
    spec: { list: [1, 2], deep: { a: 1 } },
    status: { ready: 1 },
  })
  expect((kept['spec'] as { list: unknown }).list).toBe(object.spec.list)
  expect(object.spec.deep).toEqual({ a: 1, b: 2 })
})

test('projectPaths lets a longer path change nothing of what a shorter one kept', () => {
  const object = { spec: { deep: { a: 1, b: 2 } } }
  expect(projectPaths(object, ['spec.deep', 'spec.deep.a'])).toEqual(object)
  expect(projectPaths(object, ['spec.deep.a', 'spec.deep'])).toEqual(object)
})

test('projectPaths takes own keys only and keeps odd ones as data', () => {
  const object = JSON.parse('{"spec":{"__proto__":{"a":1},"constructor":{"b":2}}}') as { spec: object }
  const kept = projectPaths(object as never, ['spec.__proto__.a', 'spec.constructor.b', 'spec.toString.name'])
  expect(JSON.stringify(kept)).toBe('{"spec":{"__proto__":{"a":1},"constructor":{"b":2}}}')
  expect(({} as { a?: number }).a).toBeUndefined()
})
