/**
 * Shapes of watches: what one write costs when many watch, and what the server holds for those who do not read.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { list, scratchKinds, type AttackAddress, type ConnectionOutcome, type ConnectionShape } from './shape.ts'
import { bytesSent, headOf, openMany } from './sockets.ts'
import { sendRequest } from './target.ts'

const largeBytes = 400_000
const settleMs = 300

interface Writes {
  readonly count: number
  readonly bytes: number
  readonly signal: AbortSignal
}

/** Creates ConfigMaps all at once, so that the store commits them in groups; returns the bytes. */
async function write(address: AttackAddress, { count, bytes, signal }: Writes): Promise<number> {
  const text = 'x'.repeat(bytes)
  const requests = list(count, (index) => ({
    method: 'POST',
    path: `${scratchKinds}/configmaps`,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: `w${index}-`, labels: { a: 'b' } },
      data: { text },
    }),
  }))
  await Promise.all(requests.map((request) => sendRequest(address, request, signal)))
  return requests.reduce((sum, { body }) => sum + body.length, 0)
}

interface Watching {
  readonly n: number
  readonly query?: string
  readonly reads: boolean
  readonly writes: Writes
}

/** n watches, and writes while they are open. */
async function watched(address: AttackAddress, { n, query = '', reads, writes }: Watching): Promise<ConnectionOutcome> {
  const connections = await openMany(address, n, { signal: writes.signal })
  const line = `GET ${scratchKinds}/configmaps?watch=true&resourceVersion=0${query}`
  for (const connection of connections) {
    if (!reads) connection.pause()
    await connection.write(headOf(address, line, { user: 'mallory' }))
  }
  await sleep(settleMs)
  const written = await write(address, writes)
  await sleep(settleMs)
  const bytes = written + bytesSent(connections)
  const open = connections.filter(({ isClosed }) => !isClosed).length
  for (const connection of connections) connection.close()
  return { bytes, status: `${open} open` }
}

function shape(name: string, n: number, run: ConnectionShape['run']): ConnectionShape {
  return { name: `watch ${name}`, entry: 'watch', n, run }
}

/** A selector with many terms, evaluated for every event of every watch. */
const longSelector = `&labelSelector=a,${list(1_000, (index) => `!b${index}`).join(',')}`

export const watchShapes: readonly ConnectionShape[] = [
  shape('that is not read, large writes', 80, (address, n, signal) =>
    watched(address, { n, reads: false, writes: { count: 16, bytes: largeBytes, signal } }),
  ),
  shape('that is read, large writes', 80, (address, n, signal) =>
    watched(address, { n, reads: true, writes: { count: 16, bytes: largeBytes, signal } }),
  ),
  shape('that is read, small writes', 200, (address, n, signal) =>
    watched(address, { n, reads: true, writes: { count: 50, bytes: 10, signal } }),
  ),
  shape('with a long selector', 100, (address, n, signal) =>
    watched(address, { n, query: longSelector, reads: true, writes: { count: 50, bytes: 10, signal } }),
  ),
  shape('opened and closed', 200, (address, n, signal) =>
    watched(address, { n, reads: true, writes: { count: 1, bytes: 10, signal } }),
  ),
]
