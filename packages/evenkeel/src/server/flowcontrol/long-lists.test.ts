import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { deferred, nextTurn, SystemClock } from '#base'
import { openMemoryStore } from '#store'
import type { Store } from '#store'
import { TestServer } from '../client.fixture.ts'
import { TurnClock } from './turn-clock.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Objects that take a while to look into: every other one is meant. */
async function fill(tested: TestServer, count: number): Promise<void> {
  const text = 'x'.repeat(110_000)
  for (let index = 0; index < count; index++) {
    const { status } = await tested.ask('POST', maps, {
      body: { metadata: { name: `m-${index}`, labels: { app: index % 2 === 0 ? 'web' : 'db' } }, data: { text } },
    })
    expect(status).toBe(201)
  }
}

async function start(options: Parameters<typeof TestServer.start>[0]): Promise<TestServer> {
  const tested = await TestServer.start(options)
  ends.push(() => tested.server.stop())
  return tested
}

/** Ends turns until it is over, and tells how many; somebody else is answered in each of them. */
async function turnsOf(
  working: Promise<unknown>,
  { clock, tested }: { clock: TurnClock; tested: TestServer },
): Promise<number> {
  let isOver = false
  void working.finally(() => {
    isOver = true
  })
  for (let turns = 0; ; turns++) {
    expect((await tested.ask('GET', `${maps}/m-0`)).status).toBe(200)
    if (isOver) return turns
    await clock.endTurn()
  }
}

describe('row 21: a list that has to be looked into lets others go first, whatever the clock says', () => {
  const cases = [
    ['with labels', `${maps}?labelSelector=app%3Dweb`, {}],
    ['with a field', '/api/v1/configmaps?fieldSelector=metadata.name%3Dnone', {}],
    ['with a limit', `${maps}?labelSelector=app%3Dnone&limit=3`, {}],
    ['as a table', maps, table],
  ] as const
  for (const [name, target, headers] of cases) {
    test(`row 21: ${name}`, async () => {
      const clock = new TurnClock()
      const tested = await start({ clock })
      await fill(tested, 30)
      expect(await turnsOf(tested.ask('GET', target, { headers }), { clock, tested })).toBeGreaterThanOrEqual(2)
    })
  }

  test('row 21: what a watch begins with', async () => {
    const clock = new TurnClock()
    const tested = await start({ clock })
    await fill(tested, 30)
    expect(
      await turnsOf(tested.send('GET', `${maps}?watch=true&labelSelector=app%3Dnone`), { clock, tested }),
    ).toBeGreaterThanOrEqual(2)
  })

  test('it shows one moment: what is written in between is not in it', async () => {
    const clock = new TurnClock()
    const tested = await start({ clock })
    await fill(tested, 30)
    const {
      json: { metadata },
    } = await tested.ask('GET', `${maps}?limit=1`)
    const listing = tested.ask('GET', `${maps}?labelSelector=app%3Dweb`)
    await clock.endTurn()
    await tested.ask('POST', maps, { body: { metadata: { name: 'm-late', labels: { app: 'web' } } } })
    await tested.ask('DELETE', `${maps}/m-28`)
    await turnsOf(listing, { clock, tested })
    const { json } = await listing
    const names = (json['items'] as unknown as { metadata: { name: string } }[])
      .map((item) => item.metadata.name)
      .sort()
    expect(names).toEqual(Array.from({ length: 15 }, (_, index) => `m-${index * 2}`).sort())
    expect(json['metadata']?.['resourceVersion']).toEqual(metadata?.['resourceVersion'])
  })

  test('it ends when nobody waits for it any more', async () => {
    const clock = new TurnClock()
    const tested = await start({ clock })
    await fill(tested, 30)
    const leaving = new AbortController()
    const listing = tested
      .ask('GET', `${maps}?labelSelector=app%3Dweb`, { signal: leaving.signal })
      .catch(() => undefined)
    await clock.endTurn()
    leaving.abort()
    expect(await turnsOf(listing, { clock, tested })).toBeLessThanOrEqual(1)
  })
})

test('row 21: over sockets, who comes while a long list is looked into is answered before it', async () => {
  let begun = deferred<void>()
  const store = withRangeHook(openMemoryStore(), () => {
    begun.resolve()
  })
  const tested = await start({ store, clock: new SystemClock(), listen: { tls: false } })
  await fill(tested, 120)
  const { url = '', token = '' } = tested.server.address ?? {}
  const agent = new Agent({ keepAlive: true })
  ends.push(() => Promise.resolve(agent.destroy()))
  const ask = (target: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(new URL(target, url), { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.resume()
        resolve(response)
      }).on('error', reject)
    })
  const answered: string[] = []
  begun = deferred<void>()
  const listing = ask(`${maps}?labelSelector=app%3Dweb`).then(() => {
    answered.push('list')
  })
  await begun.promise
  await ask(`${maps}/m-0`).then(() => {
    answered.push('get')
  })
  await listing
  expect(answered).toEqual(['get', 'list'])
})

test('row 21: of lists that come over sockets at once each has a turn of its own', async () => {
  const clock = new TurnClock()
  let begun = 0
  const store = withRangeHook(openMemoryStore({ clock }), () => {
    begun++
    clock.nowMs += 40
  })
  const { server } = await start({ store, clock, authorization: 'always-allow' })
  const ann = server.as({ name: 'ann', groups: [] })
  begun = 0
  const lists: ReturnType<typeof ann>[] = []
  for (let index = 0; index < 4; index++) {
    lists.push(
      ann({
        method: 'GET',
        target: maps,
        headers: {},
        signal: new AbortController().signal,
        peer: { address: '127.0.0.1', encrypted: false },
      }),
    )
    await settle()
  }
  for (const expected of [1, 2, 3, 4]) {
    expect(begun).toBe(expected)
    await clock.endTurn()
    await settle()
  }
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

/** A store that tells when a range is read. */
function withRangeHook(store: Store, onRange: () => void): Store {
  const range: Store['range'] = (...given) => {
    onRange()
    return store.range(...given)
  }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = name === 'range' ? range : Reflect.get(target, name, target)
      return typeof value === 'function' && name !== 'range' ? (value as () => unknown).bind(target) : value
    },
  })
}

/** Lets everything run that waits on promises alone. */
function settle(): Promise<void> {
  return nextTurn(new SystemClock())
}
