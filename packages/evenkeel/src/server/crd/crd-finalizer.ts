/**
 * The deletion of CRDs: their instances are deleted first, and the condition `Terminating` reports each step.
 *
 * The deletes are sent once; then the finalizer polls until the last instance is gone. After a minute it reports the
 * delay and starts again. Only one finalization of a CRD runs at a time.
 */
import { isNotFound, setCondition, type Condition, type NewCondition } from '#api'
import { sleep, type Clock, type Logger } from '#base'
import { crdCleanupFinalizer, type ObjectDraft, type Resource } from '@evenkeel/builtins'
import type { DeleteHandler } from '../handlers/delete.ts'
import type { Registry } from '../registry/registry.ts'
import { inStorageVersion } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { isEstablished, type CustomResourceDefinition } from './crd.ts'

/** The interval of checks for remaining instances. */
const pollMs = 1000
/** How long the deletion may take before the status reports a delay. */
const patienceMs = 60_000
/** The longest backoff after failed deletions. */
const retryMaxMs = 60_000

type FinalizeOutcome = 'gone' | 'waiting' | 'failed'

interface CrdFinalizerOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly deletes: DeleteHandler
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
  /** Changes the current CRD, status included. */
  readonly write: (definition: CustomResourceDefinition, change: (draft: ObjectDraft) => void) => Promise<void>
  readonly now: () => string
}

export class CrdFinalizer {
  readonly #options: CrdFinalizerOptions
  readonly #underWay = new Set<string>()

  constructor(options: CrdFinalizerOptions) {
    this.#options = options
  }

  /** Whether a CRD is being deleted and still has its finalizer. */
  static isDue({ metadata: { deletionTimestamp, finalizers } }: CustomResourceDefinition): boolean {
    return deletionTimestamp !== undefined && (finalizers?.includes(crdCleanupFinalizer) ?? false)
  }

  /** Resolves when the instances are gone, or when the deletion takes longer and continues in the background. */
  async begin(definition: CustomResourceDefinition, resource: Resource | undefined): Promise<void> {
    const { name = '' } = definition.metadata
    if (this.#underWay.has(name)) return
    this.#underWay.add(name)
    const attempt = (): Promise<boolean> => this.#attempt(definition, resource)
    if ((await this.#safely(attempt)) === 'gone') this.#underWay.delete(name)
    else void this.#goOn(definition, attempt).finally(() => this.#underWay.delete(name))
  }

  /** Whether the finalizer was removed. */
  async #attempt(definition: CustomResourceDefinition, resource: Resource | undefined): Promise<boolean> {
    const reason =
      !isEstablished(definition) || resource === undefined
        ? neverEstablished
        : this.#overlaps(definition)
          ? overlapping
          : undefined
    await this.#say(definition, inProgress)
    if (reason === undefined && resource !== undefined && (await this.#remove(definition, resource)) > 0) return false
    await this.#options.write(definition, (draft) => {
      this.#set(draft, reason ?? completed)
      draft.metadata['finalizers'] = ((draft.metadata['finalizers'] as string[] | undefined) ?? []).filter(
        (name) => name !== crdCleanupFinalizer,
      )
    })
    return true
  }

  async #remove(definition: CustomResourceDefinition, resource: Resource): Promise<number> {
    try {
      return await deleteInstances(resource, this.#options)
    } catch (error) {
      await this.#say(definition, {
        ...inProgress,
        reason: 'InstanceDeletionFailed',
        message: `could not issue all deletes: ${(error as Error).message}`,
      })
      throw error
    }
  }

  async #goOn(definition: CustomResourceDefinition, attempt: () => Promise<boolean>): Promise<void> {
    const { clock, stopping } = this.#options
    let waitMs = pollMs
    for (let began = clock.monotonic(); !stopping.aborted;) {
      await sleep(clock, waitMs, { signal: stopping }).catch(() => undefined)
      const outcome = stopping.aborted ? 'gone' : await this.#safely(attempt)
      if (outcome === 'gone') return
      waitMs = outcome === 'failed' ? Math.min(2 * waitMs, retryMaxMs) : pollMs
      if (clock.monotonic() - began < patienceMs) continue
      began = clock.monotonic()
      await this.#safely(() => this.#say(definition, unconfirmed).then(() => false))
    }
  }

  async #safely(attempt: () => Promise<boolean>): Promise<FinalizeOutcome> {
    try {
      return (await attempt()) ? 'gone' : 'waiting'
    } catch (error) {
      if (isNotFound(error)) return 'gone'
      if (!this.#options.stopping.aborted)
        this.#options.log.error('cannot delete the objects of a CustomResourceDefinition', { error })
      return 'failed'
    }
  }

  #overlaps({
    spec: {
      group,
      names: { plural },
    },
  }: CustomResourceDefinition): boolean {
    return this.#options.registry
      .all()
      .some(({ custom, storage }) => !custom && storage.group === group && storage.plural === plural)
  }

  async #say(definition: CustomResourceDefinition, condition: NewCondition): Promise<void> {
    await this.#options.write(definition, (draft) => {
      this.#set(draft, condition)
    })
  }

  #set(draft: ObjectDraft, condition: NewCondition): void {
    const status = (draft['status'] as { conditions?: readonly Condition[] } | undefined) ?? {}
    draft['status'] = {
      ...status,
      conditions: setCondition(status.conditions, condition, { now: this.#options.now() }),
    }
  }
}

const inProgress = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
} as const
const unconfirmed = {
  ...inProgress,
  reason: 'InstanceDeletionCheck',
  message: 'could not confirm zero CustomResources remaining: context deadline exceeded',
} as const
const completed = {
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
} as const
const neverEstablished = {
  type: 'Terminating',
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
} as const
const overlapping = {
  type: 'Terminating',
  status: 'False',
  reason: 'OverlappingBuiltInResource',
  message: 'instances overlap with built-in resources in storage',
} as const

const deleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  uid: undefined,
  resourceVersion: undefined,
}

/** Deletes every object of a resource; returns how many remain, for example because of finalizers. */
async function deleteInstances(resource: Resource, { storage, deletes }: CrdFinalizerOptions): Promise<number> {
  const prefix = storage.prefixOf(resource)
  const range = await storage.store.range(prefix)
  if (!range.ok) return 1
  for (const { value, revision } of range.entries) {
    const {
      metadata: { name = '', namespace = '' },
    } = new StoredObject(value, revision).object
    await deletes
      .delete({ resource: inStorageVersion(resource), name, namespace }, deleteOptions)
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
  }
  const left = await storage.store.range(prefix, { limit: 1 })
  return left.ok ? left.entries.length + left.remaining : 1
}
