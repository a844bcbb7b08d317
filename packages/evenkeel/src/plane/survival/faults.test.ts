/**
 * The same manager survives what networks, servers and clocks do: every note is answered in the end, by one writer.
 *
 * On the simulated clock, so that five minutes pass in no time. What nobody handled (a rejection, an error) fails the run.
 */
import { describe, expect, test } from 'vitest'
import { onAbort } from '#base'
import type { SimulatedClock } from '#base'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import { ConnectionError } from '#client'
import type { ClientOptions } from '#client'
import type { Manager } from '#manager'
import { Note, World } from '../world.fixture.ts'

type Transport = ClientOptions['transport']
type Response = Awaited<ReturnType<Transport>>

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string }
}

const Lease = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})

/** A manager that answers notes, with an election. */
function echoing(world: World): Manager {
  const manager = world.manager({ leaderElection: { identity: 'me' } })
  manager.addController({
    for: Note,
    concurrency: 4,
    reconcile: (note, { status }) => {
      status.set({ text: note.spec.text ?? '' })
    },
  })
  return manager
}

async function answers(world: World, name: string, words: string): Promise<void> {
  await world.write(name, words)
  await world.until(async () => (await world.read(name)) === words, { stepMs: 50 })
}

/** Whether every informer listens again. */
function isLive(manager: Manager): boolean {
  return manager.cache.states.every(({ phase }) => phase === 'live' || phase === 'catching up')
}

/** A stream that breaks after a while. */
function cutAfter(response: Response, ms: number, clock: SimulatedClock): Response {
  const { body } = response
  if (body === undefined || !(Symbol.asyncIterator in body)) return response
  const cut = new Promise<never>((_, reject) => {
    clock.after(ms, () => {
      reject(new ConnectionError('cut off', { problem: 'reset' }))
    })
  })
  cut.catch(() => undefined)
  async function* pieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = stream[Symbol.asyncIterator]()
    try {
      for (
        let next = await Promise.race([reader.next(), cut]);
        !next.done;
        next = await Promise.race([reader.next(), cut])
      )
        yield next.value
    } finally {
      void reader.return?.()
    }
  }
  return { ...response, body: pieces(body) }
}

function isWatch(target: string): boolean {
  return /[?&]watch=/.test(target)
}

describe('a manager survives', () => {
  test('watches that are cut every second, for five minutes', async () => {
    const world = await World.start()
    world.between = async (request, next) => {
      const response = await next(request)
      return isWatch(request.target) ? cutAfter(response, 1000, world.clock) : response
    }
    const manager = echoing(world)
    const running = world.run(manager)
    for (let round = 0; round < 20; round++) {
      await answers(world, `note-${round % 3}`, `round ${round}`)
      await world.clock.advance(15_000)
    }
    expect(manager.cache.states[0]?.counts.watches ?? 0).toBeGreaterThan(100)
    world.between = (request, next) => next(request)
    await answers(world, 'last', 'words')
    expect(isLive(manager)).toBe(true)
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a storm of 410: history is forgotten whenever it looks', async () => {
    const world = await World.start()
    let expired = 0
    world.between = async (request, next) => {
      if (isWatch(request.target) && request.target.includes('resourceVersion=') && expired < 40) {
        expired++
        const status = {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'too old resource version',
          reason: 'Expired',
          code: 410,
        }
        if (expired % 2 === 0)
          return {
            status: 410,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify(status)),
          }
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`),
        }
      }
      const response = await next(request)
      return isWatch(request.target) ? cutAfter(response, 500, world.clock) : response
    }
    const manager = echoing(world)
    const running = world.run(manager)
    for (let round = 0; round < 20; round++) {
      await answers(world, `note-${round}`, `round ${round}`)
      await world.server.compact()
      await world.clock.advance(5000)
    }
    expect(expired).toBe(40)
    await answers(world, 'last', 'words')
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('five minutes in which every connection is refused', async () => {
    const world = await World.start()
    let isDown = false
    const open = new Set<AbortController>()
    world.between = async (request, next) => {
      if (isDown) throw new ConnectionError('connection refused', { problem: 'refused' })
      const down = new AbortController()
      open.add(down)
      onAbort(request.signal, (reason) => {
        down.abort(reason)
      })
      return await next({ ...request, signal: down.signal })
    }
    const manager = echoing(world)
    const running = world.run(manager)
    await answers(world, 'a', 'before')
    expect(manager.isLeading).toBe(true)
    isDown = true
    for (const each of open) each.abort(new ConnectionError('cut off', { problem: 'reset' }))
    await world.write('a', 'meanwhile')
    await world.clock.advance(300_000)
    expect([manager.isLeading, running.end, await world.read('a')]).toEqual([false, undefined, 'before'])
    isDown = false
    await world.until(async () => (await world.read('a')) === 'meanwhile', { stepMs: 100 })
    await answers(world, 'b', 'after')
    expect([manager.isLeading, isLive(manager)]).toEqual([true, true])
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a lease that is taken away again and again: it writes only while it holds it', async () => {
    const world = await World.start()
    let holder = ''
    const foreign: string[] = []
    world.between = (request, next) => {
      if (request.method === 'PATCH' && holder === 'thief') foreign.push(request.target)
      return next(request)
    }
    const manager = echoing(world)
    const running = world.run(manager)
    for (let round = 0; round < 5; round++) {
      await answers(world, 'a', `round ${round}`)
      const lease = await world.client.get(Lease, { name: 'tester', namespace: 'default' })
      await world.client.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }).catch(() => undefined)
      await world.until(() => !manager.isLeading)
      holder = 'thief'
      await world.write('a', `not answered ${round}`)
      await world.clock.advance(5000)
      expect(await world.read('a')).toBe(`round ${round}`)
      holder = ''
      // It is not renewed, so it runs out.
    }
    expect(foreign).toEqual([])
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('clocks that jump either way', async () => {
    const world = await World.start()
    const manager = echoing(world)
    const running = world.run(manager)
    for (const [round, byMs] of [3_600_000, -7_200_000, 86_400_000, -1000, 700].entries()) {
      await answers(world, 'a', `before ${round}`)
      world.clock.jumpWall(byMs)
      if (Math.abs(byMs) > 600)
        await expect(
          manager.leaderClient.create(Note, { metadata: { name: `n-${round}`, namespace: 'default' }, spec: {} }),
        ).rejects.toThrow('lease not verified')
      await answers(world, 'a', `after ${round}`)
    }
    await running.stop()
    expect(running.end).toEqual({})
  })
})
