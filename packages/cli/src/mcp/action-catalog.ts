/**
 * The actions of all installed kinds, kept up to date by a watch of the CustomResourceDefinitions.
 *
 * Without the permission to list them the catalog stays empty, and the tool `act` looks up each kind by itself.
 */
import {
  actionsAnnotation,
  isJsonObject,
  readActionDefinitions,
  type ActionDefinition,
  type JsonObject,
} from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { deferred, sleep } from 'evenkeel/unstable/base'
import { failureOf } from '../failure.ts'
import { watchObjects, type ObjectChange } from '../object-watch.ts'
import type { Scope } from './scope.ts'

/** A kind with its actions. */
export interface KindActions {
  /** `lamps.test.dev` */
  readonly name: string
  /** `lamp` */
  readonly singular: string
  readonly group: string
  readonly namespaced: boolean
  readonly actions: readonly ActionDefinition[]
}

const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }

/** Before the next attempt after an error, and when a person would have to change permissions first. */
const pauseMs = 5000
const longPauseMs = 60_000

export class ActionCatalog {
  readonly #scope: Scope
  readonly #log: (text: string) => void
  readonly #kinds = new Map<string, KindActions>()
  readonly #listeners = new Set<() => void>()
  readonly #looked = deferred<void>()

  constructor(scope: Scope, { log }: { readonly log: (text: string) => void }) {
    this.#scope = scope
    this.#log = log
  }

  /** Resolves when the kinds were read for the first time, or cannot be read. */
  get looked(): Promise<void> {
    return this.#looked.promise
  }

  /** By name. With a namespace limit without cluster-scoped kinds. */
  get kinds(): readonly KindActions[] {
    return [...this.#kinds.values()]
      .filter(({ namespaced }) => namespaced || this.#scope.limit === undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Calls back when a kind or its actions changed. Returns the end of it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends with the signal. */
  async run(signal: AbortSignal): Promise<void> {
    let last = ''
    while (!signal.aborted) {
      try {
        const changes = watchObjects(await this.#scope.client(), crdKind, { signal, clock: this.#scope.clock })
        for await (const change of changes) this.#take(change)
      } catch (error) {
        if (signal.aborted) return
        this.#scope.noteError(error)
        const failure = failureOf(error)
        const { message } = failure ?? (error as Error)
        if (message !== last) this.#log(`cannot watch CustomResourceDefinitions: ${message}`)
        last = message
        this.#looked.resolve()
        await sleep(this.#scope.clock, failure?.code === 'not-allowed' ? longPauseMs : pauseMs, { signal }).catch(
          () => undefined,
        )
      }
    }
  }

  #take(change: ObjectChange): void {
    const before = JSON.stringify(this.kinds)
    if (change.type === 'LISTED') this.#kinds.clear()
    for (const object of change.type === 'LISTED' ? change.objects : [change.object]) {
      const found = change.type === 'DELETED' ? undefined : kindActionsOf(object)
      if (found) this.#kinds.set(object.metadata.name ?? '', found)
      else this.#kinds.delete(object.metadata.name ?? '')
    }
    this.#looked.resolve()
    if (JSON.stringify(this.kinds) === before) return
    for (const listener of this.#listeners) listener()
  }
}

/** Undefined for a kind without actions. */
function kindActionsOf(crd: KubeObject): KindActions | undefined {
  const actions = readActionDefinitions(crd.metadata.annotations?.[actionsAnnotation])
  const { spec } = crd as { spec?: JsonObject }
  const { names, group, scope } = spec ?? {}
  if (actions.length === 0 || !isJsonObject(names)) return undefined
  const singular = String(names['singular'] ?? names['kind'] ?? '').toLowerCase()
  return { name: crd.metadata.name ?? '', singular, group: String(group), namespaced: scope === 'Namespaced', actions }
}
