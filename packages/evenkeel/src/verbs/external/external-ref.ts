/**
 * ExternalRef: a record of ours for one thing outside, for systems that cannot say themselves whose it is.
 *
 *   Intent ──▶ Created (with its id) ──▶ Deleting ──▶ gone
 *
 * It is written before the thing is made and goes when the thing is confirmed gone. It has a finalizer and no owner
 * reference: it must outlive the object, whatever happens to that.
 */
import { declareKind, isConflict, isNotFound, type JsonObject, type Kind, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { ReconcileClient } from '#controller'
import { shortHash } from './ownership-labels.ts'
import { readAttempt, type OwnedRecord, type RecordBackend, type RecordOwner, type ResourceRecord } from './record.ts'

export interface ExternalRefObject extends KubeObject {
  readonly spec: {
    /** The driver, and the installation. */
    readonly system: string
    readonly instance: string
    readonly owner: {
      readonly apiVersion: string
      readonly kind: string
      readonly namespace?: string
      readonly name: string
      readonly uid: string
    }
    readonly phase: 'Intent' | 'Created' | 'Deleting'
    readonly id?: string
    readonly attempt?: {
      readonly number: number
      readonly key: string
      readonly time: string
      readonly outcome: string
    }
    readonly observedGeneration?: number
  }
}

/** On every ExternalRef: it stays until its thing is confirmed gone. */
const refFinalizer = 'external.evenkeel.dev/thing'

const text: JsonObject = { type: 'string' }
const count: JsonObject = { type: 'integer', format: 'int64' }

export const ExternalRef = declareKind<ExternalRefObject>({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'ExternalRef',
  scope: 'Cluster',
  statusSubresource: false,
  printerColumns: [
    { name: 'System', type: 'string', jsonPath: '.spec.system' },
    { name: 'Phase', type: 'string', jsonPath: '.spec.phase' },
    { name: 'Id', type: 'string', jsonPath: '.spec.id' },
    { name: 'Owner', type: 'string', jsonPath: '.spec.owner.name' },
  ],
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        required: ['system', 'instance', 'owner', 'phase'],
        properties: {
          system: text,
          instance: text,
          id: text,
          observedGeneration: count,
          phase: { type: 'string', enum: ['Intent', 'Created', 'Deleting'] },
          owner: {
            type: 'object',
            required: ['apiVersion', 'kind', 'name', 'uid'],
            properties: { apiVersion: text, kind: text, namespace: text, name: text, uid: text },
          },
          attempt: {
            type: 'object',
            required: ['key', 'outcome'],
            properties: { number: count, key: text, time: text, outcome: text },
          },
        },
      },
    },
  },
})

/*
 * Records as ExternalRef objects.
 *
 * Its name follows from the uid of the owner, so two who write the first record of one object meet on the server, and
 * only one of them goes on.
 */

interface ExternalRefBackendOptions {
  readonly system: string
  readonly instance: string
  readonly kind: Pick<Kind, 'apiVersion' | 'kind'>
  readonly client: ReconcileClient
  readonly signal: AbortSignal
}

const attemptsMax = 5

export class ExternalRefBackend implements RecordBackend {
  readonly #options: ExternalRefBackendOptions

  constructor(options: ExternalRefBackendOptions) {
    this.#options = options
  }

  async find(uid: string, { live = false }: { live?: boolean } = {}): Promise<OwnedRecord | undefined> {
    const ref = await this.#find(uid, live)
    return ref?.spec.owner.uid === uid ? recordOf(ref) : undefined
  }

  async save(
    owner: RecordOwner,
    remembered: ResourceRecord,
    { isSure = false }: { isSure?: boolean } = {},
  ): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#write(owner, remembered, attempt > 0)
        return
      } catch (error) {
        if (!isSure || !isConflict(error) || attempt >= attemptsMax) throw error
      }
    }
  }

  async #write(owner: RecordOwner, remembered: ResourceRecord, live: boolean): Promise<void> {
    const { client, signal } = this.#options
    const ref = await this.#find(owner.uid, live)
    const spec = this.#specOf(owner, remembered)
    if (!ref)
      await client.create(
        ExternalRef,
        {
          apiVersion: ExternalRef.apiVersion,
          kind: ExternalRef.kind,
          metadata: { name: this.#nameFor(owner.uid), finalizers: [refFinalizer] },
          spec,
        },
        { signal },
      )
    else await client.patchFrom(ref, { ...ref, spec }, { signal })
  }

  async remove(uid: string): Promise<void> {
    const { client, signal } = this.#options
    const ref = await this.#find(uid, false)
    if (!ref) return
    try {
      const held =
        ref.metadata.deletionTimestamp === undefined
          ? await client.delete(ref, { preconditions: { uid: ref.metadata.uid ?? '' }, ignoreNotFound: true, signal })
          : ref
      if (held) await client.removeFinalizer(held as ExternalRefObject, refFinalizer, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async ofKey({ name, namespace = '' }: CacheKey): Promise<readonly OwnedRecord[]> {
    const { client, signal } = this.#options
    const { items } = await client.list(ExternalRef, { signal })
    const mine = items.filter(
      (ref) =>
        isRefOf(ref as ExternalRefObject, this.#options) &&
        ref.spec.owner.name === name &&
        (ref.spec.owner.namespace ?? '') === namespace,
    )
    return mine.map((ref) => recordOf(ref as ExternalRefObject)).sort((a, b) => (a.owner.uid < b.owner.uid ? -1 : 1))
  }

  async #find(uid: string, live: boolean): Promise<ExternalRefObject | undefined> {
    const { client, signal } = this.#options
    return (await client.find(ExternalRef, { name: this.#nameFor(uid) }, { live, signal })) as
      | ExternalRefObject
      | undefined
  }

  #nameFor(uid: string): string {
    const { system, instance } = this.#options
    return `${system}-${instance}-${shortHash(uid)}`
  }

  #specOf(
    { namespace, name, uid }: RecordOwner,
    { id, attempt, observedGeneration, isDeleting = false }: ResourceRecord,
  ): ExternalRefObject['spec'] {
    const {
      system,
      instance,
      kind: { apiVersion, kind },
    } = this.#options
    return {
      system,
      instance,
      owner: { apiVersion, kind, ...(namespace !== '' && { namespace }), name, uid },
      phase: isDeleting ? 'Deleting' : id === undefined ? 'Intent' : 'Created',
      ...(id !== undefined && { id }),
      ...(attempt && { attempt }),
      ...(observedGeneration !== undefined && { observedGeneration }),
    }
  }
}

/** Whether a ref is about a thing of this installation, for an object of this kind. */
export function isRefOf(
  { spec: { system, instance, owner } }: ExternalRefObject,
  of: Pick<ExternalRefBackendOptions, 'system' | 'instance' | 'kind'>,
): boolean {
  return (
    system === of.system &&
    instance === of.instance &&
    owner.kind === of.kind.kind &&
    groupOf(owner.apiVersion) === groupOf(of.kind.apiVersion)
  )
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

function recordOf({
  spec: {
    owner: { namespace = '', name, uid },
    id,
    attempt,
    observedGeneration,
    phase,
  },
  metadata: { deletionTimestamp },
}: ExternalRefObject): OwnedRecord {
  const remembered = {
    ...(id !== undefined && { id }),
    attempt: readAttempt(attempt ?? {}),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(phase === 'Deleting' && { isDeleting: true }),
  }
  return { owner: { namespace, name, uid }, remembered, isLetGo: deletionTimestamp !== undefined }
}
