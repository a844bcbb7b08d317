/**
 * Questions of the rules about a world: which objects exist, which actor made them, and what changed since the last question.
 *
 * The answers come from the history, not from the caches of the program: they are the true state.
 */
import type { Kind, UnstructuredObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { ObjectReference } from './deviation.ts'
import { neighbourLabel, otherClient, poisonLabel } from './foreign-writes.ts'
import type { History, HistoryEvent } from './history.ts'
import type { SimulatedProcess } from './process.ts'
import type { Masks } from './learned.ts'
import { desiredOf, groupOf, isOfKind, maskedState, type QuietState } from './reference.ts'
import type { Scenario, WorldView } from './scenario.ts'
import {
  describeObject,
  isRelevant,
  normalizeValue,
  ObjectTexts,
  snapshotObjects,
  snapshotService,
  type Snapshot,
} from './snapshot.ts'
import { wayOf, type Way } from './way.ts'

interface WorldFactsOptions {
  readonly history: History
  readonly processes: readonly SimulatedProcess[]
  /** The step of each quiet state. */
  readonly quietSteps: readonly number[]
  readonly services: object
  readonly scenario: Scenario
  /** Whether a process was alive until the world was quiet after the last change of another client. */
  hasNoticedOthers(): boolean
  /** How many steps the user has taken. */
  phase(): number
  /** How much time has passed by the wall clock, and the objects with a far requeue. */
  time(): Pick<QuietState, 'elapsedMs' | 'requeues'>
  /** What differs by nature, once that is known. */
  readonly masks: Masks | undefined
}

export class WorldFacts {
  readonly #parts: WorldFactsOptions
  readonly #read = new Map<string, number>()
  #view: TrueState | undefined
  #way: Way | undefined
  /** What the program has destroyed so far; the rule `churn` adds to it. */
  readonly destroyed = new Set<string>()

  constructor(parts: WorldFactsOptions) {
    this.#parts = parts
  }

  /** The kinds of the program, and the quiet state of the world. */
  get state(): TrueState {
    const { processes, history, scenario } = this.#parts
    this.#view ??= new TrueState(
      processes[0]?.manager?.controllers.map(({ declaration }) => declaration) ?? [],
      history,
      scenario,
    )
    return this.#view
  }

  /** The objects that exist now. */
  get objects(): readonly UnstructuredObject[] {
    return [...this.#parts.history.objects.values()]
  }

  quietState(): QuietState {
    return this.masked(this.unmaskedState())
  }

  /** The quiet state with what differs by nature. */
  unmaskedState(): QuietState {
    const { phase, time, services } = this.#parts
    return { ...this.state.quietState(services, this.destroyed), phase: phase(), ...time() }
  }

  masked(state: QuietState): QuietState {
    return this.#parts.masks ? maskedState(state, this.#parts.masks) : state
  }

  /** The name of an object or of an external resource, without what differs by nature. */
  nameOf(about: string, section: 'objects' | 'external'): string {
    return this.#parts.masks?.nameOf(about, section) ?? about
  }

  /** The way of the whole schedule. */
  get way(): Way {
    return (this.#way ??= this.wayWith(this.#parts.masks))
  }

  /** The way of the whole schedule, with what was learned after it. */
  wayWith(masks: Masks | undefined): Way {
    const { history, quietSteps } = this.#parts
    return wayOf({
      history,
      phaseAt: (step) => quietSteps.filter((quiet) => quiet < step).length,
      isProcess: (actor) => this.isProcess(actor),
      nameOf: (about) => masks?.nameOf(about, 'objects') ?? about,
      isDue: (object) => masks?.isDue(describeObject(object), 'objects') ?? false,
    })
  }

  /** Whether the object was made because something was due, and its name follows from that time. */
  isDue(object: UnstructuredObject): boolean {
    return this.#parts.masks?.isDue(describeObject(object), 'objects') ?? false
  }

  /** The resources in the external services. */
  external(): Snapshot {
    return this.state.external(this.#parts.services)
  }

  /** The view of the true state that a scenario receives. */
  truth(): WorldView {
    return {
      external: this.#parts.services,
      list: ({ group, kind }) =>
        this.objects.filter(
          (object) =>
            object.kind === kind &&
            !isDecoy(object) &&
            (group === '' ? !object.apiVersion.includes('/') : object.apiVersion.startsWith(`${group}/`)),
        ),
    }
  }

  /** The changes since this reader last asked. */
  eventsSince(reader: string): readonly HistoryEvent[] {
    const { events } = this.#parts.history
    const from = this.#read.get(reader) ?? 0
    this.#read.set(reader, events.length)
    return from === events.length ? [] : events.slice(from)
  }

  /**
   * Whether a process was alive until the world was quiet after the last change of another client.
   *
   * Before that it need not have observed the change, or may have died on the way to a new status.
   */
  get hasNoticedOthers(): boolean {
    return this.#parts.hasNoticedOthers()
  }

  /** Whether the actor is a process of the program. */
  isProcess(actor: string): boolean {
    return this.#parts.processes.some(({ name }) => name === actor)
  }

  /** Which process added a finalizer to an object; `otherClient` if none did. */
  addedBy({ metadata: { uid } }: UnstructuredObject, finalizer: string): string {
    const first = this.#parts.history.events.find(
      ({ after, before }) =>
        after?.metadata.uid === uid &&
        after?.metadata.finalizers?.includes(finalizer) &&
        !before?.metadata.finalizers?.includes(finalizer),
    )
    return first === undefined || !this.isProcess(first.actor) ? otherClient : first.actor
  }

  /** Which process created an object; `otherClient` if none did. */
  createdBy({ metadata: { uid } }: UnstructuredObject): string {
    const first = this.#parts.history.events.find(
      ({ after, before }) => before === undefined && after?.metadata.uid === uid,
    )
    return first === undefined || !this.isProcess(first.actor) ? otherClient : first.actor
  }

  /** Whether a process of the program ever created an object of that kind and name. */
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

  /** The kind of a resource, if an object of it exists. */
  kindOf(group: string, resource: string): string | undefined {
    const prefix = `/default/${group === '' ? 'core' : group}/${resource}/`
    for (const [key, { kind }] of this.#parts.history.objects) if (key.startsWith(prefix)) return kind
    return undefined
  }
}

const statusTexts = new ObjectTexts((object, naming) =>
  normalizeValue(object['status'] ?? null, naming, { generation: object.metadata.generation }),
)

/** The desired state: what users request from the program. */
const desiredTexts = new ObjectTexts(
  ({ status: _, metadata: { name, namespace = '', deletionTimestamp }, ...rest }, naming) =>
    normalizeValue({ ...rest, metadata: { name, namespace, deleting: deletionTimestamp !== undefined } }, naming),
)

/** Objects that other clients created beside it. */
const givenTexts = new ObjectTexts(({ status: _, metadata: { name, namespace = '' }, ...rest }, naming) =>
  normalizeValue({ ...rest, metadata: { name, namespace } }, naming),
)

/** Which kinds the program reconciles and owns, and the quiet state of the true objects. */
class TrueState {
  readonly #reconciled: ReadonlySet<string>
  readonly #owned: ReadonlySet<string>
  readonly #history: History
  readonly #scenario: Scenario
  /** The controllers of the program. */
  readonly declarations: readonly ControllerDeclaration[]

  constructor(declarations: readonly ControllerDeclaration[], history: History, scenario: Scenario) {
    this.#history = history
    this.#scenario = scenario
    this.declarations = declarations
    this.#reconciled = new Set(declarations.map(({ for: kind }) => nameOf(kind)))
    this.#owned = new Set(declarations.flatMap(({ owns = [] }) => owns.map((one) => nameOf(kindOf(one)))))
  }

  isReconciled(object: Pick<UnstructuredObject, 'apiVersion' | 'kind'>): boolean {
    return isOfKind(object, this.#reconciled)
  }

  /** A child of the program, also one that has a controller of its own: no wish of a user. */
  isChild(object: UnstructuredObject): boolean {
    const { ownerReferences = [] } = object.metadata
    return ownerReferences.some(({ apiVersion, kind }) => this.isReconciled({ apiVersion, kind }))
  }

  /** An object of a reconciled kind that a user asks for. */
  isWish(object: UnstructuredObject): boolean {
    return this.isReconciled(object) && !this.isChild(object)
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

  /** Whether the program adopted an object that only looked like a child. */
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

  quietState(services: object, destroyed: ReadonlySet<string>): Omit<QuietState, 'phase' | 'elapsedMs' | 'requeues'> {
    const { objects } = this.#history
    const naming = this.#history
    const external = this.external(services)
    const wishes = this.#wishes(naming)
    const statuses = new Map(this.parents.map((object) => [describeObject(object), statusTexts.of(object, naming)]))
    return {
      desired: desiredOf(wishes),
      wishes,
      objects: snapshotObjects(objects.values(), naming),
      external,
      statuses,
      due: new Set(),
      destroyed: new Set(destroyed),
    }
  }

  /** The resources in the external services. */
  external(services: object): Snapshot {
    return externalResources(services, { scenario: this.#scenario, naming: this.#history })
  }

  #wishes(naming: Pick<History, 'nameOf' | 'isWished'>): Snapshot {
    const found = new Map<string, string[]>()
    const add = (object: UnstructuredObject, text: string): void => {
      const about = describeObject(object)
      found.set(about, [...(found.get(about) ?? []), text])
    }
    for (const object of this.parents)
      if ((object.metadata.ownerReferences ?? []).length === 0) add(object, desiredTexts.of(object, naming))
    if (this.#history.edits > 0) found.set('edits', [String(this.#history.edits)])
    for (const object of this.#history.userObjects.values()) {
      if ((object.metadata.ownerReferences ?? []).length === 0 && !this.isReconciled(object) && isRelevant(object))
        add(object, givenTexts.of(object, naming))
    }
    return found
  }
}

/** The resources in external services. */
export function externalResources(
  services: object,
  {
    scenario,
    naming,
  }: Pick<WorldFactsOptions, 'scenario'> & { naming: Pick<History, 'nameOf'> & Partial<Pick<History, 'isWished'>> },
): Snapshot {
  const found = new Map<string, readonly string[]>()
  for (const [name, service] of Object.entries(services))
    for (const [about, values] of snapshotService(name, contentsOf(scenario, name, service), naming))
      found.set(about, values)
  return found
}

/** Another client made it only to see whether the program leaves it alone. */
function isDecoy({ metadata: { annotations = {} } }: UnstructuredObject): boolean {
  return annotations[neighbourLabel] !== undefined
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

/** The resources in a service as plain data: as the scenario says, or its own fields. */
function contentsOf({ services = {} }: Scenario, name: string, service: unknown): unknown {
  const { contents } =
    (services as Readonly<Record<string, { readonly contents?: (service: never) => unknown } | undefined>>)[name] ?? {}
  return contents ? contents(service as never) : service
}
