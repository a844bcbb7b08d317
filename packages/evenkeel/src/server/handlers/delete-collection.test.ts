/** How many objects of a collection are deleted at the same time. */
import { expect, test } from 'vitest'
import { sleep, type SimulatedClock } from '#base'
import { openMemoryStore, type Store } from '#store'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const diskMs = 1_000

/** A store whose disk takes a second from `slowDown` on, and the most commits at the same time since then. */
function slowStore(): { store: Store; slowDown: (clock: SimulatedClock) => void; most: () => number } {
  const shared = openMemoryStore()
  let disk: SimulatedClock | undefined
  let [running, most] = [0, 0]
  const commit: Store['commit'] = async (write, options) => {
    if (!disk) return shared.commit(write, options)
    most = Math.max(most, ++running)
    await sleep(disk, diskMs)
    running--
    return shared.commit(write, options)
  }
  const store = new Proxy(shared, {
    get(target, property: keyof Store) {
      const member = target[property] as (...parameters: unknown[]) => unknown
      return property === 'commit' ? commit : member.bind(target)
    },
  })
  return { store, slowDown: (clock) => (disk = clock), most: () => most }
}

/** Work on large objects pauses for other requests, and the disk takes its time: simulated time has to move. */
async function whileTimePasses<T>({ clock }: TestServer, work: Promise<T>): Promise<T> {
  const progress = { isOver: false }
  const over = work.finally(() => (progress.isOver = true))
  while (!progress.isOver) await clock.advance(1)
  return over
}

test.each([
  { title: '100 small objects 64 at a time', count: 100, bytes: 100, most: 64 },
  { title: 'objects of 1 MB in rounds of 4 MiB', count: 9, bytes: 1_000_000, most: 4 },
])('DELETE of a collection deletes $title', async ({ count, bytes, most }) => {
  const disk = slowStore()
  const tested = await TestServer.start({ store: disk.store })
  for (let index = 0; index < count; index++) {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `a${index}` },
      data: { a: 'x'.repeat(bytes) },
    }
    expect((await whileTimePasses(tested, tested.send('POST', maps, { body }))).status).toBe(201)
  }
  disk.slowDown(tested.clock)
  expect((await whileTimePasses(tested, tested.send('DELETE', maps))).status).toBe(200)
  expect(disk.most()).toBe(most)
  const { json } = await tested.ask('GET', maps)
  expect(json['items']).toEqual([])
  await tested.server.stop()
  await disk.store.close()
})
