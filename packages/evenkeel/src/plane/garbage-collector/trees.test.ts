import { afterEach, describe, expect, test } from 'vitest'
import type { Stored, UnstructuredObject } from '#api'
import { garbageCollector } from './garbage-collector.ts'
import { Garden, Leaf, referenceTo, Soil } from './world.fixture.ts'

type Live = Stored<UnstructuredObject>

const hold = 'test.dev/hold'
const levels = ['root', 'middle', 'bottom'] as const

let garden: Garden
afterEach(() => garden.stop())

interface Tree {
  readonly root: Live
  readonly middle: readonly Live[]
  readonly bottom: readonly Live[]
}

/** A root of the whole cluster, two below it, two below each of these; one level is held by a finalizer. */
async function plantTree(held: string): Promise<Tree> {
  const finalizers = (level: string): string[] => (level === held ? [hold] : [])
  const root = await garden.plant('root', { kind: Soil, finalizers: finalizers('root') })
  const middle = [
    await garden.plant('m1', { kind: Leaf, owners: [root], blocking: true, finalizers: finalizers('middle') }),
    await garden.plant('m2', { owners: [root], blocking: true, finalizers: finalizers('middle') }),
  ]
  const bottom: Live[] = []
  for (const [at, owner] of [...middle, ...middle].entries())
    bottom.push(await garden.plant(`b${at}`, { owners: [owner], blocking: true, finalizers: finalizers('bottom') }))
  await garden.settle()
  return { root, middle, bottom }
}

function levelOf(tree: Tree, level: (typeof levels)[number]): readonly Live[] {
  return level === 'root' ? [tree.root] : tree[level]
}

async function free(objects: readonly Live[]): Promise<void> {
  for (const object of objects)
    if (!(await garden.isGone(object)))
      await garden.client.patch(object, {
        metadata: {
          finalizers: ((await garden.find(object))?.metadata.finalizers ?? []).filter((name) => name !== hold),
        },
      })
}

async function standing(tree: Tree): Promise<string> {
  const counts = await Promise.all(
    levels.map(
      async (level) =>
        (await Promise.all(levelOf(tree, level).map(async (object) => !(await garden.isGone(object))))).filter(Boolean)
          .length,
    ),
  )
  return counts.join(' ')
}

describe('a tree of three levels', () => {
  test.each(levels)(
    'in the background: held at the %s, what is above goes at once and the rest when it is let go',
    async (held) => {
      garden = await Garden.start()
      const tree = await plantTree(held)
      await garden.remove(tree.root)
      await garden.settle(20_000)
      expect(await standing(tree)).toBe({ root: '1 2 4', middle: '0 2 4', bottom: '0 0 4' }[held])
      await free(levelOf(tree, held))
      await garden.untilGone(tree.root, ...tree.middle, ...tree.bottom)
    },
  )

  test.each(levels)(
    'in the foreground: held at the %s, what is below goes at once and the rest when it is let go',
    async (held) => {
      garden = await Garden.start()
      const tree = await plantTree(held)
      await garden.remove(tree.root, 'Foreground')
      await garden.settle(20_000)
      expect(await standing(tree)).toBe({ root: '1 0 0', middle: '1 2 0', bottom: '1 2 4' }[held])
      for (const object of [tree.root, ...tree.middle])
        expect(
          (await garden.find(object))?.metadata.deletionTimestamp !== undefined || (await garden.isGone(object)),
        ).toBe(true)
      await free(levelOf(tree, held))
      await garden.untilGone(tree.root, ...tree.middle, ...tree.bottom)
    },
  )

  test.each(levels)(
    'orphaned: held at the %s, only the root goes and the rest stands, each with the owners it still has',
    async (held) => {
      garden = await Garden.start()
      const tree = await plantTree(held)
      await garden.remove(tree.root, 'Orphan')
      await garden.settle(20_000)
      await free([tree.root])
      await garden.untilGone(tree.root)
      await garden.settle(20_000)
      expect(await standing(tree)).toBe('0 2 4')
      for (const object of tree.middle) expect(await garden.ownersOf(object)).toEqual([])
      for (const object of tree.bottom) expect(await garden.ownersOf(object)).toHaveLength(1)
    },
  )
})

describe('garbageCollector', () => {
  test('asks the server once per child in the background, and not at all for what stays', async () => {
    garden = await Garden.start()
    const [owner, other] = [await garden.plant('owner'), await garden.plant('other')]
    const children: Live[] = []
    for (let at = 0; at < 20; at++) children.push(await garden.plant(`c${at}`, { owners: [owner] }))
    await garden.plant('stays', { owners: [other] })
    await garden.settle()
    const before = garden.calls.length
    await garden.remove(owner)
    await garden.untilGone(...children)
    const asked = garden.calls.slice(before)
    expect(asked.filter((call) => call.startsWith('DELETE'))).toHaveLength(20)
    expect(asked.filter((call) => call.startsWith('GET') && call.includes('configmaps/'))).toEqual([])
  })

  test('begins with what is there: owners that went while nobody collected are noticed', async () => {
    garden = await Garden.start()
    const [owner, waiting, leaving] = [
      await garden.plant('owner'),
      await garden.plant('waiting'),
      await garden.plant('leaving'),
    ]
    const children = [
      await garden.plant('a', { owners: [owner] }),
      await garden.plant('b', { owners: [waiting], blocking: true }),
    ]
    const freed = await garden.plant('c', { owners: [leaving] })
    await garden.stopCollecting()
    await garden.remove(owner)
    await garden.remove(waiting, 'Foreground')
    await garden.remove(leaving, 'Orphan')
    await garden.collect('second')
    await garden.untilGone(...children, owner, waiting, leaving)
    await garden.settle()
    expect(await garden.ownersOf(freed)).toEqual([])
  })

  test('an object that changes all the time is collected all the same', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner] })
    await garden.settle()
    let beats = 0
    garden.between = async (request, next) => {
      if (request.method === 'DELETE')
        await garden.client.patch(child, { metadata: { labels: { beat: String(beats++) } } })
      return next(request)
    }
    await garden.remove(owner)
    await garden.untilGone(child)
    expect(beats).toBeLessThan(5)
  })

  test('after a failure it asks the server what is there before it goes on', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner] })
    await garden.settle()
    let failures = 0
    garden.between = async (request, next) => {
      if (request.method === 'DELETE' && failures++ === 0) throw new Error('the connection was lost')
      return next(request)
    }
    const before = garden.calls.length
    await garden.remove(owner)
    await garden.untilGone(child)
    await garden.settle()
    expect(garden.calls.slice(before).filter((call) => call.endsWith('/child'))).toEqual(
      ['DELETE', 'GET', 'DELETE'].map((method) => `${method} /api/v1/namespaces/default/configmaps/child`),
    )
  })

  test('a child that is adopted by a living owner while it is being judged is kept', async () => {
    garden = await Garden.start()
    const [owner, adopter] = [await garden.plant('owner'), await garden.plant('adopter')]
    const child = await garden.plant('child', { owners: [owner] })
    await garden.settle()
    let isAdopted = false
    garden.between = async (request, next) => {
      if (request.method === 'DELETE' && !isAdopted) {
        isAdopted = true
        await garden.client.patch(child, { metadata: { ownerReferences: [referenceTo(adopter)] } })
      }
      return next(request)
    }
    await garden.remove(owner)
    await garden.until(() => isAdopted)
    await garden.settle(30_000)
    expect(await garden.ownersOf(child)).toEqual(['adopter'])
  })

  test('a child that its user deletes in another way while it is being judged goes that way', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const child = await garden.plant('child', { owners: [owner] })
    const grandchild = await garden.plant('grandchild', { owners: [child] })
    await garden.settle()
    let isRemoved = false
    garden.between = async (request, next) => {
      if (request.method === 'DELETE' && !isRemoved) {
        isRemoved = true
        await garden.remove(child, 'Orphan')
      }
      return next(request)
    }
    await garden.remove(owner)
    await garden.untilGone(child)
    await garden.settle()
    expect(await garden.ownersOf(grandchild)).toEqual([])
  })

  test('a reference by the right uid and another kind, version or name keeps nobody alive', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const wrong = [
      { ...referenceTo(owner), kind: 'Secret' },
      { ...referenceTo(owner), name: 'other' },
      { ...referenceTo(owner), apiVersion: Leaf.apiVersion, kind: 'Leaf' },
    ]
    const right = await garden.plant('right', { owners: [owner] })
    const children: Live[] = []
    for (const [at, reference] of wrong.entries()) children.push(await garden.plant(`w${at}`, { owners: [reference] }))
    await garden.untilGone(...children)
    await garden.settle()
    expect(await garden.isGone(right)).toBe(false)
  })

  test('a child that loses a reference to an unknown kind is judged by the owners that are left', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const unknown = { apiVersion: 'later.dev/v1', kind: 'Later', name: 'x', uid: 'u' }
    const child = await garden.plant('child', { owners: [unknown, owner] })
    await garden.settle()
    await garden.remove(owner)
    await garden.settle(60_000)
    expect(await garden.isGone(child)).toBe(false)
    await garden.client.patch(child, { metadata: { ownerReferences: [referenceTo(owner)] } })
    await garden.untilGone(child)
  })

  test('a blocking child that comes while its owner waits is deleted too, and let go of when it stops blocking', async () => {
    garden = await Garden.start()
    const owner = await garden.plant('owner')
    const first = await garden.plant('first', { owners: [owner], blocking: true, finalizers: [hold] })
    await garden.remove(owner, 'Foreground')
    await garden.settle()
    const late = await garden.plant('late', { owners: [owner], blocking: true })
    await garden.untilGone(late)
    await garden.client.patch(first, {
      metadata: { ownerReferences: [{ ...referenceTo(owner), blockOwnerDeletion: false }] },
    })
    await garden.untilGone(owner)
    expect(await garden.isGone(first)).toBe(false)
    await free([first])
  })

  test('does nothing that its rules do not name', async () => {
    garden = await Garden.start()
    await garden.plant('other', { kind: { apiVersion: 'v1', kind: 'Namespace' } })
    const owner = await garden.plant('owner', { namespace: 'other' })
    await garden.plant('stranger', { owners: [owner] })
    const [free, waiting] = [await garden.plant('free'), await garden.plant('waiting')]
    await garden.plant('a', { owners: [free] })
    await garden.plant('b', { owners: [waiting], blocking: true })
    await garden.settle()
    await garden.remove(free, 'Orphan')
    await garden.remove(waiting, 'Foreground')
    await garden.untilGone(free, waiting)
    const {
      rbac: [everything, events],
    } = garbageCollector()
    const verbs: Readonly<Record<string, string>> = { GET: 'get', PATCH: 'patch', DELETE: 'delete', POST: 'create' }
    for (const call of garden.calls.filter((one) => /\/(api|apis)\/.+\//.test(one))) {
      const [method = '', path = ''] = call.split(' ')
      const allowed = path.includes('/events') ? events : everything
      expect(allowed?.verbs, call).toContain(verbs[method])
    }
  })

  test('stops at once, and leaves nothing behind on the clock', async () => {
    garden = await Garden.start()
    await garden.plant('child', { owners: [{ apiVersion: 'later.dev/v1', kind: 'Later', name: 'x', uid: 'u' }] })
    await garden.settle()
    const before = garden.clock.pending
    await garden.stopCollecting()
    expect(garden.clock.pending).toBeLessThan(before)
    const asked = garden.calls.length
    await garden.settle(120_000)
    expect(garden.calls.length).toBe(asked)
  })
})
