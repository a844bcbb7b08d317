/**
 * A TCP proxy in front of an etcd, to break connections at a chosen moment.
 *
 * Invariant: bytes are passed on unchanged and in order until the proxy is told otherwise.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export class Proxy {
  readonly endpoint: string
  readonly #server: Server
  readonly #pairs: Set<{ readonly client: Socket; readonly server: Socket }>
  /** What the server says is dropped, until the connections are cut. */
  isMute = false
  /** What the client says is dropped, until the connections are cut. */
  isDeaf = false
  /** New connections are refused. */
  isClosed = false

  static async start(port: number): Promise<Proxy> {
    const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>()
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new Proxy(server, pairs)
    server.on('connection', (client) => {
      proxy.#join(client, connect(port, '127.0.0.1'))
    })
    return proxy
  }

  private constructor(server: Server, pairs: Set<{ readonly client: Socket; readonly server: Socket }>) {
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#server = server
    this.#pairs = pairs
  }

  /** Breaks every connection; new ones pass everything on. */
  cut(): void {
    this.isMute = this.isDeaf = false
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket, server: Socket): void {
    if (this.isClosed) client.destroy()
    const pair = { client, server }
    this.#pairs.add(pair)
    client.on('data', (bytes) => {
      if (!this.isDeaf) server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (!this.isMute) client.write(bytes)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        other.destroy()
        this.#pairs.delete(pair)
      })
    }
  }
}
