/**
 * A server that speaks gRPC and answers as a test says: for what a real etcd of one version does not do.
 */
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { GrpcFrameReader } from './grpc.ts'
import type { ProtobufWriter } from './protobuf.ts'

/** An answer, or the code and text of a refusal. */
export type FakeAnswer = ProtobufWriter | { readonly code: number; readonly text: string }

export type FakeHandler = (path: string, message: Uint8Array, send: (answer: FakeAnswer) => void) => void

export class FakeEtcd {
  readonly endpoint: string
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Pings received so far. */
  pings = 0
  /** Streams that are open. */
  open = 0

  static async start(handler: FakeHandler): Promise<FakeEtcd> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.on('stream', (stream, headers) => {
      serve(stream, String(headers[':path']), handler)
    })
    return new FakeEtcd(server)
  }

  private constructor(server: Http2Server) {
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#server = server
    server.on('stream', (stream) => {
      this.open++
      stream.on('close', () => this.open--)
    })
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('ping', () => this.pings++)
      session.on('close', () => this.#sessions.delete(session))
    })
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function serve(stream: ServerHttp2Stream, path: string, handler: FakeHandler): void {
  const reader = new GrpcFrameReader()
  const isStream = /Watch|KeepAlive/.test(path)
  const send = (answer: FakeAnswer): void => {
    if (stream.destroyed) return
    if ('code' in answer) {
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'grpc-status': String(answer.code),
          'grpc-message': encodeURIComponent(answer.text),
        },
        { endStream: true },
      )
      return
    }
    if (!stream.headersSent) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => {
        stream.sendTrailers({ 'grpc-status': '0' })
      })
    }
    if (isStream) stream.write(answer.frame())
    else stream.end(answer.frame())
  }
  stream.on('error', () => undefined)
  stream.on('data', (chunk: Buffer) => {
    for (const message of reader.push(chunk)) handler(path, message, send)
  })
}
