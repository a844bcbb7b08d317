/**
 * What rules ask of a world: what is there, who did it, what happened since they last asked.
 */
import type { Kind, UnstructuredObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { ObjectReference } from './deviation.ts'
import { neighbourLabel, poisonLabel } from './foreign-writes.ts'
import type { History, HistoryEvent } from './history.ts'
import type { SimulatedProcess } from './process.ts'
import { groupOf, isOfKind, type QuietState } from './reference.ts'
import type { WorldView } from './scenario.ts'
import {
  describeObject,
  isRelevant,
  normalizeValue,
  ObjectTexts,
  snapshotObjects,
  snapshotService,
  type Snapshot,
} from './snapshot.ts'

interface WorldFactsOptions {
  readonly history: History
  readonly processes: readonly SimulatedProcess[]
  readonly services: object
  /** What is in a service, as the scenario says. */
  contentsOf(name: string, service: unknown): unknown
  /** How many steps the user has taken. */
  phase(): number
}

export class WorldFacts {
  readonly #parts: WorldFactsOptions
  readonly #read = new Map<string, number>()
  #view: TrueState | undefined
  /** What the program has destroyed so far, as rules note it. */
  readonly destroyed = new Set<string>()

  constructor(parts: WorldFactsOptions) {
    this.#parts = parts
  }

  /** The kinds of the program, and how everything stands. */
  get state(): TrueState {
    const { processes, history, contentsOf } = this.#parts
    this.#view ??= new TrueState(
      processes[0]?.manager?.controllers.map(({ declaration }) => declaration) ?? [],
      history,
      contentsOf,
    )
    return this.#view
  }

  /** What is there now. */
  get objects(): readonly UnstructuredObject[] {
    return [...this.#parts.history.objects.values()]
  }

  quietState(): QuietState {
    return this.state.quietState(this.#parts.phase(), this.#parts.services, this.destroyed)
  }

  /** What is in the services outside. */
  outside(): Snapshot {
    return this.state.outside(this.#parts.services)
  }

  /** For those who judge by the true world. */
  truth(): WorldView {
    return {
      outside: this.#parts.services,
      list: ({ group, kind }) =>
        this.objects.filter(
          (object) =>
            object.kind === kind &&
            (group === '' ? !object.apiVersion.includes('/') : object.apiVersion.startsWith(`${group}/`)),
        ),
    }
  }

  /** What happened since this reader last asked. */
  eventsSince(reader: string): readonly HistoryEvent[] {
    const { events } = this.#parts.history
    const from = this.#read.get(reader) ?? 0
    this.#read.set(reader, events.length)
    return from === events.length ? [] : events.slice(from)
  }

  /** Whether it was a process of the program. */
  isProcess(actor: string): boolean {
    return this.#parts.processes.some(({ name }) => name === actor)
  }

  /** Who put a finalizer on an object: `somebody` if it was no process of the program, or there from the start. */
  addedBy({ metadata: { uid } }: UnstructuredObject, finalizer: string): string {
    const first = this.#parts.history.events.find(
      ({ after, before }) =>
        after?.metadata.uid === uid &&
        after?.metadata.finalizers?.includes(finalizer) &&
        !before?.metadata.finalizers?.includes(finalizer),
    )
    return first === undefined || !this.isProcess(first.actor) ? 'somebody' : first.actor
  }

  /** Who made an object: `somebody` if it was no process of the program, or there from the start. */
  createdBy({ metadata: { uid } }: UnstructuredObject): string {
    const first = this.#parts.history.events.find(
      ({ after, before }) => before === undefined && after?.metadata.uid === uid,
    )
    return first === undefined || !this.isProcess(first.actor) ? 'somebody' : first.actor
  }

  /** Whether a process of the program ever made an object of that kind and name. */
  hasCreated({ kind, namespace, name }: ObjectReference): boolean {
    return this.#parts.history.events.some(
      ({ before, after, actor }) =>
        before === undefined &&
        after?.kind === kind &&
        after.metadata.name === name &&
        (after.metadata.namespace ?? '') === namespace &&
        this.isProcess(actor),
    )
  }

  get phase(): number {
    return this.#parts.phase()
  }

  /** The kind of a resource that is in the world. */
  kindOf(group: string, resource: string): string | undefined {
    const prefix = `/default/${group === '' ? 'core' : group}/${resource}/`
    for (const [key, { kind }] of this.#parts.history.objects) if (key.startsWith(prefix)) return kind
    return undefined
  }
}

/*
 * The true world as rules look at it: which kinds the program reconciles and owns, and how everything stands at a rest.
 */

const statusTexts = new ObjectTexts((object, naming) =>
  normalizeValue(object['status'] ?? null, naming, { generation: object.metadata.generation }),
)

/** What is asked of the program. */
const desiredTexts = new ObjectTexts(
  ({ status: _, metadata: { name, namespace = '', deletionTimestamp }, ...rest }, naming) =>
    normalizeValue({ ...rest, metadata: { name, namespace, deleting: deletionTimestamp !== undefined } }, naming),
)

/** What others put beside it. */
const givenTexts = new ObjectTexts(({ status: _, metadata: { name, namespace = '' }, ...rest }, naming) =>
  normalizeValue({ ...rest, metadata: { name, namespace } }, naming),
)

class TrueState {
  readonly #reconciled: ReadonlySet<string>
  readonly #owned: ReadonlySet<string>
  readonly #history: History
  readonly #contentsOf: (name: string, service: unknown) => unknown
  /** What the program consists of. */
  readonly declarations: readonly ControllerDeclaration[]

  /** @param contentsOf what is in a service, as plain data */
  constructor(
    declarations: readonly ControllerDeclaration[],
    history: History,
    contentsOf: (name: string, service: unknown) => unknown,
  ) {
    this.#history = history
    this.#contentsOf = contentsOf
    this.declarations = declarations
    this.#reconciled = new Set(declarations.map(({ for: kind }) => nameOf(kind)))
    this.#owned = new Set(declarations.flatMap(({ owns = [] }) => owns.map((one) => nameOf(kindOf(one)))))
  }

  isReconciled(object: Pick<UnstructuredObject, 'apiVersion' | 'kind'>): boolean {
    return isOfKind(object, this.#reconciled)
  }

  isOwned(object: Pick<UnstructuredObject, 'apiVersion' | 'kind'>): boolean {
    return isOfKind(object, this.#owned)
  }

  /** The plural of a kind that the program reconciles. */
  pluralOf({ apiVersion, kind }: Pick<UnstructuredObject, 'apiVersion' | 'kind'>): string | undefined {
    return this.declarations
      .map((declaration) => declaration.for)
      .find((one) => one.kind === kind && one.group === groupOf(apiVersion))?.plural
  }

  /** Whether something that only looked like a child has become one. */
  hasAdopted(): boolean {
    const uids = new Set(this.parents.map(({ metadata }) => metadata.uid))
    return [...this.#history.objects.values()].some(
      ({ metadata: { annotations = {}, ownerReferences = [] } }) =>
        annotations[neighbourLabel] !== undefined && ownerReferences.some(({ uid }) => uids.has(uid)),
    )
  }

  /** Objects of the kinds that the program reconciles. */
  get parents(): UnstructuredObject[] {
    return [...this.#history.objects.values()].filter(
      (object) => this.isReconciled(object) && object.metadata.annotations?.[poisonLabel] === undefined,
    )
  }

  quietState(phase: number, services: object, destroyed: ReadonlySet<string>): QuietState {
    const { objects } = this.#history
    const naming = { nameOf: (uid: string) => this.#history.nameOf(uid) }
    const outside = this.outside(services)
    const statuses = new Map(this.parents.map((object) => [describeObject(object), statusTexts.of(object, naming)]))
    return {
      phase,
      desired: this.#desired(naming),
      objects: snapshotObjects(objects.values(), naming),
      outside,
      statuses,
      destroyed: new Set(destroyed),
    }
  }

  /** What is in the services outside. */
  outside(services: object): Snapshot {
    const naming = { nameOf: (uid: string) => this.#history.nameOf(uid) }
    const found = new Map<string, readonly string[]>()
    for (const [name, service] of Object.entries(services))
      for (const [about, values] of snapshotService(name, this.#contentsOf(name, service), naming))
        found.set(about, values)
    return found
  }

  #desired(naming: { nameOf(uid: string): string | undefined }): string {
    const wanted = this.parents
      .filter((object) => (object.metadata.ownerReferences ?? []).length === 0)
      .map((object) => desiredTexts.of(object, naming))
    if (this.#history.edits > 0) wanted.push(`edits ${this.#history.edits}`)
    for (const object of this.#history.userObjects.values()) {
      if ((object.metadata.ownerReferences ?? []).length === 0 && !this.isReconciled(object) && isRelevant(object))
        wanted.push(givenTexts.of(object, naming))
    }
    return wanted.sort().join('\n')
  }
}

function nameOf({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `${group}/${kind}`
}

function kindOf(one: object): Pick<Kind, 'group' | 'kind'> {
  const kind = ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as {
    readonly group?: string
    readonly apiVersion?: string
    readonly kind: string
  }
  return { group: kind.group ?? groupOf(kind.apiVersion ?? ''), kind: kind.kind }
}
