import { expect, test } from 'vitest'
import { Client } from './client.ts'
import type { Send } from './client.ts'

type Sent = Parameters<Send>[0]

/** A server that sends these chunks for every request and records the requests. */
function fake(pieces: readonly string[], status = 200): { send: Send; sent: Sent[] } {
  const sent: Sent[] = []
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece))
  }
  return {
    sent,
    send: (request) => {
      sent.push(request)
      return Promise.resolve({ status, headers: { 'content-type': 'application/json' }, body: body() })
    },
  }
}

test('Client.request sends path, query, headers and a JSON body, and returns the whole response', async () => {
  const { send, sent } = fake(['{"a"', ':1}'], 201)
  const answer = await new Client(send, { headers: { authorization: 'Bearer x' } }).request('POST', '/p', {
    query: { a: 'b c', n: 1 },
    body: { k: 'v' },
    accept: 'text/x',
  })
  expect(sent[0]).toMatchObject({
    method: 'POST',
    target: '/p?a=b+c&n=1',
    headers: { authorization: 'Bearer x', accept: 'text/x', 'content-type': 'application/json' },
  })
  expect(Buffer.from(sent[0]?.body ?? []).toString()).toBe('{"k":"v"}')
  expect([answer.status, answer.json]).toEqual([201, { a: 1 }])
})

test('Client.request sends text unchanged, and no content type when it is empty', async () => {
  const { send, sent } = fake([''])
  await new Client(send).request('POST', '/p?x=1', { body: 'raw', type: '', query: { y: 2 } })
  expect(sent[0]?.target).toBe('/p?x=1&y=2')
  expect(sent[0]?.headers).not.toHaveProperty('content-type')
})

test('Answer.json names the request when the body is not JSON', async () => {
  const answer = await new Client(fake(['ok']).send).request('GET', '/healthz')
  expect(() => answer.json).toThrow(/GET \/healthz → 200 ok is not JSON/)
})

test('Client.watch reads events from any chunks, and a last line without a newline', async () => {
  const { send, sent } = fake([
    '{"type":"AD',
    'DED","object":{}}\n{"type":"X","object":{}}\n{"ty',
    'pe":"LAST","object":{}}',
  ])
  const stream = await new Client(send).watch('/w', { query: { resourceVersion: '5' } })
  expect(sent[0]?.target).toBe('/w?watch=true&resourceVersion=5')
  expect((await stream.take(2)).map(({ type }) => type)).toEqual(['ADDED', 'X'])
  expect((await stream.rest()).map(({ type }) => type)).toEqual(['LAST'])
  await expect(stream.next()).rejects.toThrow(/ended where an event was expected/)
})

test('Client.watch fails with the response of the server when the watch is rejected', async () => {
  await expect(new Client(fake(['{"message":"no"}'], 403).send).watch('/w')).rejects.toThrow(/403: \{"message":"no"\}/)
})

test('Client.close ends a stream that is no longer read', async () => {
  let aborted = false
  const send: Send = ({ signal }) =>
    Promise.resolve({
      status: 200,
      headers: {},
      body: (async function* (): AsyncGenerator<Uint8Array> {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true
            resolve()
          })
        })
        yield* []
      })(),
    })
  const client = new Client(send)
  const stream = await client.watch('/w')
  const pending = stream.next()
  client.close()
  await expect(pending).rejects.toThrow()
  expect(aborted).toBe(true)
})

test('Client gives up when no response arrives', async () => {
  const send: Send = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error)
      })
    })
  await expect(new Client(send, { patienceMs: 1 }).request('GET', '/')).rejects.toThrow(/gave up after 1 ms/)
  await expect(new Client(send, { patienceMs: 1 }).watch('/')).rejects.toThrow(/gave up after 1 ms/)
})
