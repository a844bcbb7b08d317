/**
 * Records what a program does while it is explored: its writes, its calls of services, and the objects in quiet states.
 *
 * Two programs with the same record did the same in every schedule: then also the same schedules were planned. Writes are
 * seen at the client, so that those of verbs and of the status are among them.
 */
import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { Client } from 'evenkeel/client'
import type { ProcessContext, WorldView } from 'evenkeel/testing'
import type { Subject } from '../mutant.ts'

const clientWrites = [
  'create',
  'update',
  'patch',
  'patchFrom',
  'apply',
  'delete',
  'deleteAllOf',
  'addFinalizer',
  'removeFinalizer',
  'createOrUpdate',
  'raw',
] as const
const subresourceWrites = new Set(['update', 'patch', 'apply', 'create'])

/** Kinds whose objects are compared in quiet states, beside those of the controllers. */
const builtIn: readonly (readonly [group: string, kind: string])[] = [
  ['', 'ConfigMap'],
  ['', 'Secret'],
  ['', 'Service'],
  ['', 'Namespace'],
  ['', 'ResourceQuota'],
  ['apps', 'Deployment'],
  ['batch', 'Job'],
]

type Method = (this: unknown, ...parameters: unknown[]) => unknown

export class Recorder {
  #requests: Hash = createHash('sha256')
  #quietStates: string[] = []
  readonly #wrapped = new WeakSet<object>()

  constructor() {
    const target = Client.prototype as unknown as Record<string, Method>
    for (const name of clientWrites) this.#wrap(target, name)
    this.#wrapSubresources(target)
  }

  start(): void {
    this.#requests = createHash('sha256')
    this.#quietStates = []
  }

  /** A digest of all writes and calls since the start. */
  get requests(): string {
    return this.#requests.copy().digest('hex')
  }

  /** The objects of each quiet state since the start, without what differs by nature. */
  get quietStates(): readonly string[] {
    return this.#quietStates
  }

  /** The same program, recorded. */
  record({ controllers, scenario }: Subject): Subject {
    const services = new Set<object>()
    const external = scenario.external as ((world: never) => object) | undefined
    const factory = controllers as unknown as (process: ProcessContext<object>) => readonly { for: KindName }[]
    let kinds: readonly KindName[] = []
    return {
      controllers: ((process: ProcessContext<object>) => {
        const declarations = factory(process)
        kinds = declarations.map((one) => one.for)
        return declarations
      }) as unknown as Subject['controllers'],
      scenario: {
        ...scenario,
        ...(external && {
          external: (world: never) => {
            const made = external(world)
            for (const service of Object.values(made) as object[]) this.#wrapService(service, services)
            return made
          },
        }),
        expects: (world: WorldView<object>) => {
          this.#quietStates.push(contentOf(world, kinds))
          return undefined
        },
      } as unknown as Subject['scenario'],
    }
  }

  #wrapService(service: object, seen: Set<object>): void {
    const prototype = Object.getPrototypeOf(service) as Record<string, Method>
    if (seen.has(prototype) || this.#wrapped.has(prototype)) return
    seen.add(prototype)
    this.#wrapped.add(prototype)
    for (const name of Object.getOwnPropertyNames(prototype)) if (name !== 'constructor') this.#wrap(prototype, name)
  }

  #wrapSubresources(target: Record<string, Method>): void {
    const original = target['subresource']
    const wrap = (prototype: Record<string, Method>): void => {
      if (this.#wrapped.has(prototype)) return
      this.#wrapped.add(prototype)
      for (const name of subresourceWrites) if (typeof prototype[name] === 'function') this.#wrap(prototype, name)
    }
    target['subresource'] = function subresource(...parameters) {
      const made = original?.apply(this, parameters) as object
      wrap(Object.getPrototypeOf(made) as Record<string, Method>)
      return made
    }
  }

  #wrap(target: Record<string, Method>, name: string): void {
    const original = target[name]
    if (typeof original !== 'function') return
    const note = (parameters: readonly unknown[]): void => {
      this.#requests.update(`${name} ${textOf(parameters)}\n`)
    }
    target[name] = function recorded(...parameters) {
      note(parameters)
      return original.apply(this, parameters)
    }
  }
}

interface KindName {
  readonly group: string
  readonly kind: string
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner instanceof AbortSignal || typeof inner === 'function') return undefined
    return inner
  })
}

/** The objects of the world as text, without what the server and the nature of a run decide. */
function contentOf(world: WorldView<object>, kinds: readonly KindName[]): string {
  const names = [...builtIn, ...kinds.map(({ group, kind }) => [group, kind] as const)]
  const objects = names.flatMap(([group, kind]) => world.list({ group, kind }))
  const external = JSON.stringify(world.external, (_, value: unknown) => (value instanceof Map ? [...value] : value))
  return `${JSON.stringify(objects, (key, value: unknown) => (byServer.has(key) ? undefined : value))}${external}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
}

const byServer = new Set(['resourceVersion', 'managedFields', 'generation', 'observedGeneration', 'creationTimestamp'])
