/**
 * What rules ask of a world: what is there, who did it, what happened since they last asked.
 */
import type { UnstructuredObject } from '#api'
import type { ObjectReference } from '../faults/deviation.ts'
import type { SimulatedProcess } from '../life/life.ts'
import type { WorldView } from '../scenario/scenario.ts'
import type { Snapshot } from '../state/normalize.ts'
import type { QuietState } from '../state/reference.ts'
import type { History, HistoryEvent } from './chronicle.ts'
import { TrueState } from './view.ts'

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
