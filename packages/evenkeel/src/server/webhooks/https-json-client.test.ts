import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { HttpsJsonClient } from './https-json-client.ts'

const url = new URL('https://issuer.test/keys')

interface Staged {
  readonly client: HttpsJsonClient
  readonly stop: AbortController
  readonly clock: SimulatedClock
  readonly open: Set<object>
}

function stage(): Staged {
  const [clock, stop, open] = [new SimulatedClock(), new AbortController(), new Set<object>()]
  const connect = () => {
    const connection = {
      transport: () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{"a":1}') }),
      close: () => {
        open.delete(connection)
      },
    }
    open.add(connection)
    return connection
  }
  return { client: new HttpsJsonClient({ clock, connect, stopping: stop.signal }), stop, clock, open }
}

test('HttpsJsonClient keeps its connection until the server stops', async () => {
  const { client, stop, clock, open } = stage()
  expect(await client.request(url)).toEqual({ a: 1 })
  await client.request(url)
  expect([open.size, clock.pending]).toEqual([1, 0])
  stop.abort(new Error('stop'))
  expect(open.size).toBe(0)
})

test('HttpsJsonClient leaves no connection open for a request after the stop', async () => {
  const { client, stop, open } = stage()
  stop.abort(new Error('stop'))
  await client.request(url).catch(() => undefined)
  expect(open.size).toBe(0)
})
