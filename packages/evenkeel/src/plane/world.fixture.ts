/**
 * A manager on a real server in this process, both on one simulated clock.
 */
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import type { Logger, LogRecord } from '#base'
import { defineKind } from '#api'
import { Client } from '#client'
import type { ClientOptions } from '#client'
import { Manager } from '#manager'
import type { ManagerOptions } from '#manager'
import { startServer } from '#server'
import type { Server } from '#server'

type Transport = ClientOptions['transport']
type WireRequest = Parameters<Transport>[0]

const text = { type: 'object', properties: { text: { type: 'string' } } } as const

export const Note = defineKind({ group: 'test.dev', version: 'v1', kind: 'Note', spec: text, status: text })

interface Running {
  readonly manager: Manager
  /** How it ended; undefined while it runs. */
  readonly end: { error?: unknown } | undefined
  /** Tells it to stop. */
  abort(): void
  /** Tells it to stop, and lets time pass until it has. */
  stop(): Promise<void>
}

export class World {
  readonly clock: SimulatedClock
  readonly lines: LogRecord[] = []
  readonly log: Logger
  /** What was asked of the server, in order: `PUT /api/v1/...`. */
  readonly calls: string[] = []
  /** Stands between a manager and the server. */
  between: (request: WireRequest, next: Transport) => ReturnType<Transport> = (request, next) => next(request)
  readonly server: Server
  /** Another client, without any faults. */
  readonly client: Client

  private constructor(server: Server, clock: SimulatedClock) {
    this.server = server
    this.clock = clock
    this.log = createLogger({
      clock,
      level: 'debug',
      sink: (record) => {
        this.lines.push(record)
      },
    })
    this.client = new Client({
      transport: server.transport,
      clock,
      random: new SeededRandom('somebody'),
      namespace: 'default',
    })
  }

  static async start(): Promise<World> {
    const clock = new SimulatedClock()
    return new World(await startServer({ clock, random: new SeededRandom('server'), kinds: [Note] }), clock)
  }

  readonly transport: Transport = (request) => {
    this.calls.push(`${request.method} ${request.target.split('?')[0] ?? ''}`)
    return this.between(request, this.server.transport)
  }

  manager({ name = 'tester', ...options }: Partial<ManagerOptions> = {}): Manager {
    return new Manager({
      name,
      transport: this.transport,
      clock: this.clock,
      random: new SeededRandom(name),
      log: this.log,
      client: { retry: false },
      ...options,
    })
  }

  run(manager: Manager): Running {
    const stopping = new AbortController()
    let end: { error?: unknown } | undefined
    const done = manager.run(stopping.signal).then(
      () => {
        end = {}
      },
      (error: unknown) => {
        end = { error }
      },
    )
    const abort = (): void => {
      stopping.abort(new Error('enough'))
    }
    return {
      manager,
      abort,
      get end() {
        return end
      },
      stop: async () => {
        abort()
        await this.until(() => end !== undefined)
        await done
      },
    }
  }

  /** Lets time pass until something is so. @throws when it is not so for a long time. */
  async until(
    isSo: () => boolean | Promise<boolean>,
    { stepMs = 10, steps = 5000 }: { stepMs?: number; steps?: number } = {},
  ): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (await isSo()) return
      await this.clock.advance(stepMs)
    }
    throw new Error(`after ${stepMs * steps} simulated ms it is still not so: ${isSo.toString()}`)
  }

  /** Creates or changes a note. */
  async write(name: string, words: string): Promise<void> {
    await this.client.apply(
      Note,
      { metadata: { name, namespace: 'default' }, spec: { text: words } },
      { fieldManager: 'somebody', force: true },
    )
  }

  async read(name: string): Promise<string | undefined> {
    const note = await this.client.find(Note, { name, namespace: 'default' })
    return (note?.status as { text?: string } | undefined)?.text
  }

  said(message: string | RegExp): boolean {
    return this.lines.some((line) =>
      typeof message === 'string' ? line.message === message : message.test(line.message),
    )
  }
}
