import { expect, test } from 'vitest'
import { expired, forbidden, isForbidden } from '#api'
import { deferred } from '#base'
import type { Widget } from './fake-server.fixture.ts'
import { setUpInformer, tell } from './informer.fixture.ts'
import { Item } from './items.ts'

test('72 Informer takes a bookmark for progress and tells nobody', async () => {
  const { server, clock, informer, heard } = await setUpInformer()
  server.version = 77
  server.bookmark()
  await clock.advance(0)
  expect(informer.version).toBe('77')
  expect(heard).toEqual([])
})

test("75 Informer keeps the order of an object's events while a handler waits", async () => {
  const { server, clock, informer } = await setUpInformer()
  const gate = deferred<void>()
  const heard: string[] = []
  informer.addHandler(async (event) => {
    heard.push(tell(event))
    await gate.promise
  })
  server.put('one')
  server.put('two')
  await clock.advance(0)
  server.put('one')
  server.remove('two')
  server.put('one')
  await clock.advance(0)
  gate.resolve()
  await clock.advance(0)
  expect(heard).toEqual(['add one 11', 'update one 11>15'])
})

test('78 Informer tells of what a new list lacks first, marked, when the store is new already', async () => {
  const { server, clock, informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one')
      fake.put('two')
    },
  })
  const heard: string[] = []
  informer.addHandler((event) => {
    heard.push(
      `${tell(event)} of ${informer
        .list()
        .map(({ metadata }) => metadata.name)
        .sort()
        .join()}`,
    )
  })
  await clock.advance(0)
  heard.length = 0
  for (const watch of server.watches) watch.end(expired('too old'))
  server.watches.clear()
  server.remove('one')
  server.put('two')
  server.put('three')
  server.compact()
  await clock.advance(2000)
  expect(heard).toEqual([
    'delete one 11 isListed isStateUnknown of three,two',
    'update two 12>14 isListed of three,two',
    'add three 15 isListed of three,two',
  ])
})

test('79 Informer tells of an object that was replaced while we were away as one update, marked', async () => {
  const { server, clock, heard } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one')
    },
  })
  heard.length = 0
  server.cut(expired('too old'))
  server.remove('one')
  server.put('one')
  server.compact()
  await clock.advance(2000)
  expect(heard).toEqual(['update one 11>13 isListed isReplaced'])
})

test('80 Informer tells nothing of a new list with the same versions', async () => {
  const { server, clock, informer, heard } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one')
    },
  })
  heard.length = 0
  server.version += 10
  server.compact()
  server.cut(expired('too old'))
  await clock.advance(2000)
  expect(heard).toEqual([])
  expect(informer.version).toBe('21')
})

test('83 Informer tells a handler that comes late of each object once, then of every change', async () => {
  const { server, clock, informer } = await setUpInformer({
    prepare: (fake) => {
      for (let index = 0; index < 600; index++) fake.put(`n${index}`)
    },
  })
  const last = new Map<string, string>()
  const adds: string[] = []
  const subscription = informer.addHandler((event) => {
    if (event.type === 'add') adds.push(event.key.name)
    else expect(event.old?.metadata.resourceVersion).toBe(last.get(event.key.name))
    last.set(event.key.name, event.resourceVersion)
  })
  for (let index = 0; index < 300; index++) {
    server.put(`n${index % 50}`)
    if (index % 10 === 0) await clock.advance(0)
    if (index === 150) server.put('late')
  }
  await clock.advance(10)
  expect(new Set(adds).size).toBe(adds.length)
  expect(adds).toHaveLength(601)
  expect(subscription.hasSynced).toBe(true)
  expect(
    [...last].every(([name, version]) => server.objects.get(`a/${name}`)?.metadata.resourceVersion === version),
  ).toBe(true)
})

test('84 Informer keeps a handler that throws from everybody else, and goes on telling it', async () => {
  const { server, clock, informer, heard } = await setUpInformer()
  const calls: string[] = []
  informer.addHandler((event) => {
    calls.push(event.key.name)
    throw new Error('boom')
  })
  informer.addHandler(async (event) => {
    calls.push(event.key.name)
    await Promise.reject(new Error('boom later'))
  })
  server.put('one')
  await clock.advance(0)
  server.put('two')
  await clock.advance(0)
  expect(calls).toEqual(['one', 'one', 'two', 'two'])
  expect(heard).toEqual(['add one 11', 'add two 12'])
})

test('85 Informer keeps one event per object for a slow handler and delivers the latest state', async () => {
  const { server, clock, informer } = await setUpInformer()
  const heard: string[] = []
  let release = deferred<void>()
  const subscription = informer.addHandler(async (event) => {
    heard.push(tell(event))
    await release.promise
  })
  for (let round = 0; round < 1000; round++) server.put(`n${round % 3}`)
  server.remove('n2')
  server.put('short')
  server.remove('short')
  await clock.advance(0)
  expect(subscription.backlog).toBeLessThanOrEqual(3)
  release.resolve()
  release = deferred()
  release.resolve()
  await clock.advance(0)
  expect(heard).toEqual(['add n0 11', 'add n1 1008', 'update n0 11>1010'])
})

test('86 Informer never calls a handler that was removed, and removal waits for the call under way', async () => {
  const { server, clock, informer } = await setUpInformer()
  const gate = deferred<void>()
  const calls: string[] = []
  const subscription = informer.addHandler(async (event) => {
    calls.push(event.key.name)
    await gate.promise
  })
  server.put('one')
  server.put('two')
  await clock.advance(0)
  let isRemoved = false
  const removal = subscription.remove().then(() => {
    isRemoved = true
  })
  await clock.advance(0)
  expect(isRemoved).toBe(false)
  gate.resolve()
  await removal
  server.put('three')
  await clock.advance(10)
  expect(calls).toEqual(['one'])
})

test('87 Informer names the object whose transform throws, and is not in sync without saying so', async () => {
  let isBad = true
  const { clock, informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('bad')
    },
    transform: (object) => {
      if (isBad) throw new Error('no spec')
      return object
    },
  })
  expect(informer.hasSynced).toBe(false)
  expect(informer.state.error?.message).toBe('the transform failed for Widget a/bad: no spec')
  await expect(informer.waitForSync()).rejects.toThrow('the transform failed for Widget a/bad: no spec')
  isBad = false
  await clock.advance(60_000)
  expect(informer.hasSynced).toBe(true)
})

test('88 Informer resyncs without the transform and without a request, in a period of 10 % more or less', async () => {
  let transforms = 0
  const { server, clock, informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one')
    },
    transform: (object) => {
      transforms++
      return { ...object, spec: {} }
    },
  })
  const times: number[] = []
  informer.addHandler(
    (event) => {
      if (event.isResync) times.push(clock.monotonic())
    },
    { resyncMs: 60_000 },
  )
  for (let minute = 0; minute < 10; minute++) {
    await clock.advance(60_000)
    server.bookmark()
  }
  const periods = times.map((time, index) => time - (times[index - 1] ?? 0))
  expect(times.length).toBeGreaterThanOrEqual(9)
  expect(periods.every((period) => period >= 54_000 && period <= 66_000)).toBe(true)
  expect(transforms).toBe(1)
  expect(server.calls).toEqual(['stream ""'])
})

test('89 Informer finds objects by index exactly, with many values, and files what was there before', async () => {
  const { server, clock, informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one', { tags: ['a'] })
    },
  })
  informer.addIndex('tag', ({ spec }) => spec?.tags)
  const at = (value: string): string[] =>
    informer.list({ index: { name: 'tag', value } }).map(({ metadata }) => metadata.name ?? '')
  expect([at('a'), at('b')]).toEqual([['one'], []])
  server.put('one', { tags: ['b'] })
  await clock.advance(0)
  expect([at('a'), at('b')]).toEqual([[], ['one']])
  server.put('one', { tags: ['b', 'c', 'c'] })
  server.put('two', { tags: ['c'], namespace: 'z' })
  await clock.advance(0)
  expect([at('a'), at('b'), at('c')]).toEqual([[], ['one'], ['one', 'two']])
  expect(informer.list({ namespace: 'z', index: { name: 'tag', value: 'c' } })).toHaveLength(1)
  server.remove('one')
  await clock.advance(0)
  expect([at('b'), at('c')]).toEqual([[], ['two']])
  expect(() => informer.list({ index: { name: 'colour', value: 'red' } })).toThrow('no index "colour"')
})

test('89 Informer survives an index function that throws', async () => {
  const { server, clock, informer } = await setUpInformer()
  informer.addIndex('size', ({ metadata, spec }) => {
    if (metadata.name === 'odd') throw new Error('no size')
    return String(spec?.size)
  })
  server.put('odd')
  server.put('one', { size: 4 })
  await clock.advance(0)
  expect(informer.list({ index: { name: 'size', value: '4' } })).toHaveLength(1)
  expect(informer.size).toBe(2)
})

test('90 Informer hands out frozen objects', async () => {
  const { informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one', { tags: ['a'] })
    },
  })
  const object = informer.find({ namespace: 'a', name: 'one' }) as unknown as { spec: { tags: string[] } }
  expect(() => {
    object.spec.tags.push('b')
  }).toThrow(TypeError)
  expect(() => {
    ;(object as { extra?: number }).extra = 1
  }).toThrow(TypeError)
  expect(informer.find({ namespace: 'a', name: 'one' })?.spec?.tags).toEqual(['a'])
})

test('92 Informer tells a delete and an add when an object leaves and enters its selection', async () => {
  const { server, clock, heard, informer } = await setUpInformer({ scope: { labelSelector: 'app=web' } })
  const object = server.put('one', { labels: { app: 'web' } })
  const changed = (version: string): Item<Widget> =>
    Item.ofObject({ ...object, metadata: { ...object.metadata, resourceVersion: version } })
  // A server tells watchers with a selector of an object that leaves it by a delete.
  const [watch] = server.watches
  watch?.push([{ type: 'DELETED', item: changed('20') }])
  await clock.advance(0)
  expect(informer.find({ namespace: 'a', name: 'one' })).toBeUndefined()
  watch?.push([{ type: 'ADDED', item: changed('21') }])
  await clock.advance(0)
  expect(informer.find({ namespace: 'a', name: 'one' })).toBeDefined()
  expect(heard).toEqual(['add one 11', 'delete one 11>20', 'add one 21'])
})

test('Informer refuses those who wait for it at once when it may not list, names all of it, and recovers', async () => {
  const refusal = forbidden(
    { group: 'test.dev', kind: 'widgets' },
    'User "bob" cannot list resource "widgets" in API group "test.dev" in the namespace "a"',
  )
  const { informer, clock } = await setUpInformer({
    scope: { namespace: 'a' },
    prepare: (fake) => {
      fake.failures.push(refusal, refusal, refusal)
    },
  })
  const error = await informer.waitForSync().catch((reason: unknown) => reason)
  expect(isForbidden(error)).toBe(true)
  expect((error as Error).message).toBe(
    'cannot list and watch Widget (test.dev) in namespace "a" for the cache: widgets.test.dev is forbidden: User "bob" cannot list resource "widgets" in API group "test.dev" in the namespace "a"',
  )
  await clock.advance(60_000)
  expect(informer.hasSynced).toBe(true)
})

test('Informer lists by namespace and labels', async () => {
  const { informer } = await setUpInformer({
    prepare: (fake) => {
      fake.put('one', { labels: { app: 'web' } })
      fake.put('two', { labels: { app: 'db' }, namespace: 'b' })
      fake.put('three', { namespace: 'b' })
    },
  })
  const names = (query: Parameters<typeof informer.list>[0]): (string | undefined)[] =>
    informer.list(query).map(({ metadata }) => metadata.name)
  expect(names({ namespace: 'b' })).toEqual(['two', 'three'])
  expect(names({ labelSelector: 'app in (web,db)' })).toEqual(['one', 'two'])
  expect(names({ labelSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } })).toEqual(['three'])
  expect(names({ namespace: 'b', labelSelector: 'app=db' })).toEqual(['two'])
})

test('Informer leaves no timer behind when it is stopped', async () => {
  const { informer, server, clock, stop, done } = await setUpInformer()
  const { metadata, ...rest } = server.put('one')
  informer.noteWrite({ ...rest, metadata: { ...metadata, resourceVersion: '99' } })
  expect(clock.pending).toBeGreaterThan(0)
  stop.abort()
  await done
  expect(clock.pending).toBe(0)
})

test('Informer.waitForAnswer rejects when the informer is stopped before there was one', async () => {
  const { informer, stop } = await setUpInformer({
    prepare: (server) => {
      server.failures.push(...Array.from({ length: 10 }, () => new Error('no answer')))
    },
  })
  const waiting = informer.waitForAnswer()
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('the informer was stopped before the first list was complete')
})

test('Informer says when it has grown: after a list and after an addition, not after an update', async () => {
  const grown: boolean[] = []
  const { server, clock } = await setUpInformer({
    onGrowth: ({ isList }) => {
      grown.push(isList)
    },
  })
  expect(grown).toEqual([true])
  server.put('one')
  await clock.advance(0)
  expect(grown).toEqual([true, false])
  server.put('one', { size: 2 })
  await clock.advance(0)
  expect(grown).toEqual([true, false])
})

test('Informer counts the memory of objects that a transform made, with all that is in them', async () => {
  const { informer } = await setUpInformer({
    transform: (object) => ({ ...object, spec: { tags: Array.from({ length: 100 }, () => 'x'.repeat(100)) } }),
    prepare: (server) => {
      server.put('one')
    },
  })
  expect(informer.bytes).toBeGreaterThan(10_000)
})

test('Informer names its indexes when it is asked for one that it does not have', async () => {
  const { informer } = await setUpInformer()
  const list = (): unknown => informer.list({ index: { name: 'color', value: 'red' } })
  expect(list).toThrow('no index "color": add it with addIndex first; existing indexes: none')
  informer.addIndex('size', ({ spec }) => String(spec?.size))
  expect(list).toThrow('existing indexes: "size"')
})
