/**
 * A small reverse proxy on this machine: the longest prefix of the hostname wins; without a Route it responds 503, and
 * with a page to a browser at its own address.
 */
import { createServer, request as ask } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { listenNear } from 'evenkeel/unstable/base'
import type { RouteEntry, Router } from './kinds.ts'
import { answerUnrouted, sendText } from './page/router-page.ts'
import type { RouterState } from './page/router-page.ts'

export class RealRouter implements Router {
  readonly #routes = new Map<string, readonly RouteEntry[]>()
  readonly #server: Server = createServer((request, response) => {
    this.#lead(request, response)
  })

  #state: () => RouterState = () => ({ routes: [], apps: [] })

  /** Listens on the port, or on a free one when it is taken. The page shows the state. */
  listen(port: number, state: () => RouterState): Promise<{ readonly url: string; readonly isTaken: boolean }> {
    this.#state = state
    return listenNear(this.#server, { host: '127.0.0.1', port, protocol: 'http' })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  ensureRoutes(uid: string, routes: readonly RouteEntry[]): Promise<void> {
    this.#routes.set(uid, routes)
    return Promise.resolve()
  }

  removeRoutes(uid: string): Promise<void> {
    this.#routes.delete(uid)
    return Promise.resolve()
  }

  listRoutes(): Promise<Readonly<Record<string, readonly RouteEntry[]>>> {
    return Promise.resolve(Object.fromEntries(this.#routes))
  }

  #find(hostname: string, path: string): RouteEntry | undefined {
    return [...this.#routes.values()]
      .flat()
      .filter((route) => route.hostname === hostname && path.startsWith(route.pathPrefix))
      .sort((a, b) => b.pathPrefix.length - a.pathPrefix.length)[0]
  }

  #lead(request: IncomingMessage, response: ServerResponse): void {
    const hostname = (request.headers.host ?? '').replace(/:\d+$/, '')
    const route = this.#find(hostname, request.url ?? '/')
    if (!route) {
      answerUnrouted(request, response, this.#state).catch((error: unknown) => {
        sendText(response, 500, `the page failed: ${error instanceof Error ? error.message : String(error)}`)
      })
      return
    }
    const onward = ask(
      new URL(request.url ?? '/', route.to),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    onward.once('error', (error) => {
      sendText(response, 503, `the App does not answer: ${error.message}`)
    })
    request.pipe(onward)
  }
}
