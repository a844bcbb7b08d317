/**
 * HTTPS servers and a proxy on loopback, with an authority of their own.
 */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server as HttpServer } from 'node:http'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { ServerOptions } from 'node:https'
import { SimulatedClock, SystemClock, SystemRandom } from '#base'
import { issueClientCertificate, issueServerCertificate, makeAuthority } from '#wire'

const seams = { clock: new SystemClock(), random: new SystemRandom() }

export const authority = makeAuthority(seams)

export function clientCertificate(user: string): { certPem: string; keyPem: string } {
  const { certificatePem, keyPem } = issueClientCertificate(authority, { ...seams, subject: { commonName: user } })
  return { certPem: certificatePem, keyPem }
}

export interface Running {
  readonly url: string
  close(): Promise<void>
}

/** Starts an HTTPS server; `names` are those of its certificate, which may be an old one. */
export async function startHttps(
  listener: RequestListener,
  {
    names = ['127.0.0.1'],
    isExpired = false,
    ...options
  }: ServerOptions & { names?: readonly string[]; isExpired?: boolean } = {},
): Promise<Running> {
  const clock = isExpired ? new SimulatedClock({ startMs: seams.clock.now() - 7 * 86_400_000 }) : seams.clock
  const { certificatePem, keyPem } = issueServerCertificate(authority, { ...seams, clock, names, validMs: 86_400_000 })
  return running(createServer({ cert: certificatePem, key: keyPem, ...options }, listener), 'https')
}

/** Starts a proxy that knows CONNECT and tells of everyone it lets through. */
export async function startProxy(seen: string[]): Promise<Running> {
  const server = createHttpServer((_, response) => response.writeHead(405).end())
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [upstream, socket])
      end.on('error', () => {
        upstream.destroy()
        socket.destroy()
      })
  })
  return running(server, 'http')
}

async function running(server: HttpServer | Server, protocol: string): Promise<Running> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${protocol}://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
