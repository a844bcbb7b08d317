/**
 * A whole plane on a simulated clock, and a manager on it whose requests can be counted, delayed and lost.
 */
import { declareKind, defineKind, type ChildReport, type Condition, type Kind, type KubeObject } from '#api'
import { createLogger, SeededRandom, sleep, type LogRecord, type SimulatedClock } from '#base'
import type { Client, ClientOptions } from '#client'
import type { ControllerDeclaration } from '#controller'
import { Manager, type ManagedContext } from '#manager'
import { startTestPlane, type TestPlane } from '../live/test-plane.ts'

type Transport = ClientOptions['transport']
type WireRequest = Parameters<Transport>[0]
type WireResponse = Awaited<ReturnType<Transport>>

interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const ConfigMap = declareKind<DataObject>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  statusSubresource: false,
})
export const Secret = declareKind<DataObject>({ group: '', version: 'v1', kind: 'Secret', statusSubresource: false })

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

/** A parent: what shall be there is in its spec, as children by name. */
export const Site = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Site',
  spec: {
    type: 'object',
    properties: { names: { type: 'array', items: { type: 'string' } }, text: { type: 'string' } },
  },
  status: { type: 'object', properties: { phase: { type: 'string' } } },
  reports: ['children'],
})

/** A child that takes its time, as a Deployment does. */
export const Box = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Box',
  spec: open,
  status: { type: 'object', properties: { ready: { type: 'boolean' } } },
})

type Reconcile = NonNullable<ControllerDeclaration<typeof Site, ManagedContext>['reconcile']>

export class ChildWorld {
  readonly plane: TestPlane
  readonly lines: LogRecord[] = []
  /** Writes of the manager, as `PATCH configmaps/a`. */
  readonly writes: string[] = []
  /** How long watches are late. */
  lagMs = 0
  between: (request: WireRequest, next: Transport) => ReturnType<Transport> = (request, next) => next(request)
  #stopping = new AbortController()
  #running: Promise<void> | undefined
  #declarations: readonly ControllerDeclaration<Kind, ManagedContext>[] = []

  private constructor(plane: TestPlane) {
    this.plane = plane
  }

  static async start(...declarations: readonly ControllerDeclaration<never, ManagedContext>[]): Promise<ChildWorld> {
    const world = new ChildWorld(await startTestPlane({ kinds: [Site, Box], simulated: true }))
    world.#declare(declarations)
    world.run()
    return world
  }

  get client(): Client {
    return this.plane.client
  }

  get clock(): SimulatedClock {
    return this.plane.clock as SimulatedClock
  }

  /** Another life of the program. */
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
      name: 'sites',
      transport: (request) => this.#send(request),
      clock: this.clock,
      random: new SeededRandom('m'),
      log,
      client: { retry: false },
      children: { checkDeterminism: true },
      controllers: this.#declarations,
    })
    this.#running = manager.run(this.#stopping.signal)
  }

  /** Another program in place of the one that runs. */
  async replace(...declarations: readonly ControllerDeclaration<never, ManagedContext>[]): Promise<void> {
    await this.stopManager()
    this.#declare(declarations)
    this.run()
  }

  async stopManager(): Promise<void> {
    this.#stopping.abort(new Error('enough'))
    await this.until(async () =>
      Promise.race([this.#running?.then(() => true), this.clock.advance(10).then(() => false)]).then(
        (ended) => ended === true,
      ),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopManager()
    await this.plane.stop()
  }

  until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    return this.plane.until(isSo)
  }

  /** Lets everything that follows happen. */
  async settle(ms = 2000): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) await this.clock.advance(100)
  }

  async site(name = 'a', spec: { names?: string[]; text?: string } = {}): Promise<void> {
    await this.client.create(Site, { metadata: { name, namespace: 'default' }, spec })
    await this.settle()
  }

  async configMap(
    name: string,
    namespace = 'default',
  ): Promise<(DataObject & { metadata: { uid: string } }) | undefined> {
    return await this.client.find(ConfigMap, { name, namespace })
  }

  async rows(name = 'a'): Promise<readonly ChildReport[]> {
    return (await this.client.get(Site, { name, namespace: 'default' })).status?.children ?? []
  }

  async condition(type = 'ChildrenReady', name = 'a'): Promise<Condition | undefined> {
    const { status } = await this.client.get(Site, { name, namespace: 'default' })
    return status?.conditions?.find((condition) => condition.type === type)
  }

  /** Errors that were logged, as texts. */
  get errors(): readonly string[] {
    return this.lines
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => `${message}: ${String((fields['error'] as Error | undefined)?.message)}`)
  }

  #declare(declarations: readonly ControllerDeclaration<never, ManagedContext>[]): void {
    this.#declarations = declarations as unknown as readonly ControllerDeclaration<Kind, ManagedContext>[]
  }

  async #send(request: WireRequest): Promise<WireResponse> {
    const path = request.target.split('?')[0] ?? ''
    if (request.method !== 'GET' && !path.includes('events'))
      this.writes.push(
        `${request.method} ${path
          .split('/')
          .slice(path.includes('/status') ? -3 : -2)
          .join('/')}`,
      )
    const response = await this.between(request, this.plane.plane.transport)
    if (!/[?&]watch=(1|true)/.test(request.target)) return response
    return { ...response, body: this.#late(response.body as AsyncIterable<Uint8Array>, request.signal) }
  }

  async *#late(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      if (this.lagMs > 0) await sleep(this.clock, this.lagMs, { signal })
      yield piece
    }
  }
}

/** A controller of Sites with children of these kinds. */
export function sites(
  reconcile: Reconcile,
  more: Partial<ControllerDeclaration<typeof Site, ManagedContext>> = {},
): ControllerDeclaration<never, ManagedContext> {
  return { for: Site, owns: [ConfigMap], reconcile, ...more } as unknown as ControllerDeclaration<never, ManagedContext>
}

/** One ConfigMap for each name of the spec. */
export const oneForEach: Reconcile = async (site, { children }) => {
  children.none()
  for (const name of site.spec.names ?? [])
    await children.apply(ConfigMap, { metadata: { name }, data: { text: site.spec.text ?? '' } })
}
