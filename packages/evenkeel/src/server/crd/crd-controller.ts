/**
 * Serves the resources of CustomResourceDefinitions.
 *
 * One loop watches the CRDs in the store. For each changed CRD it writes the accepted names into the status, updates
 * the registry, and deletes the instances of a deleted CRD. It is the only writer of the registry. Several servers
 * on one store each run it: they compute the same result, and resource versions decide who writes it.
 */
import {
  actionsAnnotation,
  deepEqual,
  formatTime,
  isConflict,
  isNotFound,
  loadPatternEngine,
  loadValidationRules,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import { assert, deferred, LightAbortController, type Clock, type Deferred, type Logger, type Random } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { Watch } from '#store'
import type { CustomResources } from '../extensions/custom-resources.ts'
import type { DeleteHandler } from '../handlers/delete.ts'
import type { UpdateHandler } from '../handlers/update.ts'
import type { Registry } from '../registry/registry.ts'
import { Warnings, type ResourceRef } from '../request-context.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { Informers } from '../informers.ts'
import { conversionFor, type ConversionOptions } from './conversion.ts'
import { CrdApiServices } from './crd-api-services.ts'
import { CrdFinalizer } from './crd-finalizer.ts'
import {
  areNamesAccepted,
  asCrd,
  crdStatus,
  isEstablished,
  isStatusCurrent,
  type CrdStatus,
  type CustomResourceDefinition,
} from './crd.ts'
import { crdResources } from './resources.ts'

interface ServedCrd {
  readonly resources: readonly Resource[]
  readonly generation: number | undefined
  /** The annotation with the actions, which is not part of the spec. */
  readonly actions: string | undefined
  readonly spec: CustomResourceDefinition['spec']
  readonly names: CrdStatus['acceptedNames']
  readonly retire: LightAbortController
  isClosed: boolean
}

interface CrdControllerOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly updates: UpdateHandler
  readonly deletes: DeleteHandler
  readonly conversions: ConversionOptions
  readonly customResources: CustomResources
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
  /**
   * Another controller writes the status of CRDs and deletes their instances: this one only serves resources.
   *
   * @default false
   */
  readonly isFollower?: boolean
}

export class CrdController {
  readonly #storage: Storage
  readonly #registry: Registry
  readonly #updates: UpdateHandler
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #stopping: AbortSignal
  readonly #isFollower: boolean
  /** The resource of CustomResourceDefinitions themselves. */
  readonly #resource: Resource
  readonly #known = new Map<string, CustomResourceDefinition>()
  readonly #served = new Map<string, ServedCrd>()
  readonly #waiting: { readonly revision: number; readonly done: Deferred<undefined> }[] = []
  #seen = 0
  readonly #conversions: ConversionOptions
  readonly #customResources: CustomResources
  readonly #endings: CrdFinalizer
  readonly #apiServices: CrdApiServices
  #source: Watch | undefined

  constructor(options: CrdControllerOptions) {
    const { storage, registry, updates, deletes, conversions, clock, random, log, stopping } = options
    this.#storage = storage
    this.#registry = registry
    this.#updates = updates
    this.#clock = clock
    this.#random = random
    this.#log = log
    this.#stopping = stopping
    this.#isFollower = options.isFollower ?? false
    this.#resource = crdResource(registry)
    this.#conversions = conversions
    this.#customResources = options.customResources
    this.#apiServices = new CrdApiServices(options)
    this.#endings = new CrdFinalizer({
      storage,
      registry,
      deletes,
      clock,
      log,
      stopping,
      now: () => this.#now(),
      write: (definition, change) => this.#change(definition, change),
    })
  }

  /** Serves the existing CRDs; then follows changes until `stop`. */
  async start(): Promise<void> {
    const { store } = this.#storage
    const range = await store.range(this.#prefix)
    if (!range.ok) throw new Error('cannot read CustomResourceDefinitions')
    for (const entry of range.entries) this.#learn(entry.key, new StoredObject(entry.value, entry.revision).object)
    for (const key of [...this.#known.keys()]) await this.#settleSafely(key)
    this.#seen = range.revision
    this.#source = store.watch(this.#prefix, { after: range.revision })
    this.#follow(this.#source).catch((error: unknown) => {
      this.#log.error('watch of CustomResourceDefinitions failed: the server does not see later changes', { error })
    })
  }

  stop(reason = new Error('the server is stopping')): void {
    this.#source?.close()
    for (const { retire } of this.#served.values()) retire.abort(reason)
  }

  /** Resolves when all changes up to a revision are processed. */
  async waitForRevision(revision: number): Promise<void> {
    if (this.#seen >= revision || this.#source === undefined) return
    const done = deferred<undefined>()
    this.#waiting.push({ revision, done })
    // The revision may belong to another key: then only a progress notification shows that it was reached.
    this.#source.requestProgress()
    await done.promise
  }

  get #prefix(): string {
    return this.#storage.prefixOf(this.#resource)
  }

  async #follow(source: Watch): Promise<void> {
    for await (const { revision, changes } of source) {
      for (const { key, entry } of changes) {
        if (entry) this.#learn(key, new StoredObject(entry.value, entry.revision).object)
        else this.#forget(key)
      }
      for (const key of new Set(changes.map((change) => change.key))) await this.#settleSafely(key)
      await this.#publishSafely()
      this.#seen = revision
      this.#release(revision)
    }
    this.#release(Number.POSITIVE_INFINITY)
  }

  /** APIServices are for clients: the resources are served without them. */
  async #publishSafely(): Promise<void> {
    if (this.#isFollower) return
    try {
      await this.#apiServices.sync()
    } catch (error) {
      this.#log.error('cannot write the APIServices of custom resources', { error })
    }
  }

  #release(revision: number): void {
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.revision <= revision) waiting.done.resolve(undefined)
      else this.#waiting.push(waiting)
    }
  }

  #learn(key: string, object: UnstructuredObject): void {
    this.#known.set(key, asCrd(object))
  }

  #forget(key: string): void {
    this.#known.delete(key)
    this.#retire(key)
  }

  /** A CRD that cannot be served must not block the others. */
  async #settleSafely(key: string): Promise<void> {
    try {
      await this.#settleWithNeighbours(key)
    } catch (error) {
      this.#log.error('cannot serve CustomResourceDefinition', { object: this.#known.get(key)?.metadata.name, error })
    }
  }

  /** A deleted or changed CRD may have freed names: CRDs that wait for one are reconciled again. */
  async #settleWithNeighbours(key: string): Promise<void> {
    await this.#settle(key)
    for (const [other, definition] of this.#known)
      if (other !== key && !areNamesAccepted(definition)) await this.#settle(other)
  }

  async #settle(key: string): Promise<void> {
    const definition = this.#known.get(key)
    if (definition === undefined) return
    const others = [...this.#known].filter(([other]) => other !== key).map(([, other]) => other)
    const wanted = crdStatus(definition, others, this.#now())
    const isCurrent = isStatusCurrent(definition, wanted)
    // The status of the other controller is another event.
    if (!isCurrent && this.#isFollower) return
    const current = isCurrent ? definition : await this.#write(key, definition, wanted)
    if (current === undefined) return
    await loadPatternEngine()
    await loadValidationRules(current)
    this.#serve(key, current)
    if (!this.#isFollower && CrdFinalizer.isDue(current))
      await this.#endings.begin(current, this.#served.get(key)?.resources[0] ?? this.#unserved(current))
  }

  /** Writes the status; undefined when the CRD changed meanwhile, which triggers another event. */
  async #write(
    key: string,
    definition: CustomResourceDefinition,
    status: CrdStatus,
  ): Promise<CustomResourceDefinition | undefined> {
    try {
      const { stored } = await this.#updates.update(
        (current) => {
          const draft = parseJson(stringifyJson(current)) as ObjectDraft
          draft['status'] = { ...(draft['status'] as object), ...(status as object) }
          return draft
        },
        {
          context: { warnings: new Warnings() },
          target: this.#target(definition, 'status'),
          dryRun: false,
        },
      )
      this.#learn(key, stored.object)
      return asCrd(stored.object)
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined
      this.#log.error('cannot write the status of a CustomResourceDefinition', {
        object: definition.metadata.name,
        error,
      })
      return undefined
    }
  }

  #serve(key: string, definition: CustomResourceDefinition): void {
    const before = this.#served.get(key)
    if (!isEstablished(definition)) {
      this.#retire(key)
      return
    }
    const {
      metadata: { generation, resourceVersion = '0', annotations },
      spec,
    } = definition
    const actions = annotations?.[actionsAnnotation]
    const names = definition.status?.acceptedNames
    // A deletion is a new generation with the same spec: existing watches must see the deletion of the instances.
    const isSame =
      before !== undefined &&
      before.actions === actions &&
      (before.generation === generation || deepEqual(before.spec, spec)) &&
      deepEqual(before.names, names)
    if (isSame) {
      this.#close(before, definition)
      return
    }
    const retire = new LightAbortController()
    const resources = this.#resources(key, definition, { since: Number(resourceVersion), retired: retire.signal })
    this.#retire(key)
    for (const resource of resources) this.#registry.add(resource)
    this.#served.set(key, {
      resources,
      generation,
      actions,
      spec,
      names,
      retire,
      isClosed: definition.metadata.deletionTimestamp !== undefined,
    })
  }

  /** A terminating resource has fewer verbs: discovery and OpenAPI must be rebuilt. */
  #close(serving: ServedCrd, { metadata: { deletionTimestamp } }: CustomResourceDefinition): void {
    if (serving.isClosed || deletionTimestamp === undefined) return
    serving.isClosed = true
    for (const resource of serving.resources) this.#registry.add(resource)
  }

  #resources(
    key: string,
    definition: CustomResourceDefinition,
    { since, retired }: { since: number; retired: AbortSignal },
  ): Resource[] {
    const [clock, random, registry] = [this.#clock, this.#random, this.#registry]
    const conversion = conversionFor(definition, { ...this.#conversions, clock, random, retired })
    const isClosed = (): boolean => this.#known.get(key)?.metadata.deletionTimestamp !== undefined
    const { group, names } = definition.spec
    const added = this.#customResources.find({ group, kind: names.kind })
    // Built-in kinds cannot be redefined, even by a CRD that claims permission for it.
    return crdResources(definition, { since, retired, conversion, isClosed, added }).filter(
      ({ group, version, plural }) => registry.find(group, version, plural)?.custom !== false,
    )
  }

  /** A resource for a CRD whose objects are stored but not served in any version. */
  #unserved(definition: CustomResourceDefinition): Resource | undefined {
    const { metadata, spec, status } = definition
    const versions = spec.versions.map((version) => ({ ...version, served: true }))
    return this.#resources(
      '',
      { metadata, spec: { ...spec, versions }, ...(status && { status }) },
      { since: Number(metadata.resourceVersion ?? 0), retired: this.#stopping },
    )[0]
  }

  #retire(key: string): void {
    const serving = this.#served.get(key)
    if (serving === undefined) return
    this.#served.delete(key)
    for (const resource of serving.resources) this.#registry.remove(resource)
    serving.retire.abort(new Error('the definition of the resource changed'))
  }

  /** Updates the current state of a CRD, status included. */
  async #change(definition: CustomResourceDefinition, change: (draft: ObjectDraft) => void): Promise<void> {
    await this.#updates.update(
      (current) => {
        const draft = parseJson(stringifyJson(current)) as ObjectDraft
        change(draft)
        return draft
      },
      {
        context: { warnings: new Warnings() },
        target: this.#target(definition, 'status'),
        dryRun: false,
      },
    )
  }

  #target({ metadata: { name = '' } }: CustomResourceDefinition, part?: string): ResourceRef {
    const subresource = this.#resource.subresources.find((one) => one.name === part)
    return { resource: this.#resource, namespace: '', name, ...(subresource && { subresource }) }
  }

  #now(): string {
    return formatTime(this.#clock.now())
  }
}

function crdResource(registry: Registry): Resource {
  const resource = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')
  assert(resource, 'CustomResourceDefinitions are built in')
  return resource
}
