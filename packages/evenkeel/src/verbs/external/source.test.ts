import { describe, expect, test } from 'vitest'
import { createLogger, SeededRandom } from '#base'
import type { StartedSource } from '#controller'
import type { DriverEvent } from './driver.ts'
import { ShapeSystem } from './session.fixture.ts'
import { ExternalSource } from './source.ts'

type Watch = (system: ShapeSystem) => AsyncIterable<DriverEvent>

/** A started source of a driver with this watch: which keys it enqueues, and why. */
function started(watch: Watch): {
  system: ShapeSystem
  source: StartedSource
  enqueued: string[]
  settle: () => Promise<void>
} {
  const system: ShapeSystem = new ShapeSystem({
    driver: {
      watch: () => watch(system),
      async *list() {
        yield await Promise.resolve([])
      },
    },
  })
  const { clock, environment } = system
  const enqueued: string[] = []
  const source = new ExternalSource({
    environment,
    sweepKey: { name: '(sweep)' },
    leftoverKeys: () => Promise.resolve([]),
  }).start({
    clock,
    random: new SeededRandom('1'),
    log: createLogger({ clock, sink: () => undefined }),
    cache: { hasSynced: true, list: () => [system.object] },
    enqueue: ({ name }: { name: string }, { note }: { note: string }) => enqueued.push(`${name}: ${note}`),
  } as never)
  return { system, source, enqueued, settle: () => clock.advance(0) }
}

const sweeping = (note: string): string => `(sweep): ${note}`

describe('the watch of an external system', () => {
  test('that fails is a problem until it works again, and a sweep follows', async () => {
    let opened = 0
    const { system, source, enqueued, settle } = started(async function* () {
      if (opened++ === 0) throw new Error('connection reset')
      yield await Promise.resolve({ id: 'theirs' })
      await new Promise(() => undefined)
    })
    await settle()
    expect(source.problem).toBe('watch failed: connection reset')
    expect(enqueued).toEqual([sweeping('periodic sweep'), sweeping('the watch was interrupted')])
    await system.clock.advance(1100)
    expect([opened, source.problem]).toEqual([2, undefined])
    await source.stop()
    expect(system.clock.pending).toBe(0)
  })

  test('that ends is opened again after a sweep', async () => {
    let opened = 0
    const { system, source, enqueued, settle } = started(async function* () {
      opened++
      yield await Promise.resolve({ id: 'theirs' })
    })
    await settle()
    expect([opened, enqueued[1]]).toEqual([1, sweeping('the watch was interrupted')])
    await system.clock.advance(1100)
    expect(opened).toBe(2)
    await source.stop()
  })

  test.each<[string, (system: ShapeSystem) => DriverEvent, readonly string[]]>([
    ['our resource', ({ labels }) => ({ id: 's-1', labels }), ['foo: event of the external system']],
    [
      'a resource of another installation',
      ({ labels }) => ({ id: 's-1', labels: { ...labels, instance: 'there' } }),
      [],
    ],
    ['an unlabelled resource', () => ({ id: 's-1' }), []],
    ['any resource', () => ({}), [sweeping('event of an unknown external resource')]],
  ])('with an event of %s', async (_, event, expected) => {
    const { source, enqueued, settle } = started(async function* (system) {
      yield await Promise.resolve(event(system))
      await new Promise(() => undefined)
    })
    await settle()
    expect(enqueued.slice(1)).toEqual(expected)
    await source.stop()
  })
})
