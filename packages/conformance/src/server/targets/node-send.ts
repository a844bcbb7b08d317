/**
 * Requests over a socket: HTTP or HTTPS, one connection per concurrent request.
 */
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as httpsRequest } from 'node:https'
import type { RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { onAbort } from 'evenkeel/unstable/base'
import type { Send } from '../client.ts'

interface Security {
  /** PEM of the CA that signed the server's certificate; without one any certificate is accepted. */
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
}

/** Sends requests to `https://host:port`. */
export function nodeSend(url: string, { ca, certificate, key }: Security = {}): Send {
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const agent = isSecure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  const base: RequestOptions = {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    agent,
    ...(port !== '' && { port }),
    ...(isSecure && {
      rejectUnauthorized: ca !== undefined,
      ...(ca && { ca }),
      ...(certificate && { cert: certificate }),
      ...(key && { key }),
    }),
  }
  return ({ method, target, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const options = {
        ...base,
        method,
        path: target,
        signal,
        headers: {
          ...headers,
          ...(body && { 'content-length': body.length }),
          // A browser sends it with every WebSocket, and kube-apiserver wants it.
          ...(headers['upgrade'] !== undefined && { origin: url }),
        },
      }
      const outgoing = (isSecure ? httpsRequest : httpRequest)(options, (incoming) => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: headersOf(incoming),
          body: incoming as AsyncIterable<Uint8Array>,
        })
      })
      outgoing.on('upgrade', (incoming, socket, head: Buffer) => {
        onAbort(signal, () => {
          socket.destroy()
        })
        resolve({
          status: incoming.statusCode ?? 0,
          headers: headersOf(incoming),
          body: upgradedBody(socket, head),
          write: (bytes) => {
            socket.write(bytes)
          },
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

/** What the server sends in the new protocol; the first bytes came together with the head. */
async function* upgradedBody(socket: Duplex, head: Buffer): AsyncGenerator<Uint8Array, void> {
  if (head.length > 0) yield head
  for await (const chunk of socket) yield chunk as Buffer
}

/** Node joins most repeated headers and keeps some as lists. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
