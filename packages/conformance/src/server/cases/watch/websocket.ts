/**
 * Watches over a WebSocket, which the default clients of fabric8 and java-operator-sdk use.
 *
 * A browser always sends the header Origin and kube-apiserver wants one, so each case does.
 */
import assert from 'node:assert/strict'
import { readJson } from '../../json.ts'
import type { LooseEvent } from '../../answer.ts'
import { expectStatus, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { AskOptions } from '../../client.ts'
import type { Place, ServerCase } from '../../target.ts'
import { expectedAccept, opcodes, type SocketMessage, type WebSocketStream } from '../../websocket-stream.ts'

const needs = ['upgrade'] as const
const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch'

function open(
  place: Place,
  query: NonNullable<AskOptions['query']> = {},
  options: AskOptions = {},
): Promise<WebSocketStream> {
  return place.client.upgrade(place.path('leases'), { ...options, query: { watch: true, ...query } })
}

function eventOf({ opcode, payload }: SocketMessage): string {
  const { type, object } = readJson(payload.toString('utf8')) as LooseEvent
  return `${opcode} ${type} ${object.metadata.name}`
}

async function make(place: Place, name: string): Promise<void> {
  ok(await place.post('leases', sample('leases', name)), 201)
}

export const webSocketCases: readonly ServerCase[] = [
  {
    id: 'server/watch/websocket-events',
    rule: 'A watch with a WebSocket handshake is answered with 101, and each event is a text message.',
    needs,
    async run(place) {
      await make(place, 'a')
      const stream = await open(place)
      assert.equal(stream.status, 101)
      assert.equal(stream.headers['sec-websocket-accept'], expectedAccept)
      assert.equal(stream.headers['upgrade']?.toLowerCase(), 'websocket')
      const [first] = await stream.take(1)
      await make(place, 'b')
      ok(await place.delete('leases', 'b'))
      assert.deepEqual(
        [first, ...(await stream.take(2))].map((one) => one && eventOf(one)),
        [`${opcodes.text} ADDED a`, `${opcodes.text} ADDED b`, `${opcodes.text} DELETED b`],
      )
    },
  },
  {
    id: 'server/watch/websocket-resume',
    rule: 'A watch over a WebSocket starts after its resourceVersion and ends when its time is over.',
    needs,
    async run(place) {
      const { resourceVersion } = ok(await place.post('leases', sample('leases', 'a')), 201).metadata
      await make(place, 'b')
      const stream = await open(place, { resourceVersion, timeoutSeconds: 1 })
      const messages = (await stream.rest()).filter(({ opcode }) => opcode !== opcodes.close)
      assert.deepEqual(messages.map(eventOf), [`${opcodes.text} ADDED b`])
    },
  },
  {
    id: 'server/watch/websocket-selector',
    rule: 'A watch over a WebSocket reports only the objects that its selectors select.',
    needs,
    async run(place) {
      const stream = await open(place, { fieldSelector: 'metadata.name=b' })
      for (const name of ['a', 'b']) await make(place, name)
      assert.deepEqual((await stream.take(1)).map(eventOf), [`${opcodes.text} ADDED b`])
    },
  },
  {
    id: 'server/watch/websocket-close',
    rule: 'A watch over a WebSocket ends the connection when the client closes.',
    needs,
    async run(place) {
      const stream = await open(place)
      stream.send(opcodes.close)
      const messages = await stream.rest()
      assert.ok(messages.every(({ opcode }) => opcode === opcodes.close))
    },
  },
  {
    id: 'server/watch/websocket-ping',
    rule: 'A watch over a WebSocket answers a ping with a pong of the same content.',
    needs,
    async run(place) {
      const stream = await open(place)
      stream.send(opcodes.ping, Buffer.from('!'))
      const [pong] = await stream.take(1)
      assert.deepEqual([pong?.opcode, pong?.payload.toString()], [opcodes.pong, '!'])
    },
  },
  {
    id: 'server/watch/websocket-protobuf',
    rule: 'A watch over a WebSocket sends protobuf as binary messages.',
    needs,
    async run(place) {
      const stream = await open(place, {}, { accept: protobuf })
      await make(place, 'a')
      const [message] = await stream.take(1)
      assert.equal(message?.opcode, opcodes.binary)
      assert.match(message.payload.toString('latin1'), /ADDED/)
    },
  },
  {
    id: 'server/watch/websocket-too-old',
    rule: 'A watch over a WebSocket from resourceVersion 1, long compacted, sends one ERROR event with a 410 Expired, and ends.',
    needs: ['upgrade', 'compaction'],
    async run(place) {
      await make(place, 'a')
      await place.target.compact?.()
      const messages = (await (await open(place, { resourceVersion: 1 })).rest()).filter(
        ({ opcode }) => opcode !== opcodes.close,
      )
      const events = messages.map(({ payload }) => readJson(payload.toString('utf8')) as LooseEvent)
      assert.deepEqual(
        events.map(({ type, object }) => [type, object['code'], object['reason']]),
        [['ERROR', 410, 'Expired']],
      )
    },
  },
  {
    id: 'server/watch/websocket-unreadable-version',
    rule: 'A watch over a WebSocket with an unreadable resourceVersion is rejected before the upgrade.',
    needs,
    async run(place) {
      const { status } = await open(place, { resourceVersion: 'x' })
      assert.ok(status >= 400, String(status))
    },
  },
  {
    id: 'server/watch/websocket-token',
    rule: 'A browser, which cannot set headers, sends its token as a subprotocol of the WebSocket.',
    needs: ['upgrade', 'authentication', 'no-anonymous'],
    async run(place) {
      const token = /^Bearer (.*)$/.exec(place.target.credentials['authorization'] ?? '')?.[1]
      const path = place.path('leases')
      const ask = (protocols?: string): Promise<WebSocketStream> =>
        place.stranger.upgrade(path, {
          query: { watch: true },
          ...(protocols !== undefined && { headers: { 'sec-websocket-protocol': protocols } }),
        })
      assert.equal((await ask()).status, 401)
      if (token === undefined) return
      const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
      const stream = await ask(`${bearer}, binary.k8s.io`)
      assert.equal(stream.status, 101)
      assert.equal(stream.headers['sec-websocket-protocol'], 'binary.k8s.io')
    },
  },
  {
    id: 'server/watch/websocket-plain-get',
    rule: 'A request that is no watch ignores the handshake of a WebSocket.',
    needs,
    async run(place) {
      await make(place, 'a')
      const { status } = await place.client.upgrade(place.path('leases', 'a'))
      assert.equal(status, 200)
      expectStatus(await place.get('leases', 'missing'), { code: 404 })
    },
  },
]
