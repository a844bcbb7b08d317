import { getEventListeners } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import {
  badRequest,
  expired,
  gone,
  internalError,
  invalid,
  notFound,
  resourceVersionTooLarge,
  tooManyRequests,
} from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import { ConnectionError } from '#client'
import { FakeServer, type Widget } from './fake-server.fixture.ts'
import { Items } from './items.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

interface Setup {
  readonly server: FakeServer
  readonly clock: SimulatedClock
  readonly reflector: Reflector<Widget>
  readonly seen: string[]
  names(): string[]
  readonly stop: AbortController
  readonly done: Promise<void>
}

async function setUp(
  prepare: (server: FakeServer) => void = () => undefined,
  options: Partial<ReflectorOptions<Widget>> = {},
): Promise<Setup> {
  const server = new FakeServer()
  server.put('one')
  server.put('two')
  server.calls.length = 0
  prepare(server)
  const clock = new SimulatedClock()
  const seen: string[] = []
  let items = new Items<Widget>()
  const reflector = new Reflector<Widget>({
    source: server,
    clock,
    random: new SeededRandom('reflector'),
    ...options,
    sink: {
      replace: (next, version) => {
        items = next
        seen.push(`replace ${next.size} at ${version}`)
      },
      apply: ({ type, item }) => {
        if (type === 'DELETED') items.delete(item.namespace, item.name)
        else items.put(item)
        seen.push(`${type} ${item.name}`)
      },
      advance: (version) => {
        seen.push(`advance ${version}`)
      },
    },
  })
  const stop = new AbortController()
  stops.push(stop)
  const done = reflector.run(stop.signal)
  await clock.advance(0)
  return { server, clock, reflector, seen, stop, done, names: () => [...items.values()].map(({ name }) => name).sort() }
}

const refused = (): ConnectionError =>
  new ConnectionError('nobody listens at https://127.0.0.1:1', { problem: 'refused' })
const reset = (): ConnectionError => new ConnectionError('cut off', { problem: 'reset' })

test('61 Reflector asks for a stream first', async () => {
  const { server, seen, reflector } = await setUp()
  expect(server.calls).toEqual(['stream ""'])
  expect(seen).toEqual(['replace 2 at 12'])
  expect(reflector.state.phase).toBe('live')
  server.put('three')
  await Promise.resolve()
  expect(server.calls).toHaveLength(1)
})

test.each([
  ['400', badRequest('no such parameter')],
  ['422', invalid({ kind: 'ListOptions', name: '' }, [])],
])('61 Reflector lists at "0" when streaming is answered by %s', async (_, refusal) => {
  const { server, seen, names } = await setUp(({ failures }) => {
    failures.push(refusal)
  })
  expect(server.calls).toEqual(['stream ""', 'list "0" limit=500', 'watch "12"'])
  expect(seen).toEqual(['replace 2 at 12'])
  expect(names()).toEqual(['one', 'two'])
})

test('61 Reflector does not ask again for streams that the server cannot give', async () => {
  const { server, clock } = await setUp(({ failures }) => {
    failures.push(badRequest('no such parameter'))
  })
  server.compact()
  server.put('three')
  server.cut(expired('too old'))
  await clock.advance(2000)
  expect(server.calls.filter((call) => call.startsWith('stream'))).toHaveLength(1)
})

test('62 Reflector shows nothing of a stream that breaks before its end, then all of a new one', async () => {
  const { server, seen, clock } = await setUp((fake) => {
    fake.isEndless = true
  })
  expect(seen).toEqual([])
  server.isEndless = false
  server.cut(reset())
  await clock.advance(2000)
  expect(seen).toEqual(['replace 2 at 12'])
  expect(server.calls).toEqual(['stream ""', 'stream ""'])
})

test('62 Reflector lists after two streams that broke', async () => {
  const { server, seen, clock } = await setUp((fake) => {
    fake.isEndless = true
  })
  server.cut()
  await clock.advance(2000)
  server.cut()
  await clock.advance(5000)
  expect(server.calls.slice(0, 3)).toEqual(['stream ""', 'stream ""', 'list "0" limit=500'])
  expect(seen).toEqual(['replace 2 at 12'])
})

test('63 Reflector waits a bounded time for the end of a streamed list, then lists', async () => {
  const { server, seen, clock } = await setUp((fake) => {
    fake.isEndless = true
  })
  await clock.advance(29_000)
  expect(seen).toEqual([])
  await clock.advance(2000)
  expect(server.calls).toEqual(['stream ""', 'list "0" limit=500', 'watch "12"'])
  expect(seen).toEqual(['replace 2 at 12'])
})

test('64 Reflector begins a watch that ended cleanly again at the last version, without a list or a wait', async () => {
  const { server, clock, reflector } = await setUp()
  for (let minute = 0; minute < 6; minute++) {
    await clock.advance(60_000)
    server.bookmark()
  }
  server.put('three')
  await clock.advance(0)
  server.cut()
  await clock.advance(0)
  expect(server.calls).toEqual(['stream ""', 'watch "13"'])
  expect(reflector.state.counts).toMatchObject({ lists: 0, failures: 0 })
})

test('65 Reflector waits longer and longer when watches end at once, empty', async () => {
  const { server, clock } = await setUp(undefined, { streaming: false })
  const times: number[] = []
  for (let round = 0; round < 6; round++) {
    await clock.advance(300)
    const before = server.calls.length
    server.cut()
    const cutAtMs = clock.monotonic()
    while (server.calls.length === before) await clock.advance(100)
    times.push(clock.monotonic() - cutAtMs)
  }
  expect(times.every((time, index) => time >= Math.min(800 * 2 ** index, 30_000))).toBe(true)
  expect(server.calls.filter((call) => call.startsWith('list'))).toHaveLength(1)
})

test.each([
  ['66', 'as an ERROR event', expired('too old')],
  ['67', 'as an answer', gone('gone')],
])(
  '%s Reflector lists again at the last version after 410 %s, and at "" when that is gone as well',
  async (id, _, error) => {
    const { server, clock, names } = await setUp(undefined, { streaming: false })
    server.put('three')
    await clock.advance(0)
    server.calls.length = 0
    if (id === '67') {
      server.cut()
      server.failures.push(error)
    } else {
      server.cut(error)
    }
    server.failures.push(expired('the list is gone as well'))
    await clock.advance(2000)
    expect(server.calls.filter((call) => call.startsWith('list'))).toEqual(['list "13"', 'list "" limit=500'])
    expect(names()).toEqual(['one', 'three', 'two'])
  },
)

test('68 Reflector lists at "" when the server has not come to our version', async () => {
  const { server, clock } = await setUp(undefined, { streaming: false })
  server.calls.length = 0
  server.cut(expired('too old'))
  server.failures.push(resourceVersionTooLarge('12', '5'))
  await clock.advance(2000)
  expect(server.calls).toEqual(['list "12"', 'list "" limit=500', 'watch "12"'])
})

test.each([
  ['ECONNREFUSED', refused(), 800],
  ['429', tooManyRequests('slow down', { retryAfterMs: 7000 }), 7000],
])('69 Reflector waits and watches again at the same version after %s, without a list', async (_, error, leastMs) => {
  const { server, clock, reflector } = await setUp()
  await clock.advance(2000)
  server.failures.push(error)
  server.cut()
  await clock.advance(0)
  expect(reflector.state).toMatchObject({ phase: 'waiting', error })
  await clock.advance(leastMs - 1)
  expect(server.calls).toEqual(['stream ""', 'watch "12"'])
  await clock.advance(2000)
  expect(server.calls).toEqual(['stream ""', 'watch "12"', 'watch "12"'])
  expect(reflector.state).toMatchObject({ phase: 'live', error: undefined })
})

test('70 Reflector asks a server that is down with growing, jittered delays and is back in less than a minute', async () => {
  const { server, clock, reflector, names } = await setUp()
  await clock.advance(2000)
  server.put('three')
  server.cut(reset())
  for (let index = 0; index < 100; index++) server.failures.push(refused())
  const times: number[] = []
  let calls = server.calls.length
  for (const end = clock.monotonic() + 300_000; clock.monotonic() < end;) {
    await clock.advance(100)
    if (server.calls.length > calls) times.push(clock.monotonic())
    calls = server.calls.length
  }
  const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(delays.every((delay) => delay >= 700 && delay < 60_100)).toBe(true)
  expect(new Set(delays).size).toBe(delays.length)
  server.failures.length = 0
  await clock.advance(60_000)
  expect(reflector.state.phase).toBe('live')
  expect(names()).toEqual(['one', 'three', 'two'])
})

test('71 Reflector resumes at the version of the last bookmark', async () => {
  const { server, clock, reflector } = await setUp()
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000)
    server.version += 5
    server.bookmark()
  }
  await clock.advance(0)
  server.cut(reset())
  await clock.advance(0)
  expect(server.calls).toEqual(['stream ""', 'watch "312"'])
  expect(reflector.state.counts.lists).toBe(0)
})

test('73 Reflector never resumes at a version of a burst that came in no order', async () => {
  const { server, clock } = await setUp((fake) => {
    fake.isEndless = true
  })
  server.isEndless = false
  server.cut(reset())
  await clock.advance(2000)
  expect(server.calls).toEqual(['stream ""', 'stream ""'])
})

test('76 Reflector takes a stream with a malformed line for broken and resumes', async () => {
  const { server, clock, names } = await setUp()
  await clock.advance(1000)
  server.put('three')
  server.cut(new ConnectionError('the watch has a line that is no event', { problem: 'garbled' }))
  await clock.advance(0)
  expect(server.calls).toEqual(['stream ""', 'watch "13"'])
  expect(names()).toEqual(['one', 'three', 'two'])
})

test('77 Reflector begins a watch again when nothing was heard for 70 s, and counts it', async () => {
  const { server, clock, reflector } = await setUp()
  server.isMute = true
  await clock.advance(60_000)
  server.put('three')
  await clock.advance(9_000)
  expect(server.calls).toHaveLength(1)
  server.isMute = false
  await clock.advance(2_000)
  expect(server.calls).toEqual(['stream ""', 'watch "12"'])
  expect(reflector.state.counts).toMatchObject({ silences: 1, lists: 0 })
})

test("81 Reflector takes one full list when a token expires, with that list's version", async () => {
  const { server, seen } = await setUp(
    (fake) => {
      for (let index = 0; index < 1198; index++) fake.put(`n${index}`)
      fake.calls.length = 0
      fake.failures.push(undefined, expired('the token is too old'))
    },
    { streaming: false },
  )
  expect(server.calls).toEqual(['list "0" limit=500', 'list continue=500', 'list "0"', `watch "${server.version}"`])
  expect(seen).toEqual([`replace 1200 at ${server.version}`])
})

test('82 Reflector sends the token alone with later pages', async () => {
  const { server } = await setUp(
    (fake) => {
      for (let index = 0; index < 1198; index++) fake.put(`n${index}`)
      fake.calls.length = 0
    },
    { streaming: false },
  )
  expect(server.calls).toEqual([
    'list "0" limit=500',
    'list continue=500',
    'list continue=1000',
    `watch "${server.version}"`,
  ])
})

test('Reflector pages a list at a version only when the server gave pages before', async () => {
  const { server, clock } = await setUp(undefined, { streaming: false })
  server.calls.length = 0
  server.cut(internalError(new Error('disk')))
  await clock.advance(2000)
  expect(server.calls[0]).toBe('list "12"')
  server.pageSize = 1
  server.failures.push(expired('gone'))
  server.cut(internalError(new Error('disk')))
  await clock.advance(4000)
  server.calls.length = 0
  server.cut(internalError(new Error('disk')))
  await clock.advance(9000)
  expect(server.calls.slice(0, 2)).toEqual(['list "12" limit=500', 'list continue=1'])
})

test('Reflector is parked while the kind is missing and goes on when it is woken', async () => {
  const missing = notFound({ kind: 'widgets', name: '' })
  const { server, clock, reflector, names } = await setUp(({ failures }) => {
    failures.push(missing, missing)
  })
  expect(reflector.state).toMatchObject({ phase: 'parked', error: missing })
  await clock.advance(2000)
  expect(reflector.state.phase).toBe('parked')
  reflector.wake()
  await clock.advance(0)
  expect(reflector.state.phase).toBe('live')
  expect(names()).toEqual(['one', 'two'])
  expect(server.calls).toEqual(['stream ""', 'stream ""', 'stream ""'])
})

test('Reflector says since when it is in its phase', async () => {
  const { clock, reflector } = await setUp()
  const startMs = clock.now()
  await clock.advance(5000)
  expect(reflector.state.sinceMs).toBe(startMs)
})

test('Reflector leaves no timer behind and resolves when it is stopped, wherever it is', async () => {
  for (const failures of [[], [refused()], [notFound({ kind: 'widgets', name: '' })]]) {
    const { clock, stop, done, reflector } = await setUp((fake) => {
      fake.failures.push(...failures)
    })
    stop.abort(new Error('enough'))
    await done
    expect(clock.pending).toBe(0)
    expect(reflector.state.phase).toBe('idle')
  }
})

test('Reflector survives a sink that throws', async () => {
  const server = new FakeServer()
  const clock = new SimulatedClock()
  let isBroken = true
  const replaced: number[] = []
  const reflector = new Reflector<Widget>({
    source: server,
    clock,
    random: new SeededRandom('sink'),
    sink: {
      replace: (items) => {
        if (isBroken) throw new Error('no room')
        replaced.push(items.size)
      },
      apply: () => undefined,
      advance: () => undefined,
    },
  })
  const stop = new AbortController()
  stops.push(stop)
  void reflector.run(stop.signal)
  await clock.advance(500)
  expect(reflector.state).toMatchObject({ phase: 'waiting', error: { message: 'no room' } })
  isBroken = false
  await clock.advance(10_000)
  expect(replaced).toEqual([0])
})

test('Reflector is catching up until a streamed list is complete', async () => {
  const phases: string[] = []
  const { reflector, clock, server } = await setUp((fake) => {
    fake.failures.push(refused())
  })
  expect(reflector.state.phase).not.toBe('catching up')
  const watch = server.watch.bind(server)
  server.watch = (request) => {
    phases.push(reflector.state.phase)
    return watch(request)
  }
  await clock.advance(2_000)
  expect(phases[0]).toBe('catching up')
})

test('Reflector begins a watch that lasted a second again without a wait, though it had no event', async () => {
  const { server, clock } = await setUp(undefined, { streaming: false })
  await clock.advance(1_000)
  const before = server.calls.length
  server.cut()
  await clock.advance(0)
  expect(server.calls.length).toBe(before + 1)
})

test.each([{ silenceMs: 0 }, { silenceMs: NaN }, { pageSize: -1 }])('Reflector refuses %j', (options) => {
  const sink = { replace: () => undefined, apply: () => undefined, advance: () => undefined }
  expect(() => new Reflector<Widget>({ source: new FakeServer(), sink, ...options })).toThrow(RangeError)
})

test('Reflector lists when the server refuses to stream the newest state with a version error', async () => {
  const { server, names } = await setUp((fake) => {
    fake.failures.push(expired('too old'))
  })
  expect(server.calls[1]).toMatch(/^list/)
  expect(names()).toEqual(['one', 'two'])
})

test('Reflector gives other work a turn before it begins a broken watch again', async () => {
  const { server, clock } = await setUp()
  let callsAtTurn = 0
  server.cut(reset())
  clock.soon(() => {
    callsAtTurn = server.calls.length
  })
  await clock.advance(0)
  expect([callsAtTurn, server.calls]).toEqual([1, ['stream ""', 'watch "12"']])
})

test('Reflector leaves nothing of a watch on the signal of its run', async () => {
  const { server, clock, stop } = await setUp()
  const before = getEventListeners(stop.signal, 'abort').length
  for (let times = 0; times < 3; times++) {
    server.put('one')
    await clock.advance(0)
    server.cut(reset())
    await clock.advance(0)
  }
  expect(server.calls).toHaveLength(4)
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(before)
})
