/**
 * What really happened: every change of the store, in order, with who made it; and what is there now.
 *
 * Controllers see the world through caches that lag and answers that get lost. Rules are judged against this.
 */
import type { UnstructuredObject } from '#api'
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
  /** Who: a process, the user, the collector. */
  readonly actor: string
  /** The step of the world at which it was committed. */
  readonly step: number
  readonly atMs: number
  readonly before: UnstructuredObject | undefined
  readonly after: UnstructuredObject | undefined
}

interface HistoryOptions {
  readonly store: Store
  /** What is there from the start, by key, as far as it is known. */
  readonly initialObjects: ReadonlyMap<string, UnstructuredObject>
  /** Who is acting at this moment. */
  actor(): string
  step(): number
  /** Whether that is a process of the program, or the garbage collector. */
  isProgram(): boolean
  /** Milliseconds of the world's time. */
  now(): number
}

export class History {
  readonly #options: HistoryOptions
  readonly events: HistoryEvent[] = []
  readonly #objects = new Map<string, UnstructuredObject>()
  readonly #names = new Map<string, string>()
  readonly #meant = new Map<string, UnstructuredObject>()
  readonly #edited = new Map<string, number>()
  #source: Watch | undefined

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /** Reads what is there; from then on keeps up. */
  async start(): Promise<void> {
    const range = await this.#options.store.range('/')
    if (!range.ok) throw new Error('the store of a new world can be read')
    for (const { key, value } of range.entries) {
      const object = this.#options.initialObjects.get(key) ?? (parseCachedBytes(value) as unknown as UnstructuredObject)
      this.#put(key, object)
      this.#meant.set(key, object)
    }
    this.#source = this.#options.store.watch('/', { after: range.revision })
    this.#follow(this.#source).catch((error: unknown) => {
      throw error
    })
  }

  stop(): void {
    this.#source?.close()
  }

  /** What is there now, by key; shared, never to be changed. */
  get objects(): ReadonlyMap<string, UnstructuredObject> {
    return this.#objects
  }

  /** What is there now of a resource. */
  ofResource(resource: string): UnstructuredObject[] {
    return [...this.#objects].filter(([key]) => resourceOf(key) === resource).map(([, object]) => object)
  }

  /** What is there that users or others made, each as it was when one of them last wrote it. */
  get userObjects(): ReadonlyMap<string, UnstructuredObject> {
    return this.#meant
  }

  /** How often users have changed what they did not make and what is still there. */
  get edits(): number {
    return [...this.#objects.values()].reduce(
      (sum, { metadata: { uid = '' } }) => sum + (this.#edited.get(uid) ?? 0),
      0,
    )
  }

  /** What a uid belongs or belonged to: `<App default/a>`. */
  nameOf(uid: string): string | undefined {
    return this.#names.get(uid)
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
        const after = entry && (parseCachedBytes(entry.value) as unknown as UnstructuredObject)
        if (after) this.#put(key, after)
        else this.#objects.delete(key)
        if (after && before && this.#options.actor() === 'user' && !this.#meant.has(key))
          this.#edited.set(after.metadata.uid ?? '', (this.#edited.get(after.metadata.uid ?? '') ?? 0) + 1)
        const isNew = before?.metadata.uid !== after?.metadata.uid
        if (!after || (isNew && this.#options.isProgram())) this.#meant.delete(key)
        else if (!this.#options.isProgram() && (isNew || this.#meant.has(key))) this.#meant.set(key, after)
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

/** `/CLUSTER/GROUP/RESOURCE/…` */
function resourceOf(key: string): string {
  return key.split('/')[3] ?? ''
}

/**
 * What happened in a schedule, in order, and a number for all of it: equal schedules have equal numbers.
 */
export interface TraceEntry {
  readonly step: number
  readonly atMs: number
  readonly actor: string
  readonly what: string
}

export class Trace {
  readonly entries: TraceEntry[] = []
  readonly #keeps: boolean
  #high = 0x811c9dc5
  #low = 0x01000193
  #steps = 0

  /** @param options `keeps`: entries are remembered, not only their number */
  constructor({ keeps = true }: { keeps?: boolean } = {}) {
    this.#keeps = keeps
  }

  get steps(): number {
    return this.#steps
  }

  add(actor: string, what: string, { atMs, isStep = true }: { atMs: number; isStep?: boolean }): TraceEntry {
    if (isStep) this.#steps++
    this.#mix(actor)
    this.#mix(what)
    const entry = { step: this.#steps, atMs, actor, what }
    if (this.#keeps) this.entries.push(entry)
    return entry
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

/*
 * Which objects were there at a moment of a schedule: those that matter to the program.
 */

/** Objects that were there at a step: those that matter to the program. */
export function objectsAt(world: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const event of world.history.events) {
    if (event.step > step) break
    if (event.after) now.set(event.key, event.after)
    else now.delete(event.key)
  }
  return [...now.values()].filter((object) => world.facts.state.isReconciled(object) || hasOwner(object))
}

/** The rests at which something can happen, by their numbers: after the last one, when all is made well, nothing does. */
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
