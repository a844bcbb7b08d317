/**
 * Many objects with external resources in a system with a limit of calls per second: the duration on a simulated clock,
 * and whether every second keeps the limit.
 */
import { external } from 'evenkeel'
import type { ControllerDeclaration, Driver, ObjectOf } from 'evenkeel'
import type { DriverCall } from 'evenkeel/verbs'
import { startTestPlane } from 'evenkeel/testing'
import type { BenchOptions } from '../print.ts'
import { Thing } from './kinds.ts'
import { createAll, moving } from './stage.ts'

const namespace = 'default'
const callsPerSecond = 100
const burst = 20

interface Look {
  readonly size: number
}

export async function quotaBench({ only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 50 : 1000
  const name = `${count} things under a quota`
  if (!name.includes(only)) return
  const system = new SystemInMemory()
  await using plane = await startTestPlane({ controllers: [thingController(system)], simulated: true })
  const { client, clock } = plane
  const [startedMs, wallMs] = [clock.monotonic(), performance.now()]
  await moving(plane, createAll(client, Thing, { namespace, count, spec: { size: 1 } }))
  let synced = 0
  for (let turn = 0; synced < count && turn < 6000; turn++) {
    await plane.advance(100)
    if (system.things.size < count) continue
    const { items } = await moving(plane, client.list(Thing, { namespace }))
    synced = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Synced' && is === 'True'),
    ).length
  }
  if (synced !== count || system.things.size !== count)
    throw new Error(`${synced} of ${count} are in sync, with ${system.things.size} external resources`)
  const seconds = (clock.monotonic() - startedMs) / 1000
  print({
    case: name,
    ours: seconds,
    peer: undefined,
    peerName: 'no peer',
    unit: 'virtual s',
    lessIsBetter: true,
    more: {
      'calls per thing': system.calls / count,
      'most calls in a second': Math.max(...system.bySecond.values()),
      'allowed in a second': callsPerSecond + burst,
      'least possible s': (system.calls - burst) / callsPerSecond,
      wallMs: Math.round(performance.now() - wallMs),
    },
  })
}

class SystemInMemory {
  readonly things = new Map<string, Look>()
  readonly bySecond = new Map<number, number>()
  calls = 0

  note({ clock }: Pick<DriverCall, 'clock'>): void {
    const second = Math.floor(clock.monotonic() / 1000)
    this.bySecond.set(second, (this.bySecond.get(second) ?? 0) + 1)
    this.calls++
  }
}

function thingController(system: SystemInMemory): ControllerDeclaration {
  const driver: Driver<ObjectOf<typeof Thing>, Look, Look> = {
    name: 'bench',
    capabilities: { idempotent: 'byToken', quota: { callsPerSecond, burst } },
    desired: ({ spec: { size = 0 } }) => ({ size }),
    observe(id, call) {
      system.note(call)
      const observed = system.things.get(id)
      return Promise.resolve(observed && { id, observed })
    },
    create(desired, call) {
      system.note(call)
      system.things.set(call.idempotencyKey, desired)
      return Promise.resolve({ id: call.idempotencyKey })
    },
    update(id, desired, call) {
      system.note(call)
      system.things.set(id, desired)
      return Promise.resolve()
    },
    remove(id, call) {
      system.note(call)
      system.things.delete(id)
      return Promise.resolve()
    },
  }
  const verbs = [external(driver, { instance: 'bench', policy: { pollIntervalMs: 3_600_000 } })]
  return { for: Thing, concurrency: 16, verbs } as unknown as ControllerDeclaration
}
