import { afterEach, describe, expect, test } from 'vitest'
import { definitionOf, Garden, Leaf, referenceTo, Soil } from './world.fixture.ts'

let garden: Garden
afterEach(() => garden.stop())

const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' }

describe('garbageCollector', () => {
  test('case 95: a child of an owner that never was goes', async () => {
    garden = await Garden.start()
    const child = await garden.plant('child', { owners: [nobody] })
    await garden.untilGone(child)
  })

  test('case 96: children of an owner go although another has its name by now', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner] })
    await garden.settle()
    expect(await garden.isGone(child)).toBe(false)
    await garden.remove(owner)
    const second = await garden.plant('owner')
    await garden.untilGone(child)
    expect(await garden.isGone(second)).toBe(false)
  })

  test('case 97: of two owners one goes, and the child loses it; both go, and the child goes', async () => {
    garden = await Garden.start()
    const [first, second] = [await garden.plant('first'), await garden.plant('second', { kind: Leaf })]
    const child = await garden.plant('child', { owners: [first, second] })
    await garden.settle()
    await garden.remove(first)
    await garden.until(async () => (await garden.ownersOf(child)).join() === 'second')
    await garden.settle()
    expect(await garden.isGone(child)).toBe(false)
    await garden.remove(second)
    await garden.untilGone(child)
  })

  test('case 98: an owner that is deleted in the foreground waits for a blocking child with a finalizer', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner], blocking: true, finalizers: ['test.dev/hold'] })
    await garden.remove(owner, 'Foreground')
    await garden.until(async () => (await garden.find(child))?.metadata.deletionTimestamp !== undefined)
    await garden.settle(60_000)
    expect(await garden.isGone(owner)).toBe(false)
    await garden.client.patch(child, { metadata: { finalizers: null } })
    await garden.untilGone(child, owner)
  })

  test('case 99: a child that does not block may go after its owner, but it goes', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner], blocking: false, finalizers: ['test.dev/hold'] })
    await garden.remove(owner, 'Foreground')
    await garden.untilGone(owner)
    expect(await garden.isGone(child)).toBe(false)
    await garden.until(async () => (await garden.find(child))?.metadata.deletionTimestamp !== undefined)
    await garden.client.patch(child, { metadata: { finalizers: null } })
    await garden.untilGone(child)
  })

  test('case 100: a child with another, living owner is kept, and does not hold up the one that goes', async () => {
    garden = await Garden.start()
    const [dying, living] = [await garden.plant('dying'), await garden.plant('living')]
    const child = await garden.plant('child', { owners: [dying, living], blocking: true })
    await garden.settle()
    await garden.remove(dying, 'Foreground')
    await garden.untilGone(dying)
    expect(await garden.ownersOf(child)).toEqual(['living'])
    await garden.settle()
    expect(await garden.isGone(child)).toBe(false)
  })

  test('case 101: children of an owner that is orphaned lose the reference and live', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const children = [
      await garden.plant('a', { owners: [owner], blocking: true }),
      await garden.plant('b', { kind: Leaf, owners: [owner] }),
    ]
    await garden.remove(owner, 'Orphan')
    await garden.untilGone(owner)
    await garden.settle()
    for (const child of children) expect(await garden.ownersOf(child)).toEqual([])
  })

  test.each([
    ['case 102: a ring of three goes in the foreground', ['a']],
    ['a ring goes although all of it is deleted in the foreground at once', ['a', 'b', 'c']],
  ])('%s', async (_, removed) => {
    garden = await Garden.start()
    const a = await garden.plant('a')
    const b = await garden.plant('b', { owners: [a], blocking: true })
    const c = await garden.plant('c', { owners: [b], blocking: true })
    await garden.client.patch(a, { metadata: { ownerReferences: [{ ...referenceTo(c), blockOwnerDeletion: true }] } })
    await garden.settle()
    for (const object of [a, b, c])
      if (removed.includes(object.metadata.name)) await garden.remove(object, 'Foreground')
    await garden.untilGone(a, b, c)
  })

  test.each(['child first', 'owner first'])(
    'case 103: a child of an owner in another namespace goes, with a warning (%s)',
    async (order) => {
      garden = await Garden.start({ isCollecting: order === 'owner first' })
      await garden.plant('other', { kind: { apiVersion: 'v1', kind: 'Namespace' } })
      const owner = await garden.plant('owner', { kind: Leaf, namespace: 'other' })
      const child = await garden.plant('child', { owners: [owner] })
      if (order === 'child first') await garden.collect()
      await garden.untilGone(child)
      expect(await garden.isGone(owner)).toBe(false)
      await garden.until(async () => (await garden.client.list({ apiVersion: 'v1', kind: 'Event' })).items.length > 0)
      const {
        items: [event],
      } = await garden.client.list({ apiVersion: 'v1', kind: 'Event' })
      const { uid } = owner.metadata
      expect(event).toMatchObject({
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        involvedObject: { kind: 'ConfigMap', name: 'child', uid: child.metadata.uid },
        message: `ownerRef [garden.dev/v1/Leaf, namespace: default, name: owner, uid: ${uid}] does not exist in namespace "default"`,
      })
    },
  )

  test('case 104: an object of the whole cluster with an owner in a namespace is never collected', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const children = [
      await garden.plant('real', { kind: Soil, owners: [owner] }),
      await garden.plant('unreal', { kind: Soil, owners: [nobody] }),
    ]
    await garden.settle()
    await garden.remove(owner)
    await garden.settle(60_000)
    for (const child of children) expect(await garden.isGone(child)).toBe(false)
    const { items } = await garden.client.list({ apiVersion: 'v1', kind: 'Event' })
    expect(items).toMatchObject([
      { reason: 'OwnerRefInvalidNamespace', involvedObject: { kind: 'Soil', name: 'real' } },
    ])
    const asked = garden.calls.length
    await garden.settle(25_000)
    expect(garden.calls.length - asked).toBeLessThan(3)
  })

  test('case 105: a child whose owner is of an unknown kind is kept, and goes when the kind comes without the owner', async () => {
    garden = await Garden.start()
    const child = await garden.plant('child', {
      owners: [{ apiVersion: 'later.dev/v1', kind: 'Later', name: 'x', uid: nobody.uid }],
    })
    await garden.settle(90_000)
    expect(await garden.isGone(child)).toBe(false)
    await garden.client.create(definitionOf('later.dev', 'Later'))
    await garden.untilGone(child)
  })

  test('case 106: when the definition of the owners goes, they go, and then their children', async () => {
    garden = await Garden.start()
    const definition = await garden.client.create(definitionOf('brief.dev', 'Brief'))
    await garden.settle()
    const owner = await garden.plant('owner', { kind: { apiVersion: 'brief.dev/v1', kind: 'Brief' } })
    const child = await garden.plant('child', { owners: [owner] })
    await garden.settle()
    await garden.client.delete(definition)
    await garden.untilGone(child)
  })

  test('case 107: a child with an orphan finalizer of its own goes without its children', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner], finalizers: ['orphan'] })
    const grandchild = await garden.plant('grandchild', { owners: [child] })
    await garden.settle()
    await garden.remove(owner)
    await garden.untilGone(child)
    await garden.settle()
    expect(await garden.ownersOf(grandchild)).toEqual([])
  })
})
