/**
 * A collector on a server in this process, both on one simulated clock; and a garden of objects that own each other.
 */
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import type { LogRecord } from '#base'
import { defineKind } from '#api'
import type { ObjectMeta, OwnerReference, Stored, TypeMeta, UnstructuredObject } from '#api'
import { Client } from '#client'
import type { ClientOptions, DeleteOptions } from '#client'
import { startServer } from '#server'
import type { Server } from '#server'
import { garbageCollector } from './garbage-collector.ts'

type Transport = ClientOptions['transport']
type Live = Stored<UnstructuredObject>

export const Leaf = defineKind({
  group: 'garden.dev',
  version: 'v1',
  kind: 'Leaf',
  plural: 'leaves',
  spec: { type: 'object', properties: {}, default: {} },
})
export const Soil = defineKind({
  group: 'garden.dev',
  version: 'v1',
  kind: 'Soil',
  scope: 'Cluster',
  spec: { type: 'object', properties: {}, default: {} },
})
const configMap: TypeMeta = { apiVersion: 'v1', kind: 'ConfigMap' }

interface Planted {
  readonly kind?: TypeMeta
  readonly namespace?: string
  readonly owners?: readonly (Live | OwnerReference)[]
  readonly blocking?: boolean
  readonly finalizers?: readonly string[]
}

export class Garden {
  readonly clock: SimulatedClock
  readonly server: Server
  readonly client: Client
  readonly lines: LogRecord[] = []
  /** What the collector asked of the server: `DELETE /api/v1/...`. */
  readonly calls: string[] = []
  /** Stands between the collector and the server. */
  between: (request: Parameters<Transport>[0], next: Transport) => ReturnType<Transport> = (request, next) =>
    next(request)
  #stopping: AbortController | undefined
  #running: Promise<void> | undefined

  private constructor(server: Server, clock: SimulatedClock) {
    this.server = server
    this.clock = clock
    this.client = new Client({
      transport: server.transport,
      clock,
      random: new SeededRandom('gardener'),
      namespace: 'default',
      discoveryReloadMs: 0,
    })
  }

  static async start({ isCollecting = true }: { isCollecting?: boolean } = {}): Promise<Garden> {
    const clock = new SimulatedClock()
    const garden = new Garden(
      await startServer({ clock, random: new SeededRandom('server'), kinds: [Leaf, Soil] }),
      clock,
    )
    // What the server loads for its first answer takes real time, which no simulated clock can wait for.
    await garden.client.resources()
    if (isCollecting) await garden.collect()
    return garden
  }

  /** Starts the collector, and waits until it has heard of everything. */
  async collect(seed = 'collector'): Promise<void> {
    const [clock, random] = [this.clock, new SeededRandom(seed)]
    const log = createLogger({
      clock,
      level: 'debug',
      sink: (record) => {
        this.lines.push(record)
      },
    })
    const transport: Transport = (request) => {
      this.calls.push(`${request.method} ${request.target.split('?')[0] ?? ''}`)
      return this.between(request, this.server.transport)
    }
    const client = new Client({ transport, clock, random, log, retry: false })
    this.#stopping = new AbortController()
    this.#running = garbageCollector({ clock, random, log }).run(this.#stopping.signal, { client })
    const before = this.lines.length
    await this.until(() =>
      this.lines.slice(before).some(({ message }) => message === 'garbage collector: starting workers'),
    )
  }

  async stopCollecting(): Promise<void> {
    this.#stopping?.abort(new Error('enough'))
    let hasEnded = false
    const ended = this.#running?.finally(() => {
      hasEnded = true
    })
    await this.until(() => hasEnded || !this.#running)
    await ended
    this.#running = undefined
  }

  async stop(): Promise<void> {
    await this.stopCollecting()
    let hasEnded = false
    const ended = this.server.stop().finally(() => {
      hasEnded = true
    })
    await this.until(() => hasEnded)
    await ended
  }

  async plant(
    name: string,
    { kind = configMap, namespace = 'default', owners = [], blocking, finalizers = [] }: Planted = {},
  ): Promise<Live> {
    const metadata: ObjectMeta = {
      name,
      ...(kind.kind !== 'Soil' && kind.kind !== 'Namespace' && { namespace }),
      ownerReferences: owners.map((owner) => ({
        ...('metadata' in owner ? referenceTo(owner) : owner),
        ...(blocking !== undefined && { blockOwnerDeletion: blocking }),
      })),
      finalizers,
    }
    return await this.client.create({ apiVersion: kind.apiVersion, kind: kind.kind, metadata })
  }

  async remove(
    object: Live,
    propagation: Exclude<DeleteOptions['propagationPolicy'], undefined> = 'Background',
  ): Promise<void> {
    await this.client.delete(object, { propagationPolicy: propagation })
  }

  find({ apiVersion, kind, metadata: { name, namespace = '' } }: Live): Promise<Live | undefined> {
    return this.client.find({ apiVersion, kind }, { name, namespace })
  }

  async isGone(object: Live): Promise<boolean> {
    return (await this.find(object))?.metadata.uid !== object.metadata.uid
  }

  async ownersOf(object: Live): Promise<string[]> {
    return (
      (await this.client.get({ apiVersion: object.apiVersion, kind: object.kind }, object.metadata)).metadata
        .ownerReferences ?? []
    ).map(({ name }) => name)
  }

  async untilGone(...objects: readonly Live[]): Promise<void> {
    await this.until(async () => (await Promise.all(objects.map((object) => this.isGone(object)))).every(Boolean))
  }

  /** Lets time pass until something is so. @throws when it is not so for a long time. */
  async until(
    isSo: () => boolean | Promise<boolean>,
    { stepMs = 10, steps = 3000 }: { stepMs?: number; steps?: number } = {},
  ): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (await isSo()) return
      await this.clock.advance(stepMs)
    }
    throw new Error(`after ${stepMs * steps} simulated ms it is still not so: ${isSo.toString()}`)
  }

  /** Lets enough time pass for everything that is going to happen. */
  async settle(ms = 3000): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) await this.clock.advance(50)
  }
}

export function referenceTo({ apiVersion, kind, metadata: { name, uid } }: Live): OwnerReference {
  return { apiVersion, kind, name, uid }
}

/** A kind of its own, without a schema. */
export function definitionOf(
  group: string,
  kind: string,
): { apiVersion: string; kind: string; metadata: { name: string }; spec: object } {
  const plural = `${kind.toLowerCase()}s`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}
