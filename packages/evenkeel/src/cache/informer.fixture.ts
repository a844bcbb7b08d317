/**
 * An informer on a fake server and a simulated clock, with one handler that records its events.
 */
import { SeededRandom, SimulatedClock } from '#base'
import type { CacheEvent } from './event.ts'
import { FakeServer, type Widget } from './fake-server.fixture.ts'
import { Informer, type InformerOptions } from './informer.ts'

export interface InformerSetup {
  readonly server: FakeServer
  readonly clock: SimulatedClock
  readonly informer: Informer<Widget>
  /** What a handler heard that was there from the beginning. */
  readonly heard: string[]
  readonly stop: AbortController
  readonly done: Promise<void>
}

interface InformerSetupOptions extends Partial<InformerOptions<Widget>> {
  readonly prepare?: (server: FakeServer) => void
}

export async function setUpInformer({
  prepare = () => undefined,
  ...options
}: InformerSetupOptions = {}): Promise<InformerSetup> {
  const server = new FakeServer()
  prepare(server)
  const clock = new SimulatedClock()
  const informer = new Informer<Widget>({
    source: server,
    group: 'test.dev',
    kind: 'Widget',
    clock,
    random: new SeededRandom('informer'),
    ...options,
  })
  const heard: string[] = []
  informer.addHandler((event) => {
    heard.push(tell(event))
  })
  const stop = new AbortController()
  const done = informer.run(stop.signal)
  await clock.advance(0)
  return { server, clock, informer, heard, stop, done }
}

/** `update one 11>12`, with marks for what is special about it. */
export function tell(event: CacheEvent<Widget>): string {
  const versions = event.old ? `${event.old.metadata.resourceVersion}>${event.resourceVersion}` : event.resourceVersion
  const marks = (['isInitial', 'isResync', 'isListed', 'isReplaced', 'isStateUnknown', 'isOwn'] as const).filter(
    (mark) => event[mark],
  )
  return [event.type, event.key.name, versions, ...marks].join(' ')
}
