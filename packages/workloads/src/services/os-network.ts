/**
 * The network of this machine, by `node:net`.
 *
 * Both directions of a connection end on their own (`allowHalfOpen`), and an accepted connection is not read before its
 * receiver does so: the kernel then holds back the client.
 */
import { connect, createServer, type Server } from 'node:net'
import { onAbort } from 'evenkeel/unstable/base'
import {
  formatAddress,
  listenFailureOf,
  type Connection,
  type ConnectionFeed,
  type ListenFailure,
  type Network,
  type SocketAddress,
} from './network.ts'

export class OsNetwork implements Network {
  readonly #servers = new Map<string, Server>()
  #subscriber: ((connection: Connection, at: SocketAddress) => void) | undefined

  get connections(): ConnectionFeed {
    return {
      subscribe: (call) => {
        this.#subscriber = call
        return () => {
          if (this.#subscriber === call) this.#subscriber = undefined
        }
      },
      dial,
    }
  }

  listen(at: SocketAddress): Promise<ListenFailure | undefined> {
    const key = formatAddress(at)
    if (this.#servers.has(key)) return Promise.resolve(undefined)
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
      if (this.#subscriber) this.#subscriber(socket, at)
      else socket.destroy()
    })
    return new Promise((resolve) => {
      // Stays: an error of a later accept is about one client.
      server.on('error', (error: NodeJS.ErrnoException) => {
        resolve(listenFailureOf(error.code, at))
      })
      server.listen({ host: at.address, port: at.port, exclusive: true }, () => {
        this.#servers.set(key, server)
        resolve(undefined)
      })
    })
  }

  unlisten(at: SocketAddress): Promise<void> {
    const key = formatAddress(at)
    // The port is free at once; what `close` waits for are accepted connections.
    this.#servers.get(key)?.close()
    this.#servers.delete(key)
    return Promise.resolve()
  }
}

function dial({ address, port }: SocketAddress, { signal }: { readonly signal: AbortSignal }): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
    const stop = onAbort(signal, (reason) => {
      socket.destroy()
      reject(reason as Error)
    })
    const onError = (error: Error): void => {
      stop()
      reject(error)
    }
    socket.once('error', onError)
    socket.once('connect', () => {
      stop()
      socket.off('error', onError)
      resolve(socket)
    })
  })
}
