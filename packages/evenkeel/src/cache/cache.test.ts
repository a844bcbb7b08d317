import { afterEach, expect, test, vi } from 'vitest'
import { declareKind, forbidden, isForbidden, isNotFound, isServiceUnavailable, type Kind } from '#api'
import { createLogger, Metrics, SeededRandom, SimulatedClock, type LogRecord } from '#base'
import { metadataOnly } from '#client'
import { ObjectCache, type ObjectCacheOptions } from './cache.ts'
import { FakeApi } from './fake-api.fixture.ts'
import type { Widget as WidgetObject } from './fake-server.fixture.ts'
import { pick } from './projection.ts'

const Widget: Kind<WidgetObject> = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Widget' })
const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

interface Setup {
  readonly api: FakeApi
  readonly clock: SimulatedClock
  readonly cache: ObjectCache
  readonly stop: AbortController
  readonly done: Promise<void>
}

function setUp(options: Pick<ObjectCacheOptions, 'metrics' | 'bytesMax' | 'log'> = {}): Setup {
  const api = new FakeApi()
  const clock = new SimulatedClock()
  const cache: ObjectCache = new ObjectCache({
    client: api.client(clock, {
      afterWrite: (write, object) => {
        cache.afterWrite(write, object)
      },
    }),
    clock,
    random: new SeededRandom('cache'),
    ...options,
  })
  api.server.put('one', { size: 1, labels: { app: 'web' } })
  api.server.put('two', { size: 2, namespace: 'b' })
  const stop = new AbortController()
  stops.push(stop)
  return { api, clock, cache, stop, done: cache.run(stop.signal) }
}

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name).sort()

test('ObjectCache reads what is held, without managed fields and without asking again', async () => {
  const { cache, clock, api } = setUp()
  cache.getInformer(Widget)
  await clock.advance(0)
  await cache.waitForSync()
  const asked = api.requests.length
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
  expect(namesOf(cache.list(Widget, { namespace: 'b' }))).toEqual(['two'])
  expect(namesOf(cache.list(Widget, { labelSelector: 'app=web' }))).toEqual(['one'])
  expect(cache.get(Widget, { name: 'one', namespace: 'a' }).spec?.size).toBe(1)
  expect(cache.find(Widget, { name: 'none', namespace: 'a' })).toBeUndefined()
  expect(() => cache.get(Widget, { name: 'none', namespace: 'a' })).toThrow('Widget.test.dev "none" not found')
  expect(cache.get(Widget, { name: 'one', namespace: 'a' }).metadata.managedFields).toBeUndefined()
  expect(api.requests).toHaveLength(asked)
})

test('ObjectCache.get throws NotFound', async () => {
  const { cache, clock } = setUp()
  cache.getInformer(Widget)
  await clock.advance(0)
  let error: unknown
  try {
    cache.get(Widget, { name: 'none', namespace: 'a' })
  } catch (thrown) {
    error = thrown
  }
  expect(isNotFound(error)).toBe(true)
})

test('ObjectCache holds nothing by itself and says how to', async () => {
  const { cache, clock, api } = setUp()
  await clock.advance(0)
  expect(() => cache.list(Widget)).toThrow(
    'no informer for Widget (test.dev/v1): call cache.getInformer(Widget) first, or read from the server with the client',
  )
  cache.getInformer(Widget, { namespaces: ['a'] })
  await clock.advance(0)
  expect(() => cache.find(Widget, { name: 'two', namespace: 'b' })).toThrow(
    'add "b" to the namespaces of its informer handle',
  )
  expect(api.requests).toHaveLength(1)
})

test('ObjectCache refuses to read what has not been listed yet', () => {
  const { cache } = setUp()
  cache.getInformer(Widget)
  let error: unknown
  try {
    cache.list(Widget)
  } catch (thrown) {
    error = thrown
  }
  expect(isServiceUnavailable(error)).toBe(true)
  expect(error).toMatchObject({ retryAfterMs: 1000 })
})

test('ObjectCache watches once for all who hold the same, and stops with the last', async () => {
  const { cache, clock, api } = setUp()
  const first = cache.getInformer(Widget)
  const second = cache.getInformer(Widget)
  await clock.advance(0)
  expect(api.requests).toHaveLength(1)
  expect(cache.states).toMatchObject([{ kind: 'Widget', holders: 2, hasSynced: true, objects: 2, phase: 'live' }])
  await first.release()
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
  await second.release()
  expect(cache.states).toEqual([])
  expect(() => cache.list(Widget)).toThrow('no informer for Widget')
  cache.getInformer(Widget)
  await clock.advance(0)
  expect(api.requests).toHaveLength(2)
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
})

test('ObjectCache holds several namespaces, which may change; handlers and indexes follow', async () => {
  const { cache, clock, api } = setUp()
  const heard: string[] = []
  const holding = cache.getInformer(Widget, { namespaces: ['a'] })
  holding.addHandler(({ type, key }) => {
    heard.push(`${type} ${key.namespace}/${key.name}`)
  })
  holding.addIndex('size', ({ spec }) => String(spec?.size))
  await clock.advance(0)
  await holding.setNamespaces(['a', 'b'])
  await clock.advance(0)
  expect(heard).toEqual(['add a/one', 'add b/two'])
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
  expect(namesOf(cache.list(Widget, { index: { name: 'size', value: '2' } }))).toEqual(['two'])
  await holding.setNamespaces(['b'])
  api.server.put('three')
  await clock.advance(0)
  expect(heard).toHaveLength(2)
  expect(() => cache.list(Widget, { namespace: 'a' })).toThrow('add "a"')
})

test('ObjectCache refuses another transform for what is held', () => {
  const { cache } = setUp()
  cache.getInformer(Widget, { transform: (object) => object })
  expect(() => cache.getInformer(Widget, { transform: (object) => ({ ...object }) })).toThrow('a different transform')
})

test('ObjectCache keeps the picked fields and no others', async () => {
  const { cache, clock } = setUp()
  const Slim = pick(Widget, ['spec.size'])
  cache.getInformer(Slim)
  await clock.advance(0)
  const slim = cache.get(Slim, { name: 'one', namespace: 'a' })
  expect(slim.spec?.size).toBe(1)
  expect(Object.keys(slim)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  expect(Object.keys(slim.spec ?? {})).toEqual(['size'])
  // @ts-expect-error tags were not picked
  expect(slim.spec?.tags).toBeUndefined()
  expect(() => cache.list(Widget)).toThrow('no informer for Widget')
})

test('ObjectCache keeps metadata alone, with the type of the object', async () => {
  const { cache, clock, api } = setUp()
  const Meta = metadataOnly(Widget)
  cache.getInformer(Meta)
  await clock.advance(0)
  const object = cache.get(Meta, { name: 'one', namespace: 'a' })
  expect(object).toMatchObject({
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    metadata: { name: 'one', labels: { app: 'web' } },
  })
  expect(object).not.toHaveProperty('spec')
  cache.noteWrite({ ...api.server.put('three', { size: 3 }) })
  expect(cache.get(Meta, { name: 'three', namespace: 'a' })).not.toHaveProperty('spec')
})

test('ObjectCache watches a kind once for all who want different parts of it, and shows each what it asked for', async () => {
  const { cache, clock, api } = setUp()
  const [Meta, Size, Tags] = [metadataOnly(Widget), pick(Widget, ['spec.size']), pick(Widget, ['spec.tags'])]
  const heard: string[] = []
  const meta = cache.getInformer(Meta)
  meta.addHandler(({ type, object, old }) => {
    heard.push(`${type} ${Object.keys(object).join()} ${old ? Object.keys(old).join() : ''}`)
  })
  const [size, tags] = [cache.getInformer(Size), cache.getInformer(Tags)]
  await clock.advance(0)
  expect(api.requests).toHaveLength(1)
  expect(cache.states).toMatchObject([{ kind: 'Widget', form: 'pick spec.size,spec.tags', holders: 3, objects: 2 }])
  const key = { name: 'one', namespace: 'a' }
  expect(Object.keys(cache.get(Meta, key))).toEqual(['apiVersion', 'kind', 'metadata'])
  expect(cache.get(Size, key).spec).toEqual({ size: 1 })
  expect(cache.get(Tags, key).spec).not.toHaveProperty('size')
  expect(cache.get(Meta, key)).toBe(cache.get(Meta, key))
  expect(Object.isFrozen(cache.get(Meta, key).metadata)).toBe(true)
  expect(() => cache.list(Widget)).toThrow('no informer for Widget')
  api.server.put('one', { size: 3 })
  await clock.advance(0)
  expect(heard).toEqual([
    'add apiVersion,kind,metadata ',
    'add apiVersion,kind,metadata ',
    'update apiVersion,kind,metadata apiVersion,kind,metadata',
  ])
  // Enough for one who comes later, too little for another.
  cache.getInformer(pick(Widget, ['spec.size', 'spec.tags']))
  await clock.advance(0)
  expect(api.requests).toHaveLength(1)
  cache.getInformer(Widget)
  await clock.advance(0)
  expect(api.requests).toHaveLength(2)
  expect(cache.get(Widget, key).spec?.size).toBe(3)
  for (const holding of [meta, size, tags]) await holding.release()
  expect(cache.states.map(({ form }) => form)).toEqual(['pick spec.size,spec.tags', 'whole'])
})

test('ObjectCache takes the whole objects for everybody when one wants them; indexes of each are its own', async () => {
  const { cache, clock, api } = setUp()
  const Meta = metadataOnly(Widget)
  const meta = cache.getInformer(Meta)
  cache.getInformer(Widget).addIndex('by', ({ spec }) => String(spec?.size))
  meta.addIndex('by', (object) => (Object.keys(object).length === 3 ? object.metadata.name : 'more'))
  await clock.advance(0)
  expect(api.requests).toHaveLength(1)
  expect(cache.states).toMatchObject([{ form: 'whole', holders: 2 }])
  expect(namesOf(cache.list(Meta, { index: { name: 'by', value: 'one' } }))).toEqual(['one'])
  expect(namesOf(cache.list(Widget, { index: { name: 'by', value: '2' } }))).toEqual(['two'])
  const own = api.server.put('own', { size: 7 })
  cache.noteWrite(own)
  expect(cache.get(Meta, { name: 'own', namespace: 'a' })).not.toHaveProperty('spec')
  expect(cache.get(Widget, { name: 'own', namespace: 'a' }).spec?.size).toBe(7)
  await meta.release()
  const again = cache.getInformer(Meta)
  again.addIndex('by', () => 'all')
  expect(namesOf(cache.list(Meta, { index: { name: 'by', value: 'all' } }))).toEqual(['one', 'own', 'two'])
  expect(api.requests).toHaveLength(1)
})

test('ObjectCache does not share what a transform made', async () => {
  const { cache, clock, api } = setUp()
  cache.getInformer(Widget, { transform: ({ spec: _, ...rest }) => rest })
  cache.getInformer(metadataOnly(Widget))
  await clock.advance(0)
  expect(api.requests).toHaveLength(2)
})

test('ObjectCache shows what it holds as metrics, as long as it holds it', async () => {
  const metrics = new Metrics()
  const { cache, clock, api } = setUp({ metrics })
  const shown = (): string[] =>
    metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith('evenkeel_cache'))
  expect(shown()).toEqual([])
  const holding = cache.getInformer(Widget)
  const where = '{group="test.dev",kind="Widget"}'
  expect(shown()).toEqual([
    `evenkeel_cache_bytes${where} 0`,
    `evenkeel_cache_last_event_age_seconds${where} +Inf`,
    `evenkeel_cache_objects${where} 0`,
    `evenkeel_cache_synced${where} 0`,
    `evenkeel_cache_watches${where} 1`,
  ])
  await clock.advance(0)
  await clock.advance(2500)
  expect(shown()).toEqual(
    expect.arrayContaining([
      `evenkeel_cache_last_event_age_seconds${where} 2.5`,
      `evenkeel_cache_objects${where} 2`,
      `evenkeel_cache_synced${where} 1`,
    ]),
  )
  const bytes = cache.states[0]?.bytes ?? 0
  api.server.put('three', { labels: { text: 'x'.repeat(10_000) } })
  await clock.advance(0)
  expect((cache.states[0]?.bytes ?? 0) - bytes).toBeGreaterThan(10_000)
  api.server.remove('three')
  await clock.advance(0)
  expect(cache.states[0]?.bytes).toBe(bytes)
  await holding.release()
  expect(shown()).toEqual([])
})

test('ObjectCache says once that it takes more memory than it should, which kinds do, and what to do', async () => {
  const said: LogRecord[] = []
  const { cache, clock, api } = setUp({
    bytesMax: 100_000,
    log: createLogger({
      clock: new SimulatedClock(),
      sink: (record) => {
        said.push(record)
      },
    }),
  })
  const big = { labels: { text: 'x'.repeat(60_000) } }
  cache.getInformer(Widget)
  await clock.advance(0)
  expect(said).toEqual([])
  for (const name of ['three', 'four']) api.server.put(name, big)
  cache.getInformer(metadataOnly(Widget), { labelSelector: 'app' })
  await clock.advance(0)
  expect(said.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    [
      'warn',
      expect.stringContaining('keep fewer fields (pick, metadataOnly) or fewer objects') as string,
      { mib: 0.1, mibMax: 0.1, kinds: ['Widget (whole): 0.1 MiB, 4 objects', 'Widget (metadata): 0 MiB, 1 objects'] },
    ],
  ])
  cache.getInformer(Widget, { namespaces: ['b'] })
  await clock.advance(0)
  expect(said).toHaveLength(1)
  expect(() => new ObjectCache({ client: api.client(clock), bytesMax: 0 })).toThrow('bytesMax must be above 0')
})

test('ObjectCache sees what its client writes, and waits for nothing that nobody watches (96)', async () => {
  const { cache, clock, api } = setUp()
  cache.getInformer(Widget)
  await clock.advance(0)
  api.server.isMute = true
  const answer = api.server.put('own', { size: 7 })
  const write = {
    verb: 'create',
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    namespace: 'a',
    name: 'own',
    dryRun: false,
  } as const
  cache.afterWrite({ ...write, dryRun: true }, answer)
  expect(cache.find(Widget, { name: 'own', namespace: 'a' })).toBeUndefined()
  cache.afterWrite(write, answer)
  expect(cache.get(Widget, { name: 'own', namespace: 'a' }).spec?.size).toBe(7)
  cache.afterWrite({ ...write, verb: 'delete' }, undefined)
  expect(cache.find(Widget, { name: 'own', namespace: 'a' })).toBeUndefined()
  await cache.waitForVersion({ apiVersion: 'v1', kind: 'Pod' }, '999999')
  cache.noteWrite({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'a', resourceVersion: '999' } })
  expect(cache.states[0]?.ahead).toBe(1)
})

test('ObjectCache parks a kind that is missing and goes on when it comes', async () => {
  const { cache, clock, api } = setUp()
  api.isThere = false
  const holding = cache.getInformer(Widget)
  await clock.advance(0)
  expect(holding.states['']).toMatchObject({ phase: 'parked' })
  expect(holding.states['']?.error?.message).toContain('the server has no kind Widget')
  await clock.advance(120_000)
  expect(holding.hasSynced).toBe(false)
  api.isThere = true
  cache.wake(Widget)
  await clock.advance(0)
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
  api.isThere = false
  api.server.cut(forbidden(undefined, 'the kind is being deleted'))
  await clock.advance(5000)
  expect(holding.states['']).toMatchObject({ phase: 'parked' })
})

test('ObjectCache.waitForSync is refused at once when it may not list', async () => {
  const { cache, clock, api } = setUp()
  api.server.failures.push(
    forbidden(
      { group: 'test.dev', kind: 'widgets' },
      'User "bob" cannot watch resource "widgets" in API group "test.dev" at the cluster scope',
    ),
  )
  cache.getInformer(Widget)
  await clock.advance(0)
  const error = await cache.waitForSync().catch((reason: unknown) => reason)
  expect(isForbidden(error)).toBe(true)
  expect((error as Error).message).toContain('cannot list and watch Widget (test.dev) in all namespaces')
  expect((error as Error).message).toContain('User "bob" cannot watch')
})

test('Holding.waitForAnswer resolves when it is known how things stand: listed, refused, or no such kind', async () => {
  const { cache, clock, api } = setUp()
  api.isThere = false
  const holding = cache.getInformer(Widget)
  const answered = holding.waitForAnswer()
  await clock.advance(0)
  await answered
  expect([holding.hasSynced, holding.list(), holding.find({ name: 'one', namespace: 'a' })]).toEqual([
    false,
    [],
    undefined,
  ])
  api.isThere = true
  cache.wake(Widget)
  await clock.advance(0)
  expect(namesOf(holding.list())).toEqual(['one', 'two'])
  expect(holding.find({ name: 'two', namespace: 'b' })?.metadata.name).toBe('two')
})

test('ObjectCache lets nobody wait for what was released', async () => {
  const { cache, api, clock } = setUp()
  api.isThere = false
  const holding = cache.getInformer(Widget)
  const heard = holding.addHandler(() => undefined)
  const outcomes = Promise.allSettled([holding.waitForSync(), heard.waitForSync()])
  await clock.advance(0)
  await holding.release()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('ObjectCache.run ends clean', async () => {
  const { cache, clock, stop, done } = setUp()
  cache.getInformer(Widget)
  await clock.advance(0)
  stop.abort(new Error('enough'))
  await done
  expect(clock.pending).toBe(0)
})

test('ObjectCache gives our own client light signals: a signal of the platform for each watch would keep a whole server alive', async () => {
  const api = new FakeApi()
  const clock = new SimulatedClock()
  const client = api.client(clock)
  const watch = vi.spyOn(client, 'watch')
  const cache = new ObjectCache({ client, clock, random: new SeededRandom('cache') })
  const stop = new AbortController()
  stops.push(stop)
  const done = cache.run(stop.signal)
  cache.getInformer(Widget)
  await clock.advance(0)
  await cache.waitForSync()
  expect(watch).toHaveBeenCalled()
  expect(watch.mock.calls.map(([, options]) => options?.signal instanceof AbortSignal)).not.toContain(true)
  stop.abort()
  await done
})

test('ObjectCache reads from informers without selectors where there are any, so that nothing is read twice', async () => {
  for (const selection of [{ labelSelector: 'app=web' }, { fieldSelector: 'metadata.name=two' }]) {
    const { cache, clock } = setUp()
    cache.getInformer(Widget, selection)
    cache.getInformer(Widget, { namespaces: ['a'] })
    await clock.advance(0)
    expect(namesOf(cache.list(Widget))).toEqual(['one'])
  }
})

test('ObjectCache does not add a removed handler to a namespace that comes later', async () => {
  const { cache, clock } = setUp()
  const handle = cache.getInformer(Widget, { namespaces: ['a'] })
  let calls = 0
  const subscription = handle.addHandler(() => {
    calls++
  })
  await clock.advance(0)
  expect(calls).toBe(1)
  await subscription.remove()
  await handle.setNamespaces(['a', 'b'])
  await clock.advance(0)
  expect(calls).toBe(1)
})
