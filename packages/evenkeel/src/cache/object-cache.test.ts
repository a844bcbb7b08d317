import { afterEach, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { declareKind, forbidden, isForbidden, isNotFound, isServiceUnavailable } from '#api'
import type { Kind } from '#api'
import { metadataOnly } from '#client'
import { FakeApi } from './fake-api.fixture.ts'
import type { Widget as WidgetObject } from './fake-server.fixture.ts'
import { ObjectCache } from './object-cache.ts'
import { pick } from './storing/pick.ts'

const Widget: Kind<WidgetObject> = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Widget' })
const stops: AbortController[] = []
afterEach(() => { for (const stop of stops.splice(0)) stop.abort() })

interface Setup {
  readonly api: FakeApi
  readonly clock: SimulatedClock
  readonly cache: ObjectCache
  readonly stop: AbortController
  readonly done: Promise<void>
}

function setUp(): Setup {
  const api = new FakeApi()
  const clock = new SimulatedClock()
  const cache: ObjectCache = new ObjectCache({ client: api.client(clock, { afterWrite: (write, object) => { cache.afterWrite(write, object) } }), clock, random: new SeededRandom('cache') })
  api.server.put('one', { size: 1, labels: { app: 'web' } })
  api.server.put('two', { size: 2, namespace: 'b' })
  const stop = new AbortController()
  stops.push(stop)
  return { api, clock, cache, stop, done: cache.run(stop.signal) }
}

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): string[] => objects.map(({ metadata }) => metadata.name).sort()

test('ObjectCache reads what is held, without managed fields and without asking again', async () => {
  const { cache, clock, api } = setUp()
  cache.hold(Widget)
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
  cache.hold(Widget)
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
  expect(() => cache.list(Widget)).toThrow('the cache holds no Widget (test.dev/v1): call cache.hold(Widget) first, or read from the server with the client')
  cache.hold(Widget, { namespaces: ['a'] })
  await clock.advance(0)
  expect(() => cache.find(Widget, { name: 'two', namespace: 'b' })).toThrow('add "b" to the namespaces of its hold')
  expect(api.requests).toHaveLength(1)
})

test('ObjectCache refuses to read what has not been listed yet', () => {
  const { cache } = setUp()
  cache.hold(Widget)
  let error: unknown
  try {
    cache.list(Widget)
  } catch (thrown) {
    error = thrown
  }
  expect(isServiceUnavailable(error)).toBe(true)
})

test('ObjectCache watches once for all who hold the same, and stops with the last', async () => {
  const { cache, clock, api } = setUp()
  const first = cache.hold(Widget)
  const second = cache.hold(Widget)
  await clock.advance(0)
  expect(api.requests).toHaveLength(1)
  expect(cache.states).toMatchObject([{ kind: 'Widget', holders: 2, hasSynced: true, objects: 2, phase: 'live' }])
  await first.release()
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
  await second.release()
  expect(cache.states).toEqual([])
  expect(() => cache.list(Widget)).toThrow('the cache holds no Widget')
  cache.hold(Widget)
  await clock.advance(0)
  expect(api.requests).toHaveLength(2)
  expect(namesOf(cache.list(Widget))).toEqual(['one', 'two'])
})

test('ObjectCache holds several namespaces, which may change; handlers and indexes follow', async () => {
  const { cache, clock, api } = setUp()
  const heard: string[] = []
  const holding = cache.hold(Widget, { namespaces: ['a'] })
  holding.addHandler(({ type, key }) => { heard.push(`${type} ${key.namespace}/${key.name}`) })
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
  cache.hold(Widget, { transform: (object) => object })
  expect(() => cache.hold(Widget, { transform: (object) => ({ ...object }) })).toThrow('another transform')
})

test('ObjectCache keeps the picked fields and no others', async () => {
  const { cache, clock } = setUp()
  const Slim = pick(Widget, ['spec.size'])
  cache.hold(Slim)
  await clock.advance(0)
  const slim = cache.get(Slim, { name: 'one', namespace: 'a' })
  expect(slim.spec?.size).toBe(1)
  expect(Object.keys(slim)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  expect(Object.keys(slim.spec ?? {})).toEqual(['size'])
  // @ts-expect-error tags were not picked
  expect(slim.spec?.tags).toBeUndefined()
  expect(() => cache.list(Widget)).toThrow('the cache holds no Widget')
})

test('ObjectCache keeps metadata alone, with the type of the object', async () => {
  const { cache, clock, api } = setUp()
  const Meta = metadataOnly(Widget)
  cache.hold(Meta)
  await clock.advance(0)
  const object = cache.get(Meta, { name: 'one', namespace: 'a' })
  expect(object).toMatchObject({ apiVersion: 'test.dev/v1', kind: 'Widget', metadata: { name: 'one', labels: { app: 'web' } } })
  expect(object).not.toHaveProperty('spec')
  cache.noteWrite({ ...api.server.put('three', { size: 3 }) })
  expect(cache.get(Meta, { name: 'three', namespace: 'a' })).not.toHaveProperty('spec')
})

test('ObjectCache sees what its client writes, and waits for nothing that nobody watches (96)', async () => {
  const { cache, clock, api } = setUp()
  cache.hold(Widget)
  await clock.advance(0)
  api.server.isMute = true
  const answer = api.server.put('own', { size: 7 })
  const write = { verb: 'create', apiVersion: 'test.dev/v1', kind: 'Widget', namespace: 'a', name: 'own', dryRun: false } as const
  cache.afterWrite({ ...write, dryRun: true }, answer)
  expect(cache.find(Widget, { name: 'own', namespace: 'a' })).toBeUndefined()
  cache.afterWrite(write, answer)
  expect(cache.get(Widget, { name: 'own', namespace: 'a' }).spec?.size).toBe(7)
  cache.afterWrite({ ...write, verb: 'delete' }, undefined)
  expect(cache.find(Widget, { name: 'own', namespace: 'a' })).toBeUndefined()
  await cache.caughtUp({ apiVersion: 'v1', kind: 'Pod' }, '999999')
  cache.noteWrite({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'a', resourceVersion: '999' } })
  expect(cache.states[0]?.ahead).toBe(1)
})

test('ObjectCache parks a kind that is missing and goes on when it comes', async () => {
  const { cache, clock, api } = setUp()
  api.isThere = false
  const holding = cache.hold(Widget)
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
  api.server.failures.push(forbidden({ group: 'test.dev', kind: 'widgets' }, 'User "bob" cannot watch resource "widgets" in API group "test.dev" at the cluster scope'))
  cache.hold(Widget)
  await clock.advance(0)
  const error = await cache.waitForSync().catch((reason: unknown) => reason)
  expect(isForbidden(error)).toBe(true)
  expect((error as Error).message).toContain('may not list and watch Widget (test.dev) in all namespaces')
  expect((error as Error).message).toContain('User "bob" cannot watch')
})

test('ObjectCache lets nobody wait for what was released', async () => {
  const { cache, api, clock } = setUp()
  api.isThere = false
  const holding = cache.hold(Widget)
  const heard = holding.addHandler(() => undefined)
  const outcomes = Promise.allSettled([holding.waitForSync(), heard.waitForSync()])
  await clock.advance(0)
  await holding.release()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('ObjectCache.run ends clean', async () => {
  const { cache, clock, stop, done } = setUp()
  cache.hold(Widget)
  await clock.advance(0)
  stop.abort(new Error('enough'))
  await done
  expect(clock.pending).toBe(0)
})
