/**
 * Controllers on a fake server and a simulated clock.
 */
import { declareKind, type JsonObject, type Kind, type KubeObject } from '#api'
import { createLogger, Metrics, SeededRandom, SimulatedClock, type LogRecord } from '#base'
import { ObjectCache } from '#cache'
import { Client } from '#client'
import { ControllerSet, type Controller, type ControllerEnvironment } from './controller.ts'
import type { ControllerDeclaration } from './declaration.ts'
import { FakeApi } from './fake-api.fixture.ts'
import { Ledger, writeHooks } from './ledger.ts'

interface WidgetObject extends KubeObject {
  readonly spec: { readonly size?: number }
  readonly status?: {
    readonly phase?: string
    readonly seen?: number
    readonly conditions?: readonly JsonObject[]
    readonly observedGeneration?: number
  }
}

interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const Widget = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Widget' })
export const Gadget = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Gadget' })
export const Realm = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Realm', scope: 'Cluster' })
export const ConfigMap = declareKind<DataObject>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  statusSubresource: false,
})

export class World {
  readonly clock = new SimulatedClock()
  readonly random = new SeededRandom('controller')
  readonly metrics = new Metrics()
  readonly lines: LogRecord[] = []
  readonly ledger = new Ledger()
  readonly api: FakeApi
  readonly client: Client
  readonly cache: ObjectCache
  readonly controllers: ControllerSet
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>[] = []

  constructor({
    kinds = [Widget, Gadget, Realm, ConfigMap],
    ...environment
  }: { kinds?: readonly Kind[] } & Partial<ControllerEnvironment> = {}) {
    const { clock, random, ledger, metrics } = this
    this.api = new FakeApi(kinds)
    const log = createLogger({
      clock,
      level: 'debug',
      sink: (record) => {
        this.lines.push(record)
      },
    })
    this.client = new Client({
      transport: this.api.transport,
      clock,
      random,
      retry: false,
      ...writeHooks({ ledger, cache: () => this.cache }),
    })
    this.cache = new ObjectCache({ client: this.client, clock, random, log })
    this.controllers = new ControllerSet({
      client: this.client,
      cache: this.cache,
      ledger,
      clock,
      random,
      log,
      metrics,
      ...environment,
    })
  }

  /** Adds a controller and runs it, and the cache. */
  async start<K extends Kind>(...declarations: readonly ControllerDeclaration<K>[]): Promise<Controller> {
    const added = declarations.map((declaration) => this.controllers.add(declaration))
    if (this.#running.length === 0) this.#running.push(this.cache.run(this.#stopping.signal))
    for (const controller of added) this.#running.push(controller.run(this.#stopping.signal))
    await this.clock.advance(0)
    return added[0] as Controller
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the test is over'))
    await this.clock.advance(0)
    await Promise.all(this.#running)
  }

  /** Warnings and errors, as `error: reconcile failed`. */
  get complaints(): string[] {
    return this.lines
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(({ level, message }) => `${level}: ${message}`)
  }

  /** The value of a metric, by its whole text: `controller_runtime_reconcile_total{controller="widget",result="error"}`. */
  metric(series: string): number | undefined {
    const line = this.metrics
      .render()
      .split('\n')
      .find((one) => one.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
}
