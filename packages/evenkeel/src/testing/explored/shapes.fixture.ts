/**
 * A small cloud that makes shapes, with everything that real ones do: it lacks abilities, lags, says 429, and goes down.
 *
 * It outlives processes. What it was asked is written down, so that tests can say what must not be asked.
 */
import type { Clock } from '#base'
import { defineKind } from '#api'
import type { ObjectOf } from '#api'
import { ExternalError } from '#verbs'
import type { Capabilities, Driver, DriverEvent, Observation } from '#verbs'

export const Shape = defineKind({
  group: 'shapes.example.com',
  version: 'v1',
  kind: 'Shape',
  spec: {
    type: 'object',
    properties: { color: { type: 'string' }, size: { type: 'integer' }, name: { type: 'string' } },
  } as const,
  status: { type: 'object', properties: {} } as const,
  reports: ['external'],
})
export type ShapeObject = ObjectOf<typeof Shape>

export interface ShapeBody {
  readonly color: string
  readonly size: number
}

interface StoredShape extends ShapeBody {
  readonly labels?: unknown
}

type Operation = 'observe' | 'create' | 'update' | 'remove' | 'mark' | 'list'

interface Fault {
  readonly operation: Operation
  readonly error: Error
  /** Whether it is carried out all the same. */
  readonly isDone: boolean
}

interface ServiceOptions {
  readonly clock: Clock
  /** What is made is shown only after this long. */
  readonly showsAfterMs?: number
  /** What is deleted is gone only after this long. */
  readonly deletesAfterMs?: number
}

export class ShapesService {
  readonly shapes = new Map<string, StoredShape>()
  readonly calls: string[] = []
  readonly faults: Fault[] = []
  readonly #clock: Clock
  readonly #showsAfterMs: number
  readonly #deletesAfterMs: number
  readonly #shownAt = new Map<string, number>()
  readonly #goneAt = new Map<string, number>()
  readonly #tokens = new Map<string, string>()
  readonly #listeners = new Set<(event: DriverEvent) => void>()
  isDown = false
  /** A watch that has lost its tongue. */
  isSilent = false
  #last = 0

  constructor({ clock, showsAfterMs = 0, deletesAfterMs = 0 }: ServiceOptions) {
    this.#clock = clock
    this.#showsAfterMs = showsAfterMs
    this.#deletesAfterMs = deletesAfterMs
  }

  /** The next such call fails; `isDone`: it is carried out, and its answer gets lost. */
  failNext(
    operation: Operation,
    { error = new Error('connection reset'), isDone = false }: { error?: Error; isDone?: boolean } = {},
  ): void {
    this.faults.push({ operation, error, isDone })
  }

  get(id: string): StoredShape | undefined {
    this.#expire()
    return this.#clock.monotonic() >= (this.#shownAt.get(id) ?? 0) ? this.shapes.get(id) : undefined
  }

  create(
    body: ShapeBody,
    { id, labels, token }: { id?: string | undefined; labels?: unknown; token?: string | undefined },
  ): string {
    const known = token === undefined ? undefined : this.#tokens.get(token)
    if (known !== undefined) return known
    if (id !== undefined && this.shapes.has(id)) throw new ExternalError(`${id} exists`, { status: 409 })
    const made = id ?? `shape-${++this.#last}`
    this.put(made, { ...body, ...(labels !== undefined && { labels }) })
    this.#shownAt.set(made, this.#clock.monotonic() + this.#showsAfterMs)
    if (token !== undefined) this.#tokens.set(token, made)
    return made
  }

  /** As a user with a browser does it. */
  put(id: string, shape: StoredShape): void {
    this.shapes.set(id, shape)
    this.#tell(id, shape)
  }

  delete(id: string): void {
    if (this.#deletesAfterMs > 0 && !this.#goneAt.has(id))
      this.#goneAt.set(id, this.#clock.monotonic() + this.#deletesAfterMs)
    else this.drop(id)
  }

  /** At once, for every caller. */
  drop(id: string): void {
    const shape = this.shapes.get(id)
    this.shapes.delete(id)
    if (shape) this.#tell(id, shape)
  }

  list(): Observation<ShapeBody>[] {
    this.#expire()
    return [...this.shapes]
      .filter(([id]) => this.get(id))
      .map(([id, { labels, ...observed }]) => ({ id, observed, labels }))
  }

  /** Carries a call out, or does not. */
  async ask<R>(operation: Operation, about: string, carryOut: () => R): Promise<R> {
    await Promise.resolve()
    this.calls.push(`${operation} ${about}`.trim())
    if (this.isDown) throw new Error('connection refused')
    const at = this.faults.findIndex((fault) => fault.operation === operation)
    const [fault] = at < 0 ? [] : this.faults.splice(at, 1)
    if (fault?.isDone) carryOut()
    if (fault) throw fault.error
    return carryOut()
  }

  async *watch(signal: AbortSignal): AsyncGenerator<DriverEvent> {
    const waiting: DriverEvent[] = []
    let wake = (): void => undefined
    const listener = (event: DriverEvent): void => {
      waiting.push(event)
      wake()
    }
    this.#listeners.add(listener)
    signal.addEventListener('abort', () => {
      wake()
    })
    try {
      while (!signal.aborted) {
        const next = waiting.shift()
        if (next) yield next
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }

  count(operation: Operation): number {
    return this.calls.filter((call) => call === operation || call.startsWith(`${operation} `)).length
  }

  #tell(id: string, { labels }: StoredShape): void {
    if (!this.isSilent) for (const listener of this.#listeners) listener({ id, labels })
  }

  #expire(): void {
    for (const [id, atMs] of this.#goneAt) {
      if (atMs > this.#clock.monotonic()) continue
      this.#goneAt.delete(id)
      this.drop(id)
    }
  }
}

/** Abilities by the strategy that follows from them. */
export const capabilitySets = {
  S1: { ids: 'deterministic', labels: 'atomicOnCreate' },
  S2: { labels: 'atomicOnCreate' },
  S3: { idempotent: 'byToken' },
  S4: {},
} as const satisfies Record<string, Capabilities>

interface DriverOptions {
  readonly capabilities: Capabilities
  readonly list?: boolean
  readonly watch?: boolean
  readonly identify?: Driver<ShapeObject>['identify']
  readonly diff?: Driver<ShapeObject, ShapeBody, ShapeBody>['diff']
  readonly ready?: Driver<ShapeObject, ShapeBody, ShapeBody>['ready']
}

/** A driver of the service with just these abilities. */
export function shapesDriver(
  service: ShapesService,
  {
    capabilities,
    list = capabilities.labels === 'atomicOnCreate',
    watch = false,
    identify,
    diff,
    ready,
  }: DriverOptions,
): Driver<ShapeObject, ShapeBody, ShapeBody> {
  const hasLabels = (capabilities.labels ?? 'none') !== 'none'
  return {
    name: 'shapes',
    capabilities,
    desired: ({ spec: { color = 'red', size = 1 } }) => ({ color, size }),
    observe: (id) =>
      service.ask('observe', id, () => {
        const shape = service.get(id)
        if (!shape) return undefined
        const { labels, ...observed } = shape
        return { id, observed, ...(hasLabels && { labels }) }
      }),
    create: (desired, { id, labels, idempotencyKey }) =>
      service.ask('create', id ?? '', () => ({
        id: service.create(desired, {
          id,
          ...(capabilities.labels === 'atomicOnCreate' && { labels }),
          ...(capabilities.idempotent === 'byToken' && { token: idempotencyKey }),
        }),
      })),
    update: (id, desired, { labels }) =>
      service.ask('update', id, () => {
        service.put(id, { ...desired, ...(hasLabels && { labels }) })
      }),
    remove: (id) =>
      service.ask('remove', id, () => {
        if (!service.get(id)) throw new ExternalError(`no shape ${id}`, { status: 404 })
        service.delete(id)
      }),
    ...(hasLabels && {
      setLabels: (id, labels) =>
        service.ask('mark', id, () => {
          const shape = service.get(id)
          if (shape) service.put(id, { ...shape, labels })
        }),
    }),
    ...(list && {
      async *list() {
        const things = await service.ask('list', '', () => service.list())
        for (let at = 0; at < Math.max(things.length, 1); at += 50) yield things.slice(at, at + 50)
      },
    }),
    ...(watch && { watch: (_, { signal }) => service.watch(signal) }),
    ...(identify && { identify }),
    ...(diff && { diff }),
    ...(ready && { ready }),
  }
}
