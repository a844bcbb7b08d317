/**
 * Shapes of HTTP/1.1 connections: bodies in tiny pieces, bodies that never end, many connections, large heads.
 *
 * Without a user a shape shows no credentials: whatever it makes the server hold is held for someone unknown.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { coreKinds, list, type AttackAddress, type ConnectionOutcome, type ConnectionShape } from './shape.ts'
import { bytesSent, headOf, openMany, RawConnection } from './sockets.ts'

const post = `POST ${coreKinds}/configmaps?dryRun=All`
const get = `GET ${coreKinds}/configmaps/small`
const jsonType = 'content-type: application/json'
/** The server lets a body be slow for two seconds and looks once a second. */
const slowMs = 5_000
const answerMs = 15_000

function shape(name: string, n: number, run: ConnectionShape['run']): ConnectionShape {
  return { name: `http1 ${name}`, entry: 'http1', n, run }
}

/** Sends pieces on one connection until it is closed, and waits for the answer. */
async function stream(
  address: AttackAddress,
  { head, pieces, signal }: { head: string; pieces: Iterable<string>; signal: AbortSignal },
): Promise<ConnectionOutcome> {
  const connection = await RawConnection.open(address, { signal })
  if (!connection) return { bytes: 0, status: 'refused' }
  let isOpen = await connection.write(head)
  for (const piece of pieces) {
    if (!isOpen) break
    isOpen = await connection.write(piece)
  }
  for (const startMs = performance.now(); connection.status === 'open' && performance.now() - startMs < answerMs;)
    await connection.ended(50)
  connection.close()
  return { bytes: connection.bytes, status: connection.status }
}

/** A body in chunks of one byte, many of them in one write. */
function* tinyChunks(n: number, extension = ''): Iterable<string> {
  const some = 1_000
  yield `1${extension}\r\n{\r\n`
  for (let sent = 1; sent < n; sent += some) yield `1${extension}\r\n \r\n`.repeat(some)
  yield '1\r\n}\r\n0\r\n\r\n'
}

function chunked(address: AttackAddress, pieces: Iterable<string>, signal: AbortSignal): Promise<ConnectionOutcome> {
  const head = headOf(address, post, { user: 'mallory', fields: [jsonType, 'transfer-encoding: chunked'] })
  return stream(address, { head, pieces, signal })
}

/** Bodies of which a byte arrives now and then, without credentials and with them: all must be cut. */
async function slowBodies(
  address: AttackAddress,
  n: number,
  { signal, user }: { signal: AbortSignal; user?: 'mallory' },
): Promise<ConnectionOutcome> {
  const connections = await openMany(address, n, { signal })
  const head = headOf(address, post, { ...(user && { user }), fields: [jsonType, 'content-length: 60000'] })
  for (const connection of connections) await connection.write(head)
  for (const startMs = performance.now(); performance.now() - startMs < slowMs; await sleep(250))
    for (const connection of connections) await connection.write(' ')
  const held = connections.filter(({ isClosed }) => !isClosed).length
  const bytes = bytesSent(connections)
  for (const connection of connections) connection.close()
  const failure = `${held} of ${n} slow bodies are still held after ${slowMs} ms`
  return { bytes, status: `${held} held`, ...(held > 0 && { failure }) }
}

/** Requests on several connections, each answered before the next connection. */
async function inTurn(
  address: AttackAddress,
  { n, text, signal }: { n: number; text: string; signal: AbortSignal },
): Promise<ConnectionOutcome> {
  let bytes = 0
  let status = 'none'
  for (let index = 0; index < n && !signal.aborted; index++) {
    const outcome = await stream(address, { head: text, pieces: [], signal })
    bytes += outcome.bytes
    status = outcome.status
  }
  return { bytes, status }
}

async function handshakes(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome> {
  const connections = await openMany(address, n, { signal })
  const bytes = bytesSent(connections)
  for (const connection of connections) connection.close()
  return { bytes: bytes + connections.length * 1_000, status: `${connections.length} open` }
}

export const http1Shapes: readonly ConnectionShape[] = [
  shape('chunks of one byte', 1_000_000, (address, n, signal) => chunked(address, tinyChunks(n), signal)),
  shape('chunks with extensions', 200_000, (address, n, signal) =>
    chunked(address, tinyChunks(n, `;${'a'.repeat(20)}`), signal),
  ),
  shape('body in small writes', 60_000, (address, n, signal) => {
    const fields = [jsonType, `content-length: ${n}`]
    const pieces = list(n / 100, () => ' '.repeat(100))
    return stream(address, { head: headOf(address, post, { user: 'mallory', fields }), pieces, signal })
  }),
  shape('slow bodies without credentials', 40, (address, n, signal) => slowBodies(address, n, { signal })),
  shape('slow bodies with credentials', 40, (address, n, signal) =>
    slowBodies(address, n, { signal, user: 'mallory' }),
  ),
  shape('connections without credentials', 200, handshakes),
  shape('large heads', 40, (address, n, signal) => {
    const fields = list(150, (i) => `x-${i}: ${'a'.repeat(400)}`)
    return inTurn(address, { n, text: headOf(address, get, { user: 'mallory', fields }), signal })
  }),
  shape('many fields', 40, (address, n, signal) => {
    const fields = list(9_000, () => 'a:b')
    return inTurn(address, { n, text: headOf(address, get, { fields }), signal })
  }),
  shape('long token', 40, (address, n, signal) => {
    const fields = [`authorization: Bearer ${'a.'.repeat(30_000)}`]
    return inTurn(address, { n, text: headOf(address, get, { fields }), signal })
  }),
  shape('pipelined requests', 4_000, async (address, n, signal) => {
    const head = headOf(address, 'GET /livez')
    return stream(address, { head, pieces: list(n / 100, () => head.repeat(100)), signal })
  }),
  shape('head byte by byte', 4_000, (address, n, signal) =>
    stream(address, {
      head: 'GET /',
      pieces: list(n, () => 'a'),
      signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]),
    }),
  ),
]
