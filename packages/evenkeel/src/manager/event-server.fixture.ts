/**
 * As much of a server as events need: it creates and patches, in both forms of the API, and can be out of reach.
 */
import { SeededRandom, SimulatedClock } from '#base'
import { applyMergePatch, isJsonObject } from '#api'
import type { JsonObject, KubeObject } from '#api'
import { Client, ConnectionError } from '#client'
import type { ClientOptions } from '#client'
import { EventRecorder } from './event-recorder.ts'
import type { EventRecorderOptions } from './event-recorder.ts'

type Transport = ClientOptions['transport']

class EventServer {
  /** Methods and groups of the calls, in order. */
  readonly calls: string[] = []
  readonly events = new Map<string, JsonObject>()
  /** Which call is refused with which code; -1 is no answer at all. */
  refuse: (call: string) => number | undefined = () => undefined

  readonly transport: Transport = ({ method, target, body }) => {
    const [, group = '', namespace = '', name = ''] =
      /^\/apis?\/(?:(events\.k8s\.io)\/)?v1\/namespaces\/([^/]+)\/events(?:\/([^?]+))?/.exec(target) ?? []
    const call = `${method} ${group || 'core'}`
    this.calls.push(call)
    const code = this.refuse(call)
    if (code === -1) return Promise.reject(new ConnectionError('nobody there', { problem: 'refused' }))
    const sent: unknown = JSON.parse(Buffer.from(body as Uint8Array).toString())
    const change = isJsonObject(sent) ? sent : {}
    if (code !== undefined) return Promise.resolve(answer(code, refusal(code, name)))
    if (method === 'POST') {
      const { metadata } = change as unknown as KubeObject
      this.events.set(`${namespace}/${metadata.name ?? ''}`, change)
      return Promise.resolve(answer(201, change))
    }
    const known = this.events.get(`${namespace}/${name}`)
    if (!known) return Promise.resolve(answer(404, refusal(404, name)))
    const { message, ...rest } = change
    const changed = applyMergePatch(known, {
      ...rest,
      ...(message !== undefined && { [group === '' && known['note'] !== undefined ? 'note' : 'message']: message }),
    }) as JsonObject
    this.events.set(`${namespace}/${name}`, changed)
    return Promise.resolve(answer(200, changed))
  }

  get all(): JsonObject[] {
    return [...this.events.values()]
  }
}

/** A recorder that runs, on a simulated clock. */
export function record(options: Partial<EventRecorderOptions> = {}): {
  clock: SimulatedClock
  server: EventServer
  recorder: EventRecorder
  signal: AbortSignal
  stop: () => Promise<void>
} {
  const clock = new SimulatedClock()
  const server = new EventServer()
  const random = new SeededRandom('events')
  const client = new Client({ transport: server.transport, clock, random })
  const recorder = new EventRecorder({ client, controller: 'tester', clock, random, ...options })
  const stopping = new AbortController()
  const run = recorder.run(stopping.signal)
  return {
    clock,
    server,
    recorder,
    signal: stopping.signal,
    async stop() {
      stopping.abort()
      await run
    },
  }
}

function answer(status: number, value: unknown): Awaited<ReturnType<Transport>> {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) }
}

function refusal(code: number, name: string): JsonObject {
  const reasons: Readonly<Record<number, string>> = {
    403: 'Forbidden',
    404: 'NotFound',
    409: 'AlreadyExists',
    422: 'Invalid',
  }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: reasons[code] ?? 'InternalError',
    code,
    message: 'no',
    details: { name, kind: 'events' },
  }
}
