/**
 * Requests over a socket: HTTP or HTTPS, one connection per concurrent request.
 */
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as httpsRequest } from 'node:https'
import type { RequestOptions } from 'node:https'
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
        headers: { ...headers, ...(body && { 'content-length': body.length }) },
      }
      const outgoing = (isSecure ? httpsRequest : httpRequest)(options, (incoming) => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: headersOf(incoming),
          body: incoming as AsyncIterable<Uint8Array>,
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

/** Node joins most repeated headers and keeps some as lists. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
