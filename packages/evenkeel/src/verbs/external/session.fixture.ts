/**
 * One object and its external system in memory: what is called, recorded, reported and logged.
 */
import { defineKind, type KubeObject } from '#api'
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import type { BaseContext, StatusWriter } from '#controller'
import { DriverCalls } from './calls.ts'
import type { Driver, DriverCall, ExternalObject, Observation, Strategy } from './driver.ts'
import { makeOwnershipLabels } from './ownership-labels.ts'
import { settingsOf, type ExternalOptions } from './policy.ts'
import type { RecordStore, ResourceRecord } from './record.ts'
import { ExternalSession, ObservationCache, type ExternalEnvironment } from './session.ts'

export const Shape = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Shape',
  spec: { type: 'object', properties: { color: { type: 'string' } } },
  status: { type: 'object', properties: {} },
  reports: ['external'],
})

interface ShapeSystemOptions {
  readonly strategy?: Strategy
  readonly driver?: Partial<Driver>
  readonly options?: Partial<ExternalOptions>
  readonly record?: ResourceRecord
  readonly annotations?: Readonly<Record<string, string>>
  /** `status.external` of the object. */
  readonly external?: object
}

export class ShapeSystem {
  readonly clock = new SimulatedClock()
  readonly resources = new Map<string, Omit<Observation<unknown>, 'id'>>()
  readonly calls: string[] = []
  readonly connections = new Set<unknown>()
  readonly logs: string[] = []
  /** The status that was written. */
  readonly status: { external?: Readonly<Record<string, unknown>> } = {}
  record: ResourceRecord | undefined
  readonly object: ExternalObject<KubeObject>
  readonly environment: ExternalEnvironment

  constructor({ strategy = 'S2', driver, options, record = {}, annotations, external }: ShapeSystemOptions = {}) {
    this.record = record
    this.object = objectOf(annotations, external)
    const whole = { ...this.#driver, ...driver } as Driver
    const settings = settingsOf({ instance: 'here', ...options })
    this.environment = {
      driver: whole,
      kind: Shape,
      strategy,
      settings,
      calls: new DriverCalls(whole),
      observations: new ObservationCache(),
      identity: { instance: 'here', kind: Shape, secret: settings.secret },
      hasStatus: true,
    }
  }

  /** Ownership labels of the object. */
  get labels(): object {
    return makeOwnershipLabels(this.object, this.environment.identity)
  }

  get base(): BaseContext {
    const { clock } = this
    const base = {
      clock,
      random: new SeededRandom('1'),
      signal: new AbortController().signal,
      log: createLogger({ clock, sink: ({ message }) => this.logs.push(message) }),
      client: { get: () => Promise.resolve(this.object), find: () => Promise.resolve(undefined) },
    }
    return base as unknown as BaseContext
  }

  session(): ExternalSession {
    const { environment, base, object } = this
    return new ExternalSession({ environment, base, object, store: this.#store, status: this.#writer })
  }

  get #writer(): StatusWriter {
    const writer = {
      set: (status: object) => Object.assign(this.status, status),
      condition: () => undefined,
    }
    return writer as unknown as StatusWriter
  }

  /** A store beside the object. */
  get #store(): RecordStore {
    const save = (next: ResourceRecord): Promise<void> => {
      this.record = next
      return Promise.resolve()
    }
    return {
      isSeparate: true,
      read: () => Promise.resolve(this.record ?? {}),
      write: save,
      note: save,
      forget: () => {
        this.record = undefined
        return Promise.resolve()
      },
    }
  }

  get #driver(): Driver {
    const noted = <R>(call: string, { connection }: DriverCall, carryOut: () => R): Promise<R> => {
      this.calls.push(call)
      this.connections.add(connection)
      return Promise.resolve(carryOut())
    }
    return {
      name: 'shapes',
      capabilities: { labels: 'atomicOnCreate' },
      desired: (object) => (object as { spec?: unknown }).spec,
      observe: (id, call) =>
        noted(`observe ${id}`, call, () => {
          const found = this.resources.get(id)
          return found && { ...found, id }
        }),
      create: (observed, call) =>
        noted('create', call, () => {
          const id = call.id ?? 's-1'
          this.resources.set(id, { observed, labels: call.labels })
          return { id }
        }),
      update: (id, observed, call) =>
        noted(`update ${id}`, call, () => {
          this.resources.set(id, { observed, labels: call.labels })
        }),
      remove: (id, call) => noted(`remove ${id}`, call, () => void this.resources.delete(id)),
    }
  }
}

function objectOf(
  annotations: Readonly<Record<string, string>> = {},
  external: object = {},
): ExternalObject<KubeObject> {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`external.evenkeel.dev/${name}`, value])
  const metadata = { name: 'foo', namespace: 'a', uid: 'u1', generation: 1, annotations: Object.fromEntries(prefixed) }
  return {
    apiVersion: Shape.apiVersion,
    kind: 'Shape',
    metadata,
    spec: { color: 'red' },
    status: { external },
  } as ExternalObject<KubeObject>
}
