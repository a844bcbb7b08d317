/**
 * The page of the demo and the endpoints of its buttons. It listens only on localhost.
 *
 *   GET /            the page
 *   GET /events      the state, after every change
 *   POST /do/NAME    one of the mishaps; only for the page itself
 *   /shapes...       the service that the controller uses
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { Demo } from '../demo.ts'
import { mishaps } from '../mishaps.ts'
import type { MishapParts } from '../mishaps.ts'
import { answerShapes } from '../service/http.ts'
import type { ShapesInMemory } from '../service/shapes-in-memory.ts'

export interface PageOptions {
  readonly service: ShapesInMemory
  /** 0: any free port. */
  readonly port: number
  readonly signal: AbortSignal
}

export interface Page {
  readonly url: string
  /** Created after the service, because the demo needs its address. */
  show(demo: Demo, parts: Omit<MishapParts, 'demo' | 'service'>): void
}

export async function servePage({ service, port, signal }: PageOptions): Promise<Page> {
  const viewers = new Set<ServerResponse>()
  let shown: MishapParts | undefined
  const server = createServer((request, response) => {
    answer(request, response, { service, viewers, shown }).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  signal.addEventListener(
    'abort',
    () => {
      server.close()
      server.closeAllConnections()
    },
    { once: true },
  )
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`,
    show(demo, parts) {
      shown = { ...parts, demo, service }
      demo.onChange(() => {
        void tell(demo, viewers)
      })
    },
  }
}

interface Answering {
  readonly service: ShapesInMemory
  readonly viewers: Set<ServerResponse>
  readonly shown: MishapParts | undefined
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { service, viewers, shown }: Answering,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (!/^(?:127\.0\.0\.1|localhost):\d+$/.test(request.headers.host ?? ''))
    return send(response, 421, { error: 'this is not me' })
  const shapes = isOwn(request) ? await answerShapes(service, request) : undefined
  if (shapes) return send(response, shapes.status, shapes.body)
  if (pathname === '/') return sendPage(response)
  if (!shown) return send(response, 503, { error: 'not yet' })
  if (pathname === '/state') return send(response, 200, await shown.demo.state())
  if (pathname === '/events') return follow(response, shown.demo, viewers)
  if (request.method === 'POST' && isOwn(request)) return press(pathname, response, shown)
  send(response, 404, { error: 'not found' })
}

/** Pages of other sites cannot set a custom header without a CORS preflight, which this server does not answer. */
function isOwn({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' || headers['sec-fetch-site'] === 'same-origin' || headers.origin === undefined
}

async function press(pathname: string, response: ServerResponse, parts: MishapParts): Promise<void> {
  const [, topic, name = ''] = pathname.split('/')
  if (topic === 'step') {
    await parts.demo.choose(Number(name))
    return send(response, 200, {})
  }
  const mishap = topic === 'do' && Object.hasOwn(mishaps, name) ? mishaps[name] : undefined
  if (!mishap) return send(response, 404, { error: 'there is no such button' })
  const { demo, service } = parts
  demo.say(
    typeof mishap.says === 'string' ? mishap.says : mishap.says({ isDown: service.isDown, isRunning: demo.isRunning }),
    'you',
  )
  await mishap.run(parts)
  send(response, 200, {})
}

function follow(response: ServerResponse, demo: Demo, viewers: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  viewers.add(response)
  response.once('close', () => {
    viewers.delete(response)
  })
  void tell(demo, new Set([response]))
}

async function tell(demo: Demo, viewers: ReadonlySet<ServerResponse>): Promise<void> {
  if (viewers.size === 0) return
  const text = `data: ${JSON.stringify(await demo.state())}\n\n`
  for (const viewer of viewers) viewer.write(text)
}

async function sendPage(response: ServerResponse): Promise<void> {
  const page = await readFile(new URL('./page.html', import.meta.url), 'utf8')
  const buttons = Object.entries(mishaps).map(([name, { label }]) => ({ name, label }))
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
    'x-frame-options': 'DENY',
  })
  response.end(page.replace('/*BUTTONS*/[]', JSON.stringify(buttons).replace(/</g, '\\u003c')))
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
