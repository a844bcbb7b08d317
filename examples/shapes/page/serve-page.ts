/**
 * The page of the demo and the endpoints of its buttons. It listens only on localhost, and refuses other sites.
 *
 *   GET /            the page
 *   GET /state       what it shows; GET /events sends it after every change
 *   POST /do/NAME    presses a button: 409 with the reason when it has no effect
 *   POST /step/N     chooses a step
 *   /shapes...       the service that the controller uses
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import { listenNear, refuseForeign, renderPage } from 'evenkeel/unstable/base'
import { buttonsIn, press } from '../actions.ts'
import type { ActionParts, Button } from '../actions.ts'
import type { Demo, Facts, Said } from '../demo.ts'
import { answerShapes } from '../service/http.ts'
import type { ShapesInMemory } from '../service/shapes-in-memory.ts'
import { steps } from '../steps/all.ts'
import type { Step } from '../steps/step.ts'
import { shows } from './shows.ts'
import type { Press } from './shows.ts'
import { readStepCode } from './step-code.ts'
import type { StepCode } from './step-code.ts'

export interface PageOptions {
  readonly service: ShapesInMemory
  /** Another one is used when it is taken. 0: any free port. */
  readonly port: number
  readonly signal: AbortSignal
}

export interface Page {
  readonly url: string
  /** Whether the port was taken. */
  readonly isTaken: boolean
  /** Created after the service, because the demo needs its address. */
  show(demo: Demo, parts: Omit<ActionParts, 'demo' | 'service'>): void
}

type StepCodes = ReadonlyMap<number, StepCode>

export async function servePage({ service, port, signal }: PageOptions): Promise<Page> {
  const viewers = new Set<ServerResponse>()
  const code = await readStepCode()
  let shown: ActionParts | undefined
  const server = createServer((request, response) => {
    answer(request, response, { service, viewers, shown, code }).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
    })
  })
  const listening = await listenNear(server, { host: '127.0.0.1', port, protocol: 'http' })
  signal.addEventListener(
    'abort',
    () => {
      server.close()
      server.closeAllConnections()
    },
    { once: true },
  )
  return {
    ...listening,
    show(demo, parts) {
      shown = { ...parts, demo, service }
      demo.onChange(() => {
        tell(viewers, { demo, code })
      })
    },
  }
}

interface Answering {
  readonly service: ShapesInMemory
  readonly viewers: Set<ServerResponse>
  readonly shown: ActionParts | undefined
  readonly code: StepCodes
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { service, viewers, shown, code }: Answering,
): Promise<void> {
  const refusal = refuseForeign(request)
  if (refusal) return send(response, refusal.status, { error: refusal.message })
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const shapes = await answerShapes(service, request)
  if (shapes) return send(response, shapes.status, shapes.body)
  if (pathname === '/') return sendPage(response)
  if (!shown) return send(response, 503, { error: 'the demo is starting: try again' })
  if (pathname === '/state') return send(response, 200, await stateOf(shown.demo, code))
  if (pathname === '/events') return follow(response, viewers, { demo: shown.demo, code })
  if (request.method === 'POST') return act(pathname, response, shown)
  send(response, 404, { error: 'not found' })
}

async function act(pathname: string, response: ServerResponse, parts: ActionParts): Promise<void> {
  const [, topic, name = ''] = pathname.split('/')
  if (topic === 'step' && steps.some(({ number }) => String(number) === name)) {
    await parts.demo.choose(Number(name))
    return send(response, 200, {})
  }
  if (topic !== 'do') return send(response, 404, { error: 'not found' })
  const { status, ...body } = await press(name, parts)
  send(response, status, body)
}

/** What the page shows. */
export interface PageState extends Pick<Facts, 'isRunning' | 'isDown' | 'objects' | 'refs' | 'shapes'> {
  readonly step: Pick<Step, 'number' | 'title' | 'does' | 'flaw' | 'because'> & {
    readonly show: readonly Press[]
    readonly code: StepCode | undefined
  }
  readonly steps: readonly Pick<Step, 'number' | 'title'>[]
  readonly buttons: readonly Button[]
  /** Lines for a terminal about what is on the screen. */
  readonly commands: readonly string[]
  /** Oldest first. */
  readonly said: readonly Said[]
}

async function stateOf(demo: Demo, code: StepCodes): Promise<PageState> {
  const facts = await demo.facts()
  const { step, isRunning, isDown, objects, refs, shapes } = facts
  const { number, title, does, flaw, because } = step
  return {
    step: { number, title, does, flaw, because, show: shows[number] ?? [], code: code.get(number) },
    steps: steps.map((each) => ({ number: each.number, title: each.title })),
    isRunning,
    isDown,
    objects,
    refs,
    shapes,
    buttons: buttonsIn(facts),
    commands: [
      ...(objects.length === 0 ? ['npx evenkeel get shapes'] : []),
      ...objects.slice(0, 3).map(({ name }) => `npx evenkeel why shape/${name}`),
      ...(refs.length === 0 ? [] : ['npx evenkeel get externalrefs']),
    ],
    said: demo.said,
  }
}

interface Showing {
  readonly demo: Demo
  readonly code: StepCodes
}

function follow(response: ServerResponse, viewers: Set<ServerResponse>, showing: Showing): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  viewers.add(response)
  response.once('close', () => {
    viewers.delete(response)
  })
  tell(new Set([response]), showing)
}

function tell(viewers: ReadonlySet<ServerResponse>, { demo, code }: Showing): void {
  if (viewers.size === 0) return
  stateOf(demo, code).then(
    (state) => {
      for (const viewer of viewers) viewer.write(`data: ${JSON.stringify(state)}\n\n`)
    },
    // The server of the objects is gone, or not there yet: the page asks again every second, and says so.
    () => undefined,
  )
}

async function sendPage(response: ServerResponse): Promise<void> {
  const [body = '', style = '', script = ''] = await Promise.all(
    ['page.html', 'page.css', 'page.js'].map((name) => readFile(new URL(name, import.meta.url), 'utf8')),
  )
  const { html, headers } = renderPage({ title: 'Shapes: what a controller sees and why it acts', body, style, script })
  response.writeHead(200, headers)
  response.end(html)
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(JSON.stringify(body))
}
