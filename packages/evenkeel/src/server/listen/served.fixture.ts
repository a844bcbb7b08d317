/**
 * A listener for one test, with its clock and the received requests.
 */
import type { SimulatedClock } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { listen, type ListenOptions } from './listener.ts'
import { SocketClock } from './turns.fixture.ts'

export type Listening = Awaited<ReturnType<typeof listen>>

export interface Served {
  readonly listening: Listening
  readonly clock: SimulatedClock
  readonly requests: WireRequest[]
}

const open: Listening[] = []

/** Answers each request with the given function; by default with its body, or `ok`. */
export async function serve(answer: Transport = echo, options: ListenOptions = {}): Promise<Served> {
  const clock = new SocketClock()
  const requests: WireRequest[] = []
  const listening = await listen(
    (request) => {
      requests.push(request)
      return answer(request)
    },
    { clock, ...options },
  )
  open.push(listening)
  return { listening, clock, requests }
}

/** For `afterEach`. */
export async function closeServed(): Promise<void> {
  await Promise.all(open.splice(0).map((listening) => listening.close({ signal: AbortSignal.abort() })))
}

export async function echo(request: WireRequest): Promise<WireResponse> {
  const body = await readBody(request)
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: body.length > 0 ? body : Buffer.from('ok') }
}

export async function readBody({ body }: WireRequest): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0)
  if (body instanceof Uint8Array) return Buffer.from(body)
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}
