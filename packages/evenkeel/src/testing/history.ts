/**
 * The history: every committed change of the store with its actor, and the objects that result. And the trace: every
 * event of a schedule, with a hash.
 *
 * Controllers see the world through caches that lag and responses that get lost. Rules compare with the history instead.
 *
 * Example: process A creates a ConfigMap for App a and crashes before the response arrives; A2 writes the status.
 *
 *     trace (step, actor, what)                        history (revision, actor, resource, before → after)
 *     1  user  creates App a                           41  user  apps        undefined → App a
 *     2  A     event apps: ADDED a 41
 *     3  A     request create configmaps default/a     42  A     configmaps  undefined → ConfigMap a
 *     3  A     crashes
 *     3  A2    starts
 *     …
 *     9  A2    request patch apps/status default/a     43  A2    apps        App a → App a with a status
 *
 * Notes (crashes, starts) belong to the step before them. Only committed writes are in the history; the trace has
 * everything, and its hash is equal for equal schedules.
 */
import { isApiError, stringifyJson, type JsonObject, type UnstructuredObject } from '#api'
import { placeOf, type LogRecord } from '#base'
import { ConnectionError } from '#client'
import type { Store, Watch } from '#store'
import type { ObjectReference } from './deviation.ts'
import { parseCachedBytes } from './requests.ts'
import type { World } from './world.ts'

export interface HistoryEvent {
  readonly revision: number
  /** The store's key. */
  readonly key: string
  /** `configmaps` */
  readonly resource: string
  /** The process, the user, another client or a cluster controller. */
  readonly actor: string
  /** The step at which it was committed. */
  readonly step: number
  readonly atMs: number
  readonly before: UnstructuredObject | undefined
  readonly after: UnstructuredObject | undefined
}

interface HistoryOptions {
  readonly store: Store
  /** The objects of the initial state by key, if they were parsed before. */
  readonly initialObjects: ReadonlyMap<string, UnstructuredObject>
  /** The actor of the current event. */
  actor(): string
  step(): number
  /** Whether the actor is a process of the program or a cluster controller. */
  isProgram(): boolean
  /** Simulated time in milliseconds. */
  now(): number
}

const timesAndUids =
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

export class History {
  readonly #options: HistoryOptions
  readonly events: HistoryEvent[] = []
  readonly #objects = new Map<string, UnstructuredObject>()
  readonly #names = new Map<string, string>()
  readonly #userObjects = new Map<string, UnstructuredObject>()
  readonly #edited = new Map<string, number>()
  /** Times and uids in what users wrote. */
  readonly #wished = new Set<string>()
  #source: Watch | undefined

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /** Reads the store and follows its changes. */
  async start(): Promise<void> {
    const range = await this.#options.store.range('/')
    if (!range.ok) throw new Error('cannot read the store of a new world')
    for (const { key, value } of range.entries) {
      if (!isObject(value)) continue
      const object = this.#options.initialObjects.get(key) ?? objectOf(value)
      this.#put(key, object)
      this.#userObjects.set(key, object)
      this.#noteWishes(object)
    }
    this.#source = this.#options.store.watch('/', { after: range.revision })
    this.#follow(this.#source).catch((error: unknown) => {
      throw error
    })
  }

  stop(): void {
    this.#source?.close()
  }

  /** The objects that exist now, by key; shared and frozen. */
  get objects(): ReadonlyMap<string, UnstructuredObject> {
    return this.#objects
  }

  /** The objects of a resource that exist now. */
  ofResource(resource: string): UnstructuredObject[] {
    return [...this.#objects].filter(([key]) => resourceOf(key) === resource).map(([, object]) => object)
  }

  /** Objects that users or other clients created, each as one of them last wrote it. */
  get userObjects(): ReadonlyMap<string, UnstructuredObject> {
    return this.#userObjects
  }

  /** How often users changed objects that they did not create and that still exist. */
  get edits(): number {
    return [...this.#objects.values()].reduce(
      (sum, { metadata: { uid = '' } }) => sum + (this.#edited.get(uid) ?? 0),
      0,
    )
  }

  /** The object that has or had a uid: `<App default/a>`. */
  nameOf(uid: string): string | undefined {
    return this.#names.get(uid)
  }

  /** Whether users have written this time or uid. */
  isWished(text: string): boolean {
    return this.#wished.has(text)
  }

  #noteWishes({ metadata: _, status: __, ...rest }: UnstructuredObject): void {
    for (const text of stringifyJson(rest).match(timesAndUids) ?? []) this.#wished.add(text)
  }

  #put(key: string, object: UnstructuredObject): void {
    this.#objects.set(key, object)
    const { uid, name = '', namespace = '', generateName } = object.metadata
    if (uid !== undefined && !this.#names.has(uid))
      this.#names.set(uid, `<${object.kind} ${namespace}/${generateName === undefined ? name : `${generateName}*`}>`)
  }

  async #follow(source: Watch): Promise<void> {
    for await (const { changes } of source) {
      for (const { key, revision, entry } of changes) {
        const before = this.#objects.get(key)
        if (entry ? !isObject(entry.value) : !before) continue
        const after = entry && objectOf(entry.value)
        if (after) this.#put(key, after)
        else this.#objects.delete(key)
        if (after && before && this.#options.actor() === 'user' && !this.#userObjects.has(key))
          this.#edited.set(after.metadata.uid ?? '', (this.#edited.get(after.metadata.uid ?? '') ?? 0) + 1)
        if (after && this.#options.actor() === 'user') this.#noteWishes(after)
        const isNew = before?.metadata.uid !== after?.metadata.uid
        if (!after || (isNew && this.#options.isProgram())) this.#userObjects.delete(key)
        else if (!this.#options.isProgram() && (isNew || this.#userObjects.has(key))) this.#userObjects.set(key, after)
        this.events.push({
          revision,
          key,
          resource: resourceOf(key),
          actor: this.#options.actor(),
          step: this.#options.step(),
          atMs: this.#options.now(),
          before,
          after,
        })
      }
    }
  }
}

const brace = 0x7b

/** The store also holds what is not an object: which Service has a node port. */
function isObject(bytes: Uint8Array): boolean {
  return bytes[0] === brace
}

function objectOf(bytes: Uint8Array): UnstructuredObject {
  return parseCachedBytes(bytes) as JsonObject & UnstructuredObject
}

/** `/CLUSTER/GROUP/RESOURCE/…` */
function resourceOf(key: string): string {
  return key.split('/')[3] ?? ''
}

/**
 * One event or note of a schedule.
 */
export interface TraceEntry {
  readonly step: number
  readonly atMs: number
  readonly actor: string
  readonly what: string
  /** `app.ts:12`, for a failure of the program's own code. */
  readonly origin?: string
}

/** The events and notes of a schedule in order, and a hash over all of them. */
export class Trace {
  readonly entries: TraceEntry[] = []
  readonly #keeps: boolean
  readonly #lastSteps = new Map<string, number>()
  #high = 0x811c9dc5
  #low = 0x01000193
  #steps = 0

  /** @param options `keeps`: keep the entries, not only their hash */
  constructor({ keeps = true }: { keeps?: boolean } = {}) {
    this.#keeps = keeps
  }

  get steps(): number {
    return this.#steps
  }

  /** The last step of an actor; 0 when it had none. */
  lastStepOf(actor: string): number {
    return this.#lastSteps.get(actor) ?? 0
  }

  add(actor: string, what: string, { atMs, isStep = true }: { atMs: number; isStep?: boolean }): TraceEntry {
    if (isStep) this.#lastSteps.set(actor, ++this.#steps)
    this.#mix(actor)
    this.#mix(what)
    const entry = { step: this.#steps, atMs, actor, what }
    if (this.#keeps) this.entries.push(entry)
    return entry
  }

  /**
   * A reconcile that threw, if entries are kept. Responses that failed are in the trace already, so errors of the server
   * and of the network are left out. The hash does not cover it: two runs of one schedule may have other texts.
   */
  addFailure(actor: string, { message, fields }: LogRecord, { atMs }: { atMs: number }): void {
    const { error, kind, object } = fields
    if (!this.#keeps || !message.startsWith('reconcile failed') || !(error instanceof Error)) return
    if (isApiError(error) || error instanceof ConnectionError) return
    const origin = placeOf(error)
    const what = `fails reconcile of ${String(kind)} ${String(object)}: ${error.name}: ${error.message}`
    this.entries.push({ step: this.#steps, atMs, actor, what, ...(origin !== undefined && { origin }) })
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return (this.#high >>> 0).toString(16).padStart(8, '0') + (this.#low >>> 0).toString(16).padStart(8, '0')
  }

  #mix(text: string): void {
    let [high, low] = [this.#high, this.#low]
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      high = Math.imul(high ^ code, 0x01000193)
      low = Math.imul(low ^ (code + (high >>> 15)), 0x85ebca6b)
    }
    this.#high = high ^ 0x2f
    this.#low = low
  }
}

/** The reconciled and owned objects that existed at a step. */
export function objectsAt(world: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const event of world.history.events) {
    if (event.step > step) break
    if (event.after) now.set(event.key, event.after)
    else now.delete(event.key)
  }
  return [...now.values()].filter((object) => world.facts.state.isReconciled(object) || hasOwner(object))
}

/** The indexes of the quiet states at which a deviation is possible: all but the last, which follows the end of all faults. */
export function quietIndexesOf({ quietSteps }: World): number[] {
  return quietSteps.slice(0, -1).map((_, index) => index)
}

export function objectsAtQuiet(world: World, index: number): UnstructuredObject[] {
  return objectsAt(world, world.quietSteps[index] ?? 0)
}

export function hasOwner({ metadata: { ownerReferences = [] } }: UnstructuredObject): boolean {
  return ownerReferences.length > 0
}

export function objectReferenceOf({
  apiVersion,
  kind,
  metadata: { name = '', namespace = '' },
}: UnstructuredObject): ObjectReference {
  return { apiVersion, kind, namespace, name }
}
