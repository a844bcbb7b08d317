/**
 * Serves what CustomResourceDefinitions define, as they come, change and go.
 *
 * One loop watches the definitions in the store and, for each that changed, says in its status which names it got,
 * puts its resources into the registry, and empties it when it is being deleted. It is the only one that changes the
 * registry. Several servers on one store each run it: they come to the same and agree on who writes by versions.
 */
import { deepEqual, formatTime, isConflict, isNotFound } from '#api'
import type { UnstructuredObject } from '#api'
import { deferred } from '#base'
import type { Deferred } from '#base'
import type { Watch } from '#store'
import type { Rooms, Target } from '../call.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import { keyPrefix } from '../storage/keys.ts'
import { modify } from '../walks/modify.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import { Warnings } from '../answers/warnings.ts'
import { asDefinition } from './definition.ts'
import type { Definition, DefinitionStatus } from './definition.ts'
import { cleanupFinalizer } from '../builtin/rules/cluster/definition-deletion.ts'
import { removeInstances } from './cleanup.ts'
import { isEstablished, isSettled, statusOf } from './naming.ts'
import { preparePatterns } from './patterns.ts'
import { resourcesOf } from './served.ts'

/** How long to wait before looking again whether the last instances are gone. */
const cleanupRetryMs = 1000

interface Serving {
  readonly resources: readonly Resource[]
  readonly generation: number | undefined
  readonly names: DefinitionStatus['acceptedNames']
  readonly isTerminating: boolean
  readonly since: number
  readonly retire: AbortController
}

export class Definitions {
  readonly #rooms: Rooms
  readonly #resource: Resource
  readonly #known = new Map<string, Definition>()
  readonly #served = new Map<string, Serving>()
  readonly #waiting: { readonly revision: number, readonly done: Deferred<undefined> }[] = []
  #seen = 0
  #source: Watch | undefined

  constructor(rooms: Rooms, resource: Resource) {
    this.#rooms = rooms
    this.#resource = resource
  }

  /** Serves what is defined already; from then on follows changes, until `stop`. */
  async start(): Promise<void> {
    const { store } = this.#rooms
    const range = await store.range(this.#prefix)
    if (!range.ok) throw new Error('definitions could not be read')
    for (const entry of range.entries) this.#learn(entry.key, new StoredObject(entry.value, entry.revision).object)
    for (const key of this.#known.keys()) await this.#settle(key)
    this.#seen = range.revision
    this.#source = store.watch(this.#prefix, { after: range.revision })
    this.#follow(this.#source).catch((error: unknown) => { this.#rooms.log.error('definitions are no longer followed', { error }) })
  }

  stop(): void {
    this.#source?.close()
  }

  /** Resolves once everything up to a revision has been taken in. */
  async caughtUp(revision: number): Promise<void> {
    if (this.#seen >= revision || this.#source === undefined) return
    const done = deferred<undefined>()
    this.#waiting.push({ revision, done })
    // The revision may be somebody else's: then only progress says that we are there.
    this.#source.requestProgress()
    await done.promise
  }

  get #prefix(): string {
    return keyPrefix(this.#rooms.cluster, this.#resource.storage)
  }

  async #follow(source: Watch): Promise<void> {
    for await (const { revision, changes } of source) {
      for (const { key, entry } of changes) {
        if (entry) this.#learn(key, new StoredObject(entry.value, entry.revision).object)
        else this.#forget(key)
      }
      for (const key of new Set(changes.map((change) => change.key))) await this.#settleWithNeighbours(key)
      this.#seen = revision
      this.#release(revision)
    }
    this.#release(Number.POSITIVE_INFINITY)
  }

  #release(revision: number): void {
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.revision <= revision) waiting.done.resolve(undefined)
      else this.#waiting.push(waiting)
    }
  }

  #learn(key: string, object: UnstructuredObject): void {
    this.#known.set(key, asDefinition(object))
  }

  #forget(key: string): void {
    this.#known.delete(key)
    this.#retire(key)
  }

  /** A definition that went has freed its names: those of its group that wait for one are looked at again. */
  async #settleWithNeighbours(key: string): Promise<void> {
    if (this.#known.has(key)) {
      await this.#settle(key)
      return
    }
    for (const [other, definition] of this.#known) if (!isEstablished(definition)) await this.#settle(other)
  }

  async #settle(key: string): Promise<void> {
    const definition = this.#known.get(key)
    if (definition === undefined) return
    const others = [...this.#known].filter(([other]) => other !== key).map(([, other]) => other)
    const wanted = statusOf(definition, others, this.#now())
    const current = isSettled(definition, wanted) ? definition : await this.#write(key, definition, wanted)
    if (current === undefined) return
    await preparePatterns()
    this.#serve(key, current)
    if (current.metadata.deletionTimestamp !== undefined && current.metadata.finalizers?.includes(cleanupFinalizer)) await this.#empty(key, current)
  }

  /** Writes the status; undefined when the definition changed meanwhile, which will be told. */
  async #write(key: string, definition: Definition, status: DefinitionStatus): Promise<Definition | undefined> {
    try {
      const { stored } = await modify((current) => {
        const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft
        draft['status'] = { ...draft['status'] as object, ...status as object } as never
        return draft
      }, { call: { warnings: new Warnings() }, target: this.#target(definition, 'status'), rooms: this.#rooms, dryRun: false })
      this.#learn(key, stored.object)
      return asDefinition(stored.object)
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined
      this.#rooms.log.error('the status of a definition could not be written', { object: definition.metadata.name, error })
      return undefined
    }
  }

  #serve(key: string, definition: Definition): void {
    const before = this.#served.get(key)
    if (!isEstablished(definition)) {
      this.#retire(key)
      return
    }
    const { generation, resourceVersion = '0', deletionTimestamp } = definition.metadata
    const names = definition.status?.acceptedNames
    const isTerminating = deletionTimestamp !== undefined
    const isSame = before?.generation === generation && deepEqual(before?.names, names)
    if (before && isSame && before.isTerminating === isTerminating) return
    const since = before && isSame ? before.since : Number(resourceVersion)
    const retire = new AbortController()
    const resources = resourcesOf(definition, { since, retired: retire.signal })
    this.#retire(key)
    for (const resource of resources) this.#rooms.registry.add(resource)
    this.#served.set(key, { resources, generation, names, isTerminating, since, retire })
  }

  #retire(key: string): void {
    const serving = this.#served.get(key)
    if (serving === undefined) return
    this.#served.delete(key)
    for (const resource of serving.resources) this.#rooms.registry.remove(resource)
    serving.retire.abort(new Error('the definition of the resource changed'))
  }

  async #empty(key: string, definition: Definition): Promise<void> {
    const [resource] = this.#served.get(key)?.resources ?? resourcesOf(definition, { since: 0, retired: this.#rooms.stopping })
    const left = resource ? await removeInstances(resource, this.#rooms) : 0
    if (left > 0) {
      this.#rooms.clock.after(cleanupRetryMs, () => {
        const again = this.#known.get(key)
        if (again && !this.#rooms.stopping.aborted) this.#empty(key, again).catch((error: unknown) => { this.#rooms.log.error('instances could not be deleted', { error }) })
      })
      return
    }
    await modify((current) => {
      const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft
      draft.metadata['finalizers'] = (current.metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer)
      return draft
    }, { call: { warnings: new Warnings() }, target: this.#target(definition), rooms: this.#rooms, dryRun: false }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }

  #target({ metadata: { name = '' } }: Definition, part?: string): Target {
    const subresource = this.#resource.subresources.find((one) => one.name === part)
    return { resource: this.#resource, namespace: '', name, ...subresource && { subresource } }
  }

  #now(): string {
    return formatTime(this.#rooms.clock.now())
  }
}
