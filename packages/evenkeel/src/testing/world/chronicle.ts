/**
 * What really happened: every change of the store, in order, with who made it; and what is there now.
 *
 * Controllers see the world through caches that lag and answers that get lost. Rules are judged against this.
 */
import type { UnstructuredObject } from '#api'
import type { Store, Watch } from '#store'
import { parseCachedBytes } from '../state/known-texts.ts'

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
