import { describe, expect, test } from 'vitest'
import { deferred } from '#base'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { Note, World } from './world.fixture.ts'

interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly renewTime?: string
  }
}

const Lease = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})
const lease = { name: 'tester', namespace: 'default' }

async function holderOf(world: World): Promise<string | undefined> {
  return (await world.client.find(Lease, lease))?.spec?.holderIdentity
}

/** Somebody takes the lease, as if it had run out. */
async function steal(world: World, holderIdentity: string): Promise<void> {
  const held = await world.client.get(Lease, lease)
  await world.client.update({ ...held, spec: { ...held.spec, holderIdentity } })
}

const echo: ControllerDeclaration<typeof Note> = {
  for: Note,
  reconcile: (note, { status }) => {
    status.set({ text: note.spec.text ?? '' })
  },
}

describe('Manager with an election', () => {
  test('case 114: a lost lease aborts runs and refuses their writes; the standby stays warm and leads again', async () => {
    const world = await World.start()
    const [held, reasons, late] = [deferred<void>(), [] as unknown[], [] as string[]]
    let isHeld = true
    const manager = world.manager({ leaderElection: { identity: 'me' } })
    manager.addController({
      for: Note,
      async reconcile(note, { client, signal, status }) {
        if (!isHeld) return status.set({ text: note.spec.text ?? '' })
        signal.addEventListener('abort', () => {
          reasons.push((signal.reason as { abortReason?: string }).abortReason)
        })
        await held.promise
        await client.patchStatus(note, { text: 'late' }).catch((error: unknown) => {
          late.push(String(error))
        })
      },
    })
    const running = world.run(manager)
    await world.write('a', 'one')
    await world.until(() => manager.isLeading)
    await world.clock.advance(100)
    expect(manager.controllers[0]?.health).toMatchObject({ isWorking: true, workers: { active: 1 } })
    await steal(world, 'thief')
    await world.until(() => reasons.length > 0)
    expect([reasons, manager.isLeading]).toEqual([['lease-lost'], false])
    isHeld = false
    held.resolve()
    await world.until(() => late.length > 0)
    expect(late[0]).toMatch(/lease is lost|lease not verified/)
    await world.clock.advance(1000)
    expect(manager.controllers[0]?.health).toMatchObject({ isWorking: false, isReady: true })
    await world.write('b', 'two')
    await world.until(() => manager.controllers[0]?.health.queue.ready === 1)
    expect([await world.read('a'), await world.read('b')]).toEqual([undefined, undefined])
    await steal(world, '')
    await world.until(async () => (await world.read('a')) === 'one' && (await world.read('b')) === 'two')
    expect(await holderOf(world)).toBe('me')
    const lists = world.calls.filter((call) => call === 'GET /apis/test.dev/v1/notes').length
    expect(lists).toBe(1)
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('case 115: a stop lets workers end, then gives the lease back, and a successor leads within one retry', async () => {
    const world = await World.start()
    const held = deferred<void>()
    const holders: (string | undefined)[] = []
    const first = world.run(
      world.manager({
        leaderElection: { identity: 'first' },
        controllers: [
          {
            for: Note,
            async reconcile() {
              await held.promise
              holders.push(await holderOf(world))
            },
          },
        ],
      }),
    )
    await world.write('a', 'one')
    await world.until(() => first.manager.isLeading)
    await world.clock.advance(500)
    const second = world.run(world.manager({ leaderElection: { identity: 'second' }, controllers: [echo] }))
    await world.clock.advance(5000)
    expect(second.manager.isLeading).toBe(false)
    first.abort()
    await world.clock.advance(10_000)
    expect([first.end, second.manager.isLeading, await holderOf(world)]).toEqual([undefined, false, 'first'])
    held.resolve()
    await first.stop()
    expect([holders, first.end, await holderOf(world)]).toEqual([['first'], {}, ''])
    // One retry period with its jitter.
    await world.until(() => second.manager.isLeading, { stepMs: 10, steps: 450 })
    expect([second.manager.isLeading, await holderOf(world)]).toEqual([true, 'second'])
    await world.until(async () => (await world.read('a')) === 'one')
    await second.stop()
  })

  test('controllers that need no leader work on a standby, and write', async () => {
    const world = await World.start()
    await world.client.create(Lease, {
      metadata: lease,
      spec: { holderIdentity: 'other', leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' },
    })
    const manager = world.manager({ leaderElection: {}, controllers: [{ ...echo, needsLeader: false }] })
    const running = world.run(manager)
    await world.write('a', 'one')
    await world.until(async () => (await world.read('a')) === 'one')
    expect(manager.isLeading).toBe(false)
    await expect(
      manager.leaderClient.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'default' },
      }),
    ).rejects.toThrow('lease not verified')
    await running.stop()
  })
})
