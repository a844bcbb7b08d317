import { describe, expect, test } from 'vitest'
import type { OwnerReference } from '#api'
import { AbsentOwners, Graph } from './graph.ts'
import { factsOf, noFacts, type Identity, type ObjectFacts } from './node.ts'

const owner: Identity = { apiVersion: 'v1', kind: 'Owner', namespace: 'ns', name: 'owner', uid: 'o' }
const child: Identity = { apiVersion: 'v1', kind: 'Child', namespace: 'ns', name: 'child', uid: 'c' }
const right: OwnerReference = { apiVersion: 'v1', kind: 'Owner', name: 'owner', uid: 'o' }

function owned(...owners: readonly OwnerReference[]): ObjectFacts {
  return { ...noFacts, version: '1', owners }
}

describe('Graph: who names an owner otherwise than it is', () => {
  test.each([
    ['another kind', { ...right, kind: 'Other' }, 0],
    ['another version', { ...right, apiVersion: 'v2' }, 0],
    ['another name', { ...right, name: 'other' }, 0],
  ])('by %s is looked at, whoever was seen first', (_, wrong, misplaced) => {
    const ownerFirst = new Graph()
    ownerFirst.observe(owner, noFacts)
    expect(ownerFirst.observe(child, owned(wrong))).toMatchObject({ deletes: ['c'] })
    const childFirst = new Graph()
    expect(childFirst.observe(child, owned(wrong)).deletes).toEqual(['o'])
    const met = childFirst.observe(owner, noFacts)
    expect(met.deletes).toEqual(['c'])
    expect(met.misplaced).toHaveLength(misplaced)
  })

  test('from another namespace is looked at and warned about, whoever was seen first', () => {
    const stranger = { ...child, namespace: 'other' }
    const warned = { misplaced: [{ dependent: stranger, reference: right }], deletes: ['c'] }
    const ownerFirst = new Graph()
    ownerFirst.observe(owner, noFacts)
    expect(ownerFirst.observe(stranger, owned(right))).toMatchObject(warned)
    const childFirst = new Graph()
    childFirst.observe(stranger, owned(right))
    expect(childFirst.observe(owner, noFacts)).toMatchObject(warned)
  })

  test('is not who names an owner of the whole cluster', () => {
    const wide = { ...owner, namespace: '' }
    const graph = new Graph()
    graph.observe(child, owned(right))
    expect(graph.observe(wide, noFacts)).toMatchObject({ deletes: [], misplaced: [] })
    expect(graph.observe({ ...child, uid: 'c2', namespace: 'other' }, owned(right))).toMatchObject({
      deletes: [],
      misplaced: [],
    })
  })
})

describe('Graph.verifyAbsent', () => {
  test('an owner that one names wrongly and another rightly is looked for at both places, and only the first one loses it', () => {
    const graph = new Graph()
    graph.observe(child, owned({ ...right, name: 'wrong' }))
    graph.observe({ ...child, uid: 'c2', name: 'good' }, owned(right))
    const first = graph.verifyAbsent({ ...owner, name: 'wrong' })
    expect(first).toMatchObject({ deletes: ['c'], later: ['o'] })
    expect(graph.get('o')).toMatchObject({ isVirtual: true, identity: { name: 'owner' } })
    expect(graph.absent.has({ ...owner, name: 'wrong' })).toBe(true)
    expect(graph.absent.has(owner)).toBe(false)
    expect(graph.observe(owner, noFacts).deletes).toEqual([])
  })

  test('places are tried in a ring until somebody agrees', () => {
    const graph = new Graph()
    graph.observe(child, owned(right))
    graph.observe({ ...child, uid: 'c2', namespace: 'other' }, owned(right))
    graph.observe({ ...child, uid: 'c3' }, owned({ ...right, kind: 'Zebra' }))
    const places = [1, 2, 3, 4].map(() => {
      const { identity } = graph.get('o') ?? { identity: owner }
      graph.verifyAbsent(identity)
      return `${identity.namespace} ${identity.kind}`
    })
    expect(places).toEqual(['ns Owner', 'other Owner', 'ns Zebra', 'ns Owner'])
  })

  test('for a kind without namespaces it holds in all of them', () => {
    const graph = new Graph()
    graph.observe(child, owned(right))
    graph.observe({ ...child, uid: 'c2', namespace: 'other' }, owned(right))
    expect(graph.verifyAbsent({ ...owner, namespace: '' }).deletes).toEqual(['c', 'c2'])
    expect(graph.get('o')).toBeUndefined()
  })

  test('an owner that was seen is not lost because somebody names it wrongly', () => {
    const graph = new Graph()
    graph.observe(owner, noFacts)
    graph.observe(child, owned({ ...right, name: 'wrong' }))
    expect(graph.verifyAbsent({ ...owner, name: 'wrong' }).deletes).toEqual(['c'])
    expect(graph.get('o')).toMatchObject({ isVirtual: false })
    expect(graph.verifyAbsent(owner).deletes).toEqual(['c'])
    expect(graph.get('o')).toBeUndefined()
  })
})

test('Graph.lose: objects of a kind that is followed no more are forgotten, owners are looked for', () => {
  const graph = new Graph()
  graph.observe(
    { ...owner, kind: 'Waiting', uid: 'w' },
    factsOf({ deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] }),
  )
  graph.observe(owner, owned({ ...right, kind: 'Waiting', uid: 'w', blockOwnerDeletion: true }))
  graph.observe({ ...owner, uid: 'childless', name: 'childless' }, noFacts)
  graph.observe(child, owned(right))
  const work = graph.lose(owner)
  expect(work.deletes).toEqual(['w', 'w', 'o'])
  expect(graph.get('childless')).toBeUndefined()
  expect(graph.get('o')).toMatchObject({ isVirtual: true, dependentsCount: 1 })
  expect(graph.get('w')).toMatchObject({ blockingCount: 0 })
  graph.observe(owner, noFacts)
  expect(graph.remove('o').deletes).toEqual(['c'])
})

test('Graph remembers that an owner let its dependents go, also when the finalizer went before the owner', () => {
  const graph = new Graph()
  const deleting = { deletionTimestamp: '2026-01-01T00:00:05Z' }
  expect(graph.observe(owner, factsOf({ ...deleting, finalizers: ['orphan', 'other'] })).orphans).toEqual(['o'])
  graph.observe(owner, factsOf({ ...deleting, finalizers: ['other'] }))
  graph.remove('o')
  expect(graph.absent.hasOrphaned('o', '2026-01-01T00:00:05Z')).toBe(true)
  expect(graph.absent.hasOrphaned('o', '2026-01-01T00:00:06Z')).toBe(false)
  expect(graph.absent.hasOrphaned('x', '2026-01-01T00:00:05Z')).toBe(false)
})

test('Graph: with both finalizers an owner orphans first, and waits only then', () => {
  const graph = new Graph()
  graph.observe(child, owned(right))
  const both = graph.observe(owner, factsOf({ deletionTimestamp: 'now', finalizers: ['foregroundDeletion', 'orphan'] }))
  expect(both).toMatchObject({ orphans: ['o'], deletes: [] })
  expect(graph.observe(owner, factsOf({ deletionTimestamp: 'now', finalizers: ['foregroundDeletion'] }))).toMatchObject(
    { orphans: [], deletes: ['c', 'o'] },
  )
})

test('AbsentOwners forgets those that were longest not asked for', () => {
  const absent = new AbsentOwners({ sizeMax: 2 })
  const named = (name: string): Identity => ({ ...owner, name })
  absent.add(named('a'))
  absent.add(named('b'))
  expect(absent.has(named('a'))).toBe(true)
  absent.add(named('c'))
  expect(['a', 'b', 'c'].filter((name) => absent.has(named(name)))).toEqual(['a', 'c'])
  expect(() => new AbsentOwners({ sizeMax: 0 })).toThrow(RangeError)
})
