/**
 * What rules ask of a world: what is there, who did it, what happened since they last asked.
 */
import type { UnstructuredObject } from '#api'
import type { ObjectPlace } from '../faults/deviation.ts'
import type { Life } from '../life/life.ts'
import type { WorldView } from '../scenario/scenario.ts'
import type { Snapshot } from '../state/normalize.ts'
import type { Rest } from '../state/reference.ts'
import type { Chronicle, Happening } from './chronicle.ts'
import { View } from './view.ts'

interface FactsParts {
  readonly chronicle: Chronicle
  readonly lives: readonly Life[]
  readonly services: object
  /** What is in a service, as the scenario says. */
  contentsOf(name: string, service: unknown): unknown
  /** How many steps the user has taken. */
  phase(): number
}

export class Facts {
  readonly #parts: FactsParts
  readonly #read = new Map<string, number>()
  #view: View | undefined
  /** What the program has destroyed so far, as rules note it. */
  readonly destroyed = new Set<string>()

  constructor(parts: FactsParts) {
    this.#parts = parts
  }

  /** The kinds of the program, and how everything stands. */
  get view(): View {
    const { lives, chronicle, contentsOf } = this.#parts
    this.#view ??= new View(
      lives[0]?.manager?.controllers.map(({ declaration }) => declaration) ?? [],
      chronicle,
      contentsOf,
    )
    return this.#view
  }

  /** What is there now. */
  get objects(): readonly UnstructuredObject[] {
    return [...this.#parts.chronicle.objects.values()]
  }

  rest(): Rest {
    return this.view.rest(this.#parts.phase(), this.#parts.services, this.destroyed)
  }

  /** What is in the services outside. */
  outside(): Snapshot {
    return this.view.outside(this.#parts.services)
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
  news(reader: string): readonly Happening[] {
    const { happenings } = this.#parts.chronicle
    const from = this.#read.get(reader) ?? 0
    this.#read.set(reader, happenings.length)
    return from === happenings.length ? [] : happenings.slice(from)
  }

  /** Whether it was a process of the program. */
  isLife(actor: string): boolean {
    return this.#parts.lives.some(({ name }) => name === actor)
  }

  /** Who put a finalizer on an object: `somebody` if it was no process of the program, or there from the start. */
  addedBy({ metadata: { uid } }: UnstructuredObject, finalizer: string): string {
    const first = this.#parts.chronicle.happenings.find(
      ({ after, before }) =>
        after?.metadata.uid === uid &&
        after?.metadata.finalizers?.includes(finalizer) &&
        !before?.metadata.finalizers?.includes(finalizer),
    )
    return first === undefined || !this.isLife(first.actor) ? 'somebody' : first.actor
  }

  /** Who made an object: `somebody` if it was no process of the program, or there from the start. */
  madeBy({ metadata: { uid } }: UnstructuredObject): string {
    const first = this.#parts.chronicle.happenings.find(
      ({ after, before }) => before === undefined && after?.metadata.uid === uid,
    )
    return first === undefined || !this.isLife(first.actor) ? 'somebody' : first.actor
  }

  /** Whether a process of the program ever made an object of that kind and name. */
  hasMade({ kind, namespace, name }: ObjectPlace): boolean {
    return this.#parts.chronicle.happenings.some(
      ({ before, after, actor }) =>
        before === undefined &&
        after?.kind === kind &&
        after.metadata.name === name &&
        (after.metadata.namespace ?? '') === namespace &&
        this.isLife(actor),
    )
  }

  get phase(): number {
    return this.#parts.phase()
  }

  /** The kind of a resource that is in the world. */
  kindOf(group: string, resource: string): string | undefined {
    const prefix = `/default/${group === '' ? 'core' : group}/${resource}/`
    for (const [key, { kind }] of this.#parts.chronicle.objects) if (key.startsWith(prefix)) return kind
    return undefined
  }
}
