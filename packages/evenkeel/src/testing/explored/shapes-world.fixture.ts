/**
 * A plane on a simulated clock, a cloud of shapes, and processes that can be killed at any point.
 *
 * A killed process gets no responses: its requests stay unanswered, as if the machine had lost power.
 */
import { findCondition, type Condition, type Kind } from '#api'
import { createLogger, Metrics, SeededRandom, type Logger, type LogRecord, type SimulatedClock } from '#base'
import type { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import { Manager } from '#manager'
import { external, ExternalRef, ExternalSweep, type Capabilities, type Driver, type ExternalOptions } from '#verbs'
import type { Transport } from '#wire'
import { startTestPlane, type TestPlane } from '../live/test-plane.ts'
import { Shape, shapesDriver, ShapesService, type ShapeBody, type ShapeObject } from './shapes.fixture.ts'

type ShapesDriver = Driver<ShapeObject, ShapeBody, ShapeBody>

interface WorldOptions {
  readonly capabilities?: Capabilities
  readonly driver?: Omit<Parameters<typeof shapesDriver>[1], 'capabilities'>
  readonly service?: Omit<ConstructorParameters<typeof ShapesService>[0], 'clock'>
  readonly options?: Partial<ExternalOptions<ShapeObject>>
  readonly kind?: typeof Shape
  /** More kinds. @default none */
  readonly kinds?: readonly Kind[]
  /** Start a process at once. @default true */
  readonly isStarted?: boolean
}

interface ProcessOptions {
  readonly options?: Partial<ExternalOptions<ShapeObject>>
  /** Called for every write and every external call, before and after; true kills the process there. */
  readonly onStep?: (step: string) => boolean
  readonly declaration?: Partial<ControllerDeclaration>
  /** Changes the driver. */
  readonly driven?: (driver: ShapesDriver) => ShapesDriver
}

export interface Process {
  readonly manager: Manager
  readonly metrics: Metrics
  readonly steps: readonly string[]
  readonly isDead: boolean
  kill(): void
  stop(): Promise<void>
}

export class ShapesWorld implements AsyncDisposable {
  readonly plane: TestPlane
  readonly service: ShapesService
  readonly logs: LogRecord[] = []
  readonly #options: WorldOptions
  readonly #processes: Process[] = []

  constructor(plane: TestPlane, options: WorldOptions) {
    this.plane = plane
    this.#options = options
    this.service = new ShapesService({ clock: plane.clock, ...options.service })
  }

  get client(): Client {
    return this.plane.client
  }

  get clock(): SimulatedClock {
    return this.plane.clock as SimulatedClock
  }

  get log(): Logger {
    return createLogger({
      clock: this.clock,
      level: 'debug',
      sink: (record) => {
        this.logs.push(record)
      },
    })
  }

  start({
    options = {},
    onStep = () => false,
    declaration = {},
    driven = (driver) => driver,
  }: ProcessOptions = {}): Process {
    const { capabilities = {}, kind = Shape } = this.#options
    const life = { isDead: false, steps: [] as string[] }
    const never = new Promise<never>(() => undefined)
    const step = async (about: string): Promise<void> => {
      if (life.isDead) await never
      life.steps.push(about)
      if (!onStep(about)) return
      life.isDead = true
      await never
    }
    const driver = mortal(driven(shapesDriver(this.service, { capabilities, ...this.#options.driver })), step)
    const verb = external(driver, { instance: 'here', ...this.#options.options, ...options })
    const metrics = new Metrics()
    const manager = new Manager({
      name: 'shapes',
      transport: mortalTransport(this.plane.plane.transport, step, life),
      clock: this.clock,
      random: new SeededRandom(`process ${this.#processes.length}`),
      leaderElection: false,
      watchdog: false,
      metrics,
      log: this.log,
      controllers: [{ for: kind, verbs: [verb], ...declaration } as unknown as ControllerDeclaration],
    })
    const stopping = new AbortController()
    const running = manager.run(stopping.signal)
    running.catch(() => undefined)
    const started: Process = {
      manager,
      metrics,
      steps: life.steps,
      get isDead() {
        return life.isDead
      },
      kill: () => {
        life.isDead = true
      },
      stop: async () => {
        stopping.abort(new Error('the test stops it'))
        if (life.isDead) return
        const end = { isOver: false }
        void running
          .finally(() => {
            end.isOver = true
          })
          .catch(() => undefined)
        for (let turn = 0; !end.isOver && turn < 1000; turn++) await this.clock.advance(10)
      },
    }
    this.#processes.push(started)
    return started
  }

  async create(
    name = 'foo',
    spec: Partial<ShapeObject['spec']> = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<ShapeObject> {
    const prefixed = Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`external.evenkeel.dev/${key}`, value]),
    )
    return this.client.create(Shape, {
      apiVersion: Shape.apiVersion,
      kind: 'Shape',
      metadata: { name, namespace: 'default', annotations: prefixed },
      spec: { color: 'red', size: 1, ...spec },
    })
  }

  async annotate(annotations: Readonly<Record<string, string | null>>, name = 'foo'): Promise<void> {
    const prefixed = Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`external.evenkeel.dev/${key}`, value]),
    )
    await this.client.patch(await this.get(name), { metadata: { annotations: prefixed } })
  }

  async get(name = 'foo'): Promise<ShapeObject> {
    return this.client.get(Shape, { name, namespace: 'default' })
  }

  async find(name = 'foo'): Promise<ShapeObject | undefined> {
    return this.client.find(Shape, { name, namespace: 'default' })
  }

  /** `True Synced`, `False Drifted`; empty when it does not say. */
  async condition(type: string, name = 'foo'): Promise<string> {
    const { status, reason } = (await this.conditionOf(type, name)) ?? {}
    return status === undefined ? '' : `${status} ${reason ?? ''}`
  }

  async conditionOf(type: string, name = 'foo'): Promise<Condition | undefined> {
    return findCondition((await this.get(name)).status?.conditions ?? [], type)
  }

  async until(isSo: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
    await this.plane.until(isSo, { timeoutMs })
  }

  async synced(name = 'foo', timeoutMs = 10_000): Promise<void> {
    await this.until(async () => (await this.condition('Synced', name)) === 'True Synced', timeoutMs)
  }

  async gone(name = 'foo', timeoutMs = 10_000): Promise<void> {
    await this.until(async () => (await this.find(name)) === undefined, timeoutMs)
  }

  /** Deletes it and forgets about the finalizers, as impatient people do. */
  async force(name = 'foo'): Promise<void> {
    const object = await this.get(name)
    await this.client.delete(object)
    await this.client.patch(object, { metadata: { finalizers: null } })
  }

  advance(ms: number): Promise<void> {
    return this.plane.advance(ms)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#processes) await started.stop()
    await this.plane.stop()
  }
}

export async function startShapes(options: WorldOptions = {}): Promise<ShapesWorld> {
  const plane = await startTestPlane({
    simulated: true,
    builtin: false,
    kinds: [options.kind ?? Shape, ExternalRef, ExternalSweep, ...(options.kinds ?? [])],
  })
  const world = new ShapesWorld(plane, options)
  if (options.isStarted ?? true) world.start()
  return world
}

type Step = (about: string) => Promise<void>

/** Every call can be the last one. */
function mortal(driver: ShapesDriver, step: Step): ShapesDriver {
  const wrapped = { ...driver } as Record<string, unknown>
  for (const name of ['observe', 'create', 'update', 'remove', 'mark']) {
    const call = wrapped[name] as ((...given: unknown[]) => Promise<unknown>) | undefined
    if (!call) continue
    wrapped[name] = async (...given: unknown[]): Promise<unknown> => {
      await step(`before ${name}`)
      const result = await call(...given)
      await step(`after ${name}`)
      return result
    }
  }
  return wrapped as unknown as ShapesDriver
}

function mortalTransport(transport: Transport, step: Step, life: { readonly isDead: boolean }): Transport {
  return async (request) => {
    const { pathname } = new URL(request.target, 'http://plane')
    const isWrite = request.method !== 'GET' && !/\/(?:events|leases)\b/.test(pathname)
    const about = `${request.method} ${pathname.split('/').slice(-2).join('/')}`
    if (isWrite) await step(`before ${about}`)
    if (life.isDead) await new Promise(() => undefined)
    const answer = await transport(request)
    if (isWrite) await step(`after ${about}`)
    return answer
  }
}
