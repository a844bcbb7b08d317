/**
 * A server with just enough of the API for the load generator: it stores objects and notifies watchers.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from './jobs.ts'

interface StubObject {
  metadata: { name: string; resourceVersion?: string }
}

export class StubServer {
  readonly objects = new Map<string, StubObject>()
  /** Method and path of every request. */
  readonly requests: string[] = []
  /** Returns an error for every n-th write. */
  failEvery = Infinity
  /** Ends watches after this many changes. */
  watchEventsMax = Infinity
  /** Versions in updates that were not the newest. */
  conflicts = 0
  readonly #watchers = new Set<ServerResponse>()
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response)
  })
  #version = 100
  #writes = 0

  async listen(): Promise<Address> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return { url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, token: 'secret' }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stub')
    this.requests.push(`${request.method} ${pathname}`)
    let body = ''
    for await (const piece of request) body += String(piece)
    if (request.headers.authorization !== 'Bearer secret') send(response, 401, {})
    else if (searchParams.has('watch')) this.#watch(response)
    else if (request.method === 'GET') this.#read(response, pathname)
    else
      this.#write(response, {
        name: pathname.split('/').at(-1) ?? '',
        isNew: request.method === 'POST',
        body: JSON.parse(body) as StubObject,
      })
  }

  #read(response: ServerResponse, pathname: string): void {
    const name = pathname.split('/').at(-1) ?? ''
    const list = { metadata: { resourceVersion: String(this.#version) }, items: [...this.objects.values()] }
    if (name === 'configmaps') send(response, 200, list)
    else send(response, this.objects.has(name) ? 200 : 404, this.objects.get(name))
  }

  #write(response: ServerResponse, { name, isNew, body }: { name: string; isNew: boolean; body: StubObject }): void {
    if (++this.#writes % this.failEvery === 0) {
      send(response, 500, { message: 'requested failure' })
      return
    }
    const known = this.objects.get(name)
    if (
      body.metadata?.resourceVersion !== undefined &&
      body.metadata.resourceVersion !== known?.metadata.resourceVersion
    )
      this.conflicts++
    const written = {
      ...known,
      ...body,
      metadata: { ...known?.metadata, ...body.metadata, resourceVersion: String(++this.#version) },
    }
    this.objects.set(written.metadata.name, written)
    send(response, isNew ? 201 : 200, written)
    for (const watcher of this.#watchers) watcher.write(`${JSON.stringify({ type: 'ADDED', object: written })}\n`)
    if (--this.watchEventsMax <= 0) for (const watcher of this.#watchers) watcher.end()
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200)
    response.flushHeaders()
    this.#watchers.add(response)
    response.on('close', () => this.#watchers.delete(response))
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body ?? {})
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}
