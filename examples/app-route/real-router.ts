/**
 * A small reverse proxy on this machine: the longest prefix of the hostname wins; without a backend it responds 503.
 */
import { createServer, request as ask } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { RouteEntry, Router } from './kinds.ts'

export class RealRouter implements Router {
  readonly #routes = new Map<string, readonly RouteEntry[]>()
  readonly #server: Server = createServer((request, response) => {
    this.#lead(request, response)
  })

  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`
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
    const refuse = (text: string): void => {
      if (!response.headersSent) response.writeHead(503, { 'content-type': 'text/plain' })
      response.end(`${text}\n`)
    }
    if (!route) {
      refuse(`no Route leads from ${JSON.stringify(hostname)}`)
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
      refuse(`the App does not answer: ${error.message}`)
    })
    request.pipe(onward)
  }
}
