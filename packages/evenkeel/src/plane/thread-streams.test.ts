/** Streams between two threads, over a real message channel. */
import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { ApiError, type UnstructuredObject } from '#api'
import { PortCalls } from '#base'
import type { HandlerResponse, StreamHandler, StreamRequest } from '#server'
import { programStreams, serverStreams, withoutHandlers } from './thread-streams.ts'

const closes: (() => void)[] = []
afterEach(() => {
  for (const close of closes.splice(0)) close()
})

const kind = { group: 'demo.example.com', kind: 'Note' }
const note = (text: string): UnstructuredObject =>
  ({ apiVersion: 'demo.example.com/v1', kind: 'Note', metadata: { name: 'a' }, text }) as unknown as UnstructuredObject

/** The handler that the server calls, which calls that of the program in the other thread. */
function bridged(log: StreamHandler): StreamHandler {
  const { port1, port2 } = new MessageChannel()
  const program: PortCalls = new PortCalls(port1 as never, {
    functions: programStreams([{ kind, names: 'path-segment', streams: { log } }], () => program),
  })
  const connects = { exec: () => Promise.resolve({ exitCode: 0 }) }
  const sent = structuredClone(withoutHandlers([{ kind, names: 'path-segment', streams: { log }, connects }]))
  const { customResources, functions } = serverStreams(sent, () => server)
  const server: PortCalls = new PortCalls(port2 as never, { functions })
  closes.push(() => {
    port1.close()
  })
  expect(customResources).toMatchObject([{ kind, names: 'path-segment' }])
  return customResources[0]?.streams?.['log'] as StreamHandler
}

function requestOf(signal: AbortSignal, changes: readonly string[] = []): StreamRequest {
  return {
    object: note('one'),
    query: new URLSearchParams('tailLines=1'),
    headers: { accept: '*/*' },
    user: { name: 'ann', groups: [] },
    signal,
    async *changes() {
      for (const text of changes) yield note(text)
    },
  }
}

async function textOf({ body }: HandlerResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const never = new AbortController().signal

test('a stream, the request, and the changes of the object pass between the threads', async () => {
  const handler = bridged(({ object, query, headers, user, changes }) => ({
    headers: { 'content-type': 'text/x' },
    body: (async function* () {
      yield Buffer.from(`${object.metadata.name} ${query.get('tailLines')} ${headers['accept']} ${user.name}\n`)
      for await (const { text } of changes()) yield Buffer.from(`${text}\n`)
    })(),
  }))
  const answer = await handler(requestOf(never, ['two', 'three']))
  expect(answer.headers).toEqual({ 'content-type': 'text/x' })
  expect(await textOf(answer)).toBe('a 1 */* ann\ntwo\nthree\n')
})

test('a refusal is the same Status, and any other error stays one', async () => {
  const refusing = bridged(() => {
    throw new ApiError('NotFound', 'no run 7')
  })
  await expect(refusing(requestOf(never))).rejects.toMatchObject({ reason: 'NotFound', code: 404, message: 'no run 7' })
  const failing = bridged(() => {
    throw new RangeError('a mistake')
  })
  await expect(failing(requestOf(never))).rejects.toThrow('a mistake')
})

test('an answer without a stream is passed on', async () => {
  expect(await bridged(() => ({ status: 201, body: 'text' }))(requestOf(never))).toEqual({ status: 201, body: 'text' })
})

test('no piece is made before the one before was taken; a client that leaves ends the handler', async () => {
  const leaving = new AbortController()
  let made = 0
  const ended = new Promise<void>((resolve) => {
    const handler = bridged(({ signal }) => {
      signal.addEventListener('abort', () => {
        resolve()
      })
      return {
        body: (async function* () {
          for (;;) yield Buffer.from(String(++made))
        })(),
      }
    })
    void (async () => {
      const { body } = await handler(requestOf(leaving.signal))
      const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      for (const expected of ['1', '2'])
        expect(Buffer.from((await pieces.next()).value as Uint8Array).toString()).toBe(expected)
      leaving.abort()
    })()
  })
  await ended
  expect(made).toBe(2)
})

test('a stream that fails in the middle fails at the other side', async () => {
  const handler = bridged(() => ({
    body: (async function* () {
      yield Buffer.from('one')
      throw new Error('the disk is gone')
    })(),
  }))
  await expect((async () => textOf(await handler(requestOf(never))))()).rejects.toThrow('the disk is gone')
})
