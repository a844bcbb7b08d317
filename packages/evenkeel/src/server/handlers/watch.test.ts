import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openMemoryStore } from '#store'
import type { Store } from '#store'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
})

const create = (name: string, rest = {}): Promise<unknown> =>
  tested.ask('POST', maps, { body: { metadata: { name, ...rest } } })
const versionOf = async (): Promise<string> =>
  String((await tested.ask('GET', maps)).json['metadata']?.['resourceVersion'])

describe('watch', () => {
  test('tells everything from the moment it was granted, also what came before anybody read', async () => {
    const events = await tested.watch(`${maps}?watch=true`)
    await create('a')
    await tested.ask('DELETE', `${maps}/a`)
    expect(await events.take(2)).toEqual(['ADDED a', 'DELETED a'])
  })

  test('sends bookmarks every minute and a last one before its time is over, then ends', async () => {
    const events = await tested.watch(
      `${maps}?watch=true&allowWatchBookmarks=true&timeoutSeconds=130&resourceVersion=${await versionOf()}`,
    )
    const seen: string[] = []
    const reading = (async () => {
      for (let event = await events.next(); event; event = await events.next())
        seen.push(`${event.type}@${tested.clock.monotonic()}`)
    })()
    await tested.clock.advance(200_000)
    await reading
    expect(seen).toEqual(['BOOKMARK@60000', 'BOOKMARK@120000', 'BOOKMARK@128000'])
  })

  test('refuses a match of versions without initial events', async () => {
    const target = `${maps}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan`
    expect(await tested.ask('GET', target)).toMatchObject({
      status: 422,
      json: {
        message: expect.stringContaining(
          'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ) as string,
      },
    })
  })

  test('leaves no listener on the signal of its request when it has ended', async () => {
    const { signal } = new AbortController()
    const events = await tested.watch(`${maps}?watch=true&timeoutSeconds=10`, { signal })
    expect(getEventListeners(signal, 'abort')).not.toEqual([])
    const next = events.next()
    await tested.clock.advance(10_000)
    expect(await next).toBeUndefined()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('sends no bookmarks to who did not ask for them', async () => {
    const events = await tested.watch(`${maps}?watch=true&timeoutSeconds=200`)
    const next = events.next()
    await tested.clock.advance(200_000)
    expect(await next).toBeUndefined()
  })

  test('leaves managed fields out of what was there, for who can do without them', async () => {
    await create('a', { labels: { app: 'web' } })
    const target = `${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
    const whole = await (await tested.watch(target)).next()
    expect(whole?.object.metadata).toHaveProperty('managedFields')
    const short = await (
      await tested.watch(target, { headers: { accept: 'application/json;managedFields=optional, application/json' } })
    ).next()
    const { managedFields: _, ...metadata } = whole?.object.metadata as { managedFields?: unknown }
    expect(short).toEqual({ type: 'ADDED', object: { ...whole?.object, metadata } })
  })

  test('tells of much that was there in pieces, whether the memory of each is used again or not', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `m-${index}`)
    for (const name of names)
      await tested.ask('POST', maps, { body: { metadata: { name }, data: { text: name.repeat(4000) } } })
    for (const borrowsChunks of [true, undefined] as const) {
      const request = {
        method: 'GET',
        target: `${maps}?watch=true`,
        headers: {},
        signal: new AbortController().signal,
        borrowsChunks,
      }
      const { body } = await tested.server.transport(request)
      const memories = new Set<unknown>()
      const seen: string[] = []
      let rest = ''
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        memories.add(piece.buffer)
        const lines = `${rest}${Buffer.from(piece).toString()}`.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines)
          seen.push(
            (JSON.parse(line) as { object: { metadata: { name: string }; data: { text: string } } }).object.data.text
              .slice(0, 6)
              .split('m-')[1] ?? '',
          )
        if (seen.length === names.length) break
      }
      expect(seen).toHaveLength(names.length)
      expect(memories.size === 1).toBe(borrowsChunks === true)
    }
  })

  test('without a timeout ends by itself after 30 to 60 minutes', async () => {
    const events = await tested.watch(`${maps}?watch=true`)
    let ended = false
    const reading = events.next().then(() => {
      ended = true
    })
    await tested.clock.advance(29 * 60_000)
    expect(ended).toBe(false)
    await tested.clock.advance(32 * 60_000)
    await reading
    expect(ended).toBe(true)
  })

  test('tells what happened to the objects of a definition that went, also to who reads late', async () => {
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets' },
        versions: [version],
      },
    }
    const [definitions, widgets] = [
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      '/apis/example.com/v1/namespaces/default/widgets',
    ]
    await tested.ask('POST', definitions, { body: definition })
    const from = await versionOf()
    await tested.ask('POST', widgets, {
      body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } },
    })
    const events = await tested.watch(`${widgets}?watch=true&resourceVersion=${from}`)
    await tested.ask('DELETE', `${definitions}/widgets.example.com`)
    expect(await events.take(2)).toEqual(['ADDED a', 'DELETED a'])
    expect(await events.next()).toBeUndefined()
  })

  test('ends cleanly when the server stops', async () => {
    const events = await tested.watch(`${maps}?watch=true`)
    const next = events.next()
    await tested.server.stop()
    expect(await next).toBeUndefined()
  })

  test('ends, without an error event, when the reader is gone', async () => {
    const gone = new AbortController()
    const events = await tested.watch(`${maps}?watch=true`, { signal: gone.signal })
    const next = events.next()
    gone.abort()
    expect(await next).toBeUndefined()
  })

  test('starts behind a version that is still to come', async () => {
    const ahead = Number(await versionOf()) + 2
    const events = await tested.watch(`${maps}?watch=true&resourceVersion=${ahead}`)
    for (const name of ['a', 'b', 'c', 'd']) await create(name)
    expect(await events.take(2)).toEqual(['ADDED c', 'ADDED d'])
  })

  test('of what was compacted is one ERROR event, Expired, and the end', async () => {
    const old = await versionOf()
    await create('a')
    await create('b')
    await tested.server.compact()
    const events = await tested.watch(`${maps}?watch=true&resourceVersion=${old}`)
    expect(await events.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    })
    expect(await events.next()).toBeUndefined()
  })

  test('lists what is there in pieces, marks the end, and goes on without a gap', async () => {
    for (let index = 0; index < 1200; index++) await create(`n${String(index).padStart(4, '0')}`)
    const events = await tested.watch(
      `${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    )
    await create('later')
    const names = await events.take(1200)
    expect(names).toEqual(Array.from({ length: 1200 }, (_, index) => `ADDED n${String(index).padStart(4, '0')}`))
    expect(await events.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    })
    expect(await events.take(1)).toEqual(['ADDED later'])
  })
})

describe('watch by many', () => {
  test('encodes a change once for all who want it as it is kept', async () => {
    const bodies = await Promise.all(
      [1, 2, 3].map(async () => (await tested.send('GET', `${maps}?watch=true`)).body as AsyncIterable<Uint8Array>),
    )
    const readers = bodies.map((body) => body[Symbol.asyncIterator]())
    await create('a')
    const pieces = await Promise.all(readers.map(async (reader) => (await reader.next()).value as Uint8Array))
    expect(Buffer.from(pieces[0] ?? []).toString()).toContain('"name":"a"')
    expect(pieces[1]).toBe(pieces[0])
    expect(pieces[2]).toBe(pieces[0])
  })

  test('row 20: ends one that reads too slowly, and nobody waits for it', async () => {
    const slow = await tested.watch(`${maps}?watch=true`)
    const quick = await tested.watch(`${maps}?watch=true`)
    expect(slow).toBeDefined()
    const data = { k: 'x'.repeat(900_000) }
    let heard = 0
    const reading = (async () => {
      while (heard < 20 && (await quick.next())) heard++
    })()
    for (let index = 0; index < 20; index++)
      await tested.ask('POST', maps, { body: { metadata: { name: `big${index}` }, data } })
    await reading
    expect(heard).toBe(20)
    const seen = await slow.take(21)
    expect(seen).toContain('END')
  })
})

test('watch of an object whose last content is forgotten says so instead of inventing it', async () => {
  const store: Store = openMemoryStore({ clock: tested.clock })
  const other = await TestServer.start({ store })
  const made = await other.ask('POST', maps, { body: { metadata: { name: 'a' } } })
  const before = Number(made.json['metadata']?.['resourceVersion'])
  const events = await other.watch(`${maps}?watch=true&resourceVersion=${before}`)
  await other.ask('DELETE', `${maps}/a`)
  expect(await events.next()).toMatchObject({
    type: 'DELETED',
    object: { metadata: { name: 'a', resourceVersion: String(before + 1) } },
  })
  await events.close()
  await other.server.stop()
  await store.close()
})
