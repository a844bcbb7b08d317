import { describe, expect, test } from 'vitest'
import { deferred, onAbort } from '#base'
import type { Clock } from '#base'
import { declareKind } from '#api'
import { GraceExceededError, Manager } from '#manager'
import { Note, World } from './world.fixture.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

/** A clock that knows the delays of its timers: of all, and of those that are pending. */
function noting(clock: Clock): { clock: Clock; started: number[]; delays: () => number[] } {
  const started: number[] = []
  const pending = new Set<{ readonly delayMs: number }>()
  return {
    started,
    delays: () => [...pending].map(({ delayMs }) => delayMs),
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      soon: (callback) => {
        clock.soon(callback)
      },
      after: (delayMs, callback) => {
        const timer = { delayMs }
        started.push(delayMs)
        pending.add(timer)
        const cancel = clock.after(delayMs, () => {
          pending.delete(timer)
          callback()
        })
        return () => {
          pending.delete(timer)
          cancel()
        }
      },
    },
  }
}

describe('one run of a Manager', () => {
  test('a runnable of the leader gets the client that refuses writes without the lease, others the ordinary one', async () => {
    const world = await World.start()
    const manager = world.manager({ leaderElection: {} })
    const clients: Record<string, unknown> = {}
    for (const needsLeader of [true, false])
      manager.add(
        (_, { client }) => {
          clients[String(needsLeader)] = client
          return Promise.resolve()
        },
        { needsLeader },
      )
    const running = world.run(manager)
    await world.until(() => clients['true'] !== undefined)
    expect(clients['true']).toBe(manager.leaderClient)
    expect(clients['false']).toBe(manager.client)
    expect(manager.leaderClient).not.toBe(manager.client)
    await running.stop()
  })

  test('runnables that do not stop are named by their own name, or by their number', async () => {
    const world = await World.start()
    const manager = world.manager({ gracePeriodMs: 1000 })
    const hang = (): Promise<void> => new Promise(() => undefined)
    const options = { needsLeader: false }
    manager.add(() => hang(), options)
    manager.add(hang, options)
    manager.add({ name: 'mine', run: hang }, options)
    manager.add({ run: hang }, options)
    manager.add(hang, { ...options, name: 'given' })
    const running = world.run(manager)
    await world.clock.advance(100)
    await running.stop()
    expect(running.end?.error).toBeInstanceOf(GraceExceededError)
    expect((running.end?.error as GraceExceededError).tasks).toEqual([
      'runnable 1',
      'hang',
      'mine',
      'runnable 4',
      'given',
    ])
  })

  test('the first term reconciles each object once; what a leader before did is not known in a later one', async () => {
    const world = await World.start()
    await world.write('a', 'one')
    const manager = world.manager({ leaderElection: {} })
    const notes: unknown[] = []
    manager.addController({
      for: Note,
      reconcile: (_, { causes }) => {
        notes.push(causes.map(({ type, note }) => note ?? type))
      },
    })
    const running = world.run(manager)
    await world.until(() => manager.isLeading)
    await world.clock.advance(1000)
    expect(notes).toEqual([['add']])
    expect(manager.ledger.entries().map(({ key }) => key)).toEqual(['default/test.dev/Note/default/a'])
    await running.stop()
  })

  test('the election starts after ten seconds with caches that did not sync, and a stop in between is no warning', async () => {
    const message = 'caches did not sync in time: starting leader election anyway'
    const world = await World.start()
    const standing = (): Manager => {
      const manager = world.manager({ leaderElection: {} })
      manager.addController({ for: Note, reconcile: () => undefined })
      return manager
    }
    world.between = (request, next) =>
      request.target.includes('/notes') ? new Promise(() => undefined) : next(request)
    const stopped = world.run(standing())
    await world.clock.advance(5000)
    stopped.abort()
    await world.clock.advance(60_000)
    expect(world.said(message)).toBe(false)
    const manager = standing()
    const running = world.run(manager)
    await world.clock.advance(9000)
    expect([world.said(message), world.calls.some((call) => call.includes('leases'))]).toEqual([false, false])
    await world.until(() => manager.isLeading)
    expect(world.said(message)).toBe(true)
    running.abort()
    await world.clock.advance(60_000)
  })

  test('closes the connection at its end, and keeps no timer of a key that waits', async () => {
    const world = await World.start()
    let closed = 0
    class Closing extends Manager {
      override async close(): Promise<void> {
        closed++
        await super.close()
      }
    }
    const { clock, log, transport } = world
    const manager = new Closing({ name: 'it', transport, clock, log, watchdog: false })
    let runs = 0
    manager.addController({
      for: Note,
      reconcile: () => {
        runs++
        return { afterMs: 1_000_000 }
      },
    })
    await world.write('a', 'one')
    const before = clock.pending
    const running = world.run(manager)
    await world.until(() => runs > 0)
    expect(closed).toBe(0)
    await running.stop()
    expect(closed).toBe(1)
    expect(clock.pending).toBeLessThanOrEqual(before)
  })

  test('a stop while the caches sync does not wait for them, and starts nothing', async () => {
    const world = await World.start()
    world.between = (request, next) =>
      request.target.includes('/configmaps')
        ? new Promise((_, reject) => {
            request.signal.addEventListener('abort', () => {
              reject(request.signal.reason as Error)
            })
          })
        : next(request)
    const manager = world.manager({})
    manager.cache.getInformer(ConfigMap)
    let hasStarted = false
    manager.add(() => {
      hasStarted = true
      return Promise.resolve()
    })
    const running = world.run(manager)
    await world.clock.advance(1000)
    const before = world.clock.monotonic()
    await running.stop()
    expect(world.clock.monotonic() - before).toBeLessThan(2000)
    expect(hasStarted).toBe(false)
    expect(world.said('caches did not sync in time: continuing with partial data')).toBe(false)
  })

  test('goes on without the caches that do not sync in time, and says so', async () => {
    const message = 'caches did not sync in time: continuing with partial data'
    const world = await World.start()
    world.between = (request, next) =>
      request.target.includes('/configmaps') ? new Promise(() => undefined) : next(request)
    const manager = world.manager({ cacheSyncMs: 20_000 })
    manager.cache.getInformer(ConfigMap)
    let hasStarted = false
    manager.add(() => {
      hasStarted = true
      return Promise.resolve()
    })
    const running = world.run(manager)
    await world.clock.advance(19_999)
    expect([world.said(message), hasStarted]).toEqual([false, false])
    await world.clock.advance(1)
    expect([world.said(message), hasStarted]).toEqual([true, true])
    await running.stop()
  })

  test('keeps no timer of its start once it leads', async () => {
    const world = await World.start()
    const { clock, started, delays } = noting(world.clock)
    const manager = world.manager({ clock, leaderElection: {}, cacheSyncMs: 77_777, watchdog: false })
    manager.addController({ for: Note, reconcile: () => undefined })
    const running = world.run(manager)
    await world.until(() => manager.isLeading)
    // The caches, and the warm-up.
    const limits = [77_777, 10_000]
    expect(started).toEqual(expect.arrayContaining(limits))
    expect(delays().filter((delayMs) => limits.includes(delayMs))).toEqual([])
    await running.stop()
  })

  test('a controller that needs no leader and is added later stops together with the runnables', async () => {
    const world = await World.start()
    const told = deferred<void>()
    let hasBegun = false
    const manager = world.manager()
    manager.add(
      (signal) =>
        new Promise((resolve) => {
          onAbort(signal, () => {
            told.resolve()
            resolve()
          })
        }),
      { needsLeader: false },
    )
    const running = world.run(manager)
    await world.until(() => manager.isLeading)
    await world.write('a', 'one')
    manager.addController({
      for: Note,
      needsLeader: false,
      reconcile: () => {
        hasBegun = true
        return told.promise
      },
    })
    await world.until(() => hasBegun)
    await running.stop()
    expect(running.end).toEqual({})
  })
})
