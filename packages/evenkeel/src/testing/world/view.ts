/**
 * The true world as rules look at it: which kinds the program reconciles and owns, and how everything stands at a rest.
 */
import type { Kind, UnstructuredObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { describeObject, isRelevant, normalizeValue, snapshotObjects, snapshotService } from '../state/normalize.ts'
import type { Snapshot } from '../state/normalize.ts'
import { ObjectTexts } from '../state/object-texts.ts'
import { groupOf, isOfKind } from '../state/reference.ts'
import type { QuietState } from '../state/reference.ts'
import type { History } from './chronicle.ts'
import { neighbourLabel, poisonLabel } from './deeds.ts'

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

export class TrueState {
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
