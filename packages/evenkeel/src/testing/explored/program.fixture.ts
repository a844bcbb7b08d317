/**
 * A program of controllers on a plane of its own with a simulated clock: started, stopped and started again.
 */
import type { Condition, Kind, KubeObject } from '#api'
import { createLogger, SeededRandom, type LogRecord, type SimulatedClock } from '#base'
import type { Client, ClientOptions } from '#client'
import type { ControllerDeclaration } from '#controller'
import { Manager } from '#manager'
import { startTestPlane, type TestPlane } from '../live/test-plane.ts'

type Transport = ClientOptions['transport']

export class ProgramWorld {
  readonly plane: TestPlane
  readonly lines: LogRecord[] = []
  /** Writes of the program, as `PATCH apps/web`. */
  readonly writes: string[] = []
  between: (request: Parameters<Transport>[0], next: Transport) => ReturnType<Transport> = (request, next) =>
    next(request)
  readonly #declarations: readonly ControllerDeclaration[]
  #stopping = new AbortController()
  #running: Promise<void> | undefined

  private constructor(plane: TestPlane, declarations: readonly ControllerDeclaration[]) {
    this.plane = plane
    this.#declarations = declarations
  }

  /** The kinds of the controllers and of their verbs are installed. */
  static async start(...declarations: readonly unknown[]): Promise<ProgramWorld> {
    const controllers = declarations as readonly ControllerDeclaration[]
    const kinds = controllers.flatMap(({ for: kind, verbs = [] }) => [
      { ...kind, actions: verbs.flatMap(({ action }) => action ?? []) } as Kind,
      ...verbs.flatMap((verb) => verb.kinds ?? []),
    ])
    const distinct = [...new Map(kinds.map((kind) => [kind.kind, kind])).values()]
    return new ProgramWorld(await startTestPlane({ kinds: distinct, simulated: true }), controllers)
  }

  get client(): Client {
    return this.plane.client
  }

  get clock(): SimulatedClock {
    return this.plane.clock as SimulatedClock
  }

  /** Begins another life of the program. */
  run(): void {
    this.#stopping = new AbortController()
    const log = createLogger({
      clock: this.clock,
      level: 'debug',
      sink: (record) => {
        this.lines.push(record)
      },
    })
    const manager = new Manager({
      name: 'program',
      transport: (request) => this.#send(request),
      clock: this.clock,
      random: new SeededRandom('m'),
      log,
      client: { retry: false },
      controllers: this.#declarations,
    })
    this.#running = manager.run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('enough'))
    if (this.#running)
      await this.plane.until(() =>
        Promise.race([this.#running?.then(() => true), this.clock.advance(10).then(() => false)]).then(
          (ended) => ended === true,
        ),
      )
    this.#running = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.plane.stop()
  }

  /** Lets everything that follows happen. */
  async settle(ms = 2000): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) await this.clock.advance(100)
  }

  async post(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await this.plane.plane.transport({
      method: 'POST',
      target: path,
      headers: { 'content-type': 'application/json' },
      signal: new AbortController().signal,
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    })
    return {
      status: answer.status,
      body: JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as Record<string, unknown>,
    }
  }

  async conditions(object: KubeObject): Promise<readonly Condition[]> {
    const { name = '', namespace } = object.metadata
    const found = await this.client.find(
      { apiVersion: object.apiVersion, kind: object.kind },
      { name, ...(namespace !== undefined && { namespace }) },
    )
    return (found as { status?: { conditions?: readonly Condition[] } } | undefined)?.status?.conditions ?? []
  }

  async #send(request: Parameters<Transport>[0]): ReturnType<Transport> {
    const path = request.target.split('?')[0] ?? ''
    if (request.method !== 'GET' && !path.includes('events'))
      this.writes.push(
        `${request.method} ${path
          .split('/')
          .slice(path.includes('/status') ? -3 : -2)
          .join('/')}`,
      )
    return await this.between(request, this.plane.plane.transport)
  }
}
