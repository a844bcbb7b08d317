/**
 * Watches that lag behind, break and come back: what is told late is judged by what has happened since.
 */
import { afterEach, expect, test } from 'vitest'
import { deferred } from '#base'
import { definitionOf, Garden, Leaf } from './world.fixture.ts'

type Body = AsyncIterable<Uint8Array>

let garden: Garden
afterEach(() => garden.stop())

/** Holds back, or breaks, what the watches of one resource tell. */
class Gate {
  #opening: ReturnType<typeof deferred<void>> | undefined
  #isBroken = false

  constructor(plural: string) {
    garden.between = async (request, next) => {
      if (!new RegExp(`/${plural}\\?.*watch=`).test(request.target)) return next(request)
      if (this.#isBroken) throw new Error('the connection was lost')
      const answer = await next(request)
      return { ...answer, body: this.#pass(answer.body as Body) }
    }
  }

  close(): void {
    this.#opening = deferred()
  }

  /** Watches break at their next word, and none begins. */
  break(): void {
    this.#isBroken = true
  }

  open(): void {
    this.#isBroken = false
    this.#opening?.resolve()
    this.#opening = undefined
  }

  async *#pass(body: Body): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      await this.#opening?.promise
      if (this.#isBroken) throw new Error('the connection was lost')
      yield piece
    }
  }
}

test('a child that is told of after its owner has orphaned it is left alone, one that came too late is not', async () => {
  garden = await Garden.start({ isCollecting: false })
  const gate = new Gate('leaves')
  await garden.collect()
  gate.close()
  const owner = await garden.plant('owner')
  const child = await garden.plant('child', { kind: Leaf, owners: [owner] })
  await garden.remove(owner, 'Orphan')
  await garden.untilGone(owner)
  await garden.clock.advance(2000)
  const late = await garden.plant('late', { kind: Leaf, owners: [owner] })
  gate.open()
  await garden.untilGone(late)
  await garden.settle()
  expect(await garden.ownersOf(child)).toEqual([])
})

test('an owner that was replaced by another of its name while nobody watched is gone for its children', async () => {
  garden = await Garden.start({ isCollecting: false })
  const gate = new Gate('leaves')
  await garden.collect()
  const owner = await garden.plant('owner', { kind: Leaf })
  const child = await garden.plant('child', { owners: [owner] })
  await garden.settle()
  gate.break()
  await garden.remove(owner)
  const second = await garden.plant('owner', { kind: Leaf })
  await garden.settle()
  await garden.server.compact()
  gate.open()
  await garden.until(() => garden.isGone(child), { stepMs: 1000 })
  expect(await garden.isGone(second)).toBe(false)
})

test('case 106: the end of an owner counts also when its kind is gone before it is told', async () => {
  garden = await Garden.start({ isCollecting: false })
  const gate = new Gate('briefs')
  await garden.collect()
  const definition = await garden.client.create(definitionOf('brief.dev', 'Brief'))
  await garden.settle()
  const owner = await garden.plant('owner', { kind: { apiVersion: 'brief.dev/v1', kind: 'Brief' } })
  const child = await garden.plant('child', { owners: [owner] })
  await garden.settle()
  gate.close()
  await garden.client.delete(owner)
  await garden.client.delete(definition)
  await garden.settle(7000)
  expect(await garden.isGone(child)).toBe(false)
  gate.open()
  await garden.untilGone(child)
})

test('a kind that goes and comes back is followed again, and what was left of it is looked for', async () => {
  garden = await Garden.start()
  const type = { apiVersion: 'brief.dev/v1', kind: 'Brief' }
  const definition = await garden.client.create(definitionOf('brief.dev', 'Brief'))
  await garden.settle()
  await garden.client.delete(definition)
  await garden.settle(70_000)
  await garden.client.create(definitionOf('brief.dev', 'Brief'))
  await garden.settle(10_000)
  const owner = await garden.plant('owner', { kind: type })
  const child = await garden.plant('child', { owners: [owner] })
  await garden.settle()
  await garden.remove(owner)
  await garden.untilGone(child)
})

test('a kind that is defined while the collector starts is watched soon, not after a period', async () => {
  garden = await Garden.start({ isCollecting: false })
  const type = { apiVersion: 'brief.dev/v1', kind: 'Brief' }
  let isDefined = false
  // Between the first discovery and the first list of definitions.
  garden.between = async (request, next) => {
    if (!isDefined && request.target.includes('/customresourcedefinitions')) {
      isDefined = true
      await garden.client.create(definitionOf('brief.dev', 'Brief'))
    }
    return next(request)
  }
  await garden.collect()
  await garden.settle(2000)
  const owner = await garden.plant('owner', { kind: type })
  const child = await garden.plant('child', { owners: [owner] })
  await garden.settle(13_000)
  await garden.remove(owner)
  await garden.until(() => garden.isGone(child), { steps: 20 })
})

test('an owner of a kind that discovery has missed makes discovery run again', async () => {
  garden = await Garden.start({ isCollecting: false })
  const type = { apiVersion: 'brief.dev/v1', kind: 'Brief' }
  // No event tells of definitions: their watch is broken.
  const gate = new Gate('customresourcedefinitions')
  await garden.collect()
  gate.break()
  await garden.settle(500)
  await garden.client.create(definitionOf('brief.dev', 'Brief'))
  const owner = await garden.plant('owner', { kind: type })
  const child = await garden.plant('child', { owners: [owner] })
  await garden.settle(3000)
  await garden.remove(owner)
  await garden.until(() => garden.isGone(child), { steps: 50 })
  gate.open()
})
