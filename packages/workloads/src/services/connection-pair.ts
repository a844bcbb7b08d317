/**
 * Two connections as one: what one receives the other sends, in both directions.
 *
 *   client ══▶ endpoint     an end of one direction is passed on, and the other direction goes on
 *          ◀══              a reset, or a close before the end, resets the other connection
 *
 * Invariant: what is in memory is bounded by the buffers of the two streams: a slow reader holds back the writer.
 */
import type { Duplex } from 'node:stream'

export interface ConnectionPair {
  /** Resolves when both connections are closed. Never rejects. */
  readonly closed: Promise<void>
  /** Ends both directions after what was written. */
  end(): void
  /** Ends both connections now. */
  reset(): void
}

/** Joins two connections. `head` was read from the client already. */
export function joinConnections(
  client: Duplex,
  endpoint: Duplex,
  { head = [] }: { readonly head?: readonly Uint8Array[] } = {},
): ConnectionPair {
  for (const chunk of head) endpoint.write(chunk)
  const closed = Promise.all([pass(client, endpoint), pass(endpoint, client)])
  return {
    closed: closed.then(() => undefined),
    end: () => {
      for (const [from, to] of [
        [client, endpoint],
        [endpoint, client],
      ] as const) {
        from.unpipe(to)
        from.resume()
        to.end()
      }
    },
    reset: () => {
      resetConnection(client)
      resetConnection(endpoint)
    },
  }
}

/** Passes one direction on. Resolves when `from` is closed. */
function pass(from: Duplex, to: Duplex): Promise<void> {
  return new Promise((resolve) => {
    from.on('error', () => {
      resetConnection(to)
    })
    from.once('close', () => {
      if (!from.readableEnded) resetConnection(to)
      resolve()
    })
    if (from.destroyed) {
      resetConnection(to)
      resolve()
    } else from.pipe(to)
  })
}

function resetConnection(connection: Duplex): void {
  if (connection.destroyed) return
  if ('resetAndDestroy' in connection && typeof connection.resetAndDestroy === 'function') connection.resetAndDestroy()
  else connection.destroy()
}
