/**
 * ExternalRef: the durable record of one external resource, for systems that cannot store ownership labels.
 *
 *   Intent ──▶ Created (with its id) ──▶ Deleting ──▶ gone
 *
 * It is written before the create call and removed when the resource is confirmed gone. It has a finalizer and no owner
 * reference, so it survives its object. Its name is derived from the owner UID, so two processes that write the first
 * record of one object conflict on the server, and only one of them proceeds.
 */
import { declareKind, isConflict, isNotFound, type JsonObject, type Kind, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { ReconcileClient } from '#controller'
import { readVersions, type NeedVersion } from './needs.ts'
import { resourceHash } from './ownership-labels.ts'
import { readAttempt, type OwnedRecord, type RecordBackend, type RecordOwner, type ResourceRecord } from './record.ts'

export interface ExternalRefObject extends KubeObject {
  readonly spec: {
    /** The name of the driver, and the instance of the installation. */
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
    readonly needs?: readonly NeedVersion[]
  }
}

/** Every ExternalRef has it until its resource is confirmed gone. */
const refFinalizer = 'external.evenkeel.dev/resource'

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
          needs: {
            type: 'array',
            items: { type: 'object', properties: { name: text, uid: text, resourceVersion: text } },
          },
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

interface ExternalRefBackendOptions {
  readonly system: string
  readonly instance: string
  readonly kind: Pick<Kind, 'apiVersion' | 'kind'>
  readonly client: ReconcileClient
  readonly signal: AbortSignal
}

const attemptsMax = 5

/** Records as ExternalRef objects. */
export class ExternalRefBackend implements RecordBackend {
  readonly #options: ExternalRefBackendOptions

  constructor(options: ExternalRefBackendOptions) {
    this.#options = options
  }

  async find(uid: string, { live = false }: { live?: boolean } = {}): Promise<OwnedRecord | undefined> {
    const ref = await this.#find(uid, live)
    return ref?.spec.owner.uid === uid ? recordOf(ref) : undefined
  }

  async save(owner: RecordOwner, record: ResourceRecord, { force = false }: { force?: boolean } = {}): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#write(owner, record, attempt > 0)
        return
      } catch (error) {
        if (!force || !isConflict(error) || attempt >= attemptsMax) throw error
      }
    }
  }

  async #write(owner: RecordOwner, record: ResourceRecord, live: boolean): Promise<void> {
    const { client, signal } = this.#options
    const ref = await this.#find(owner.uid, live)
    const spec = this.#specOf(owner, record)
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
      const left =
        ref.metadata.deletionTimestamp === undefined
          ? await client.delete(ref, { preconditions: { uid: ref.metadata.uid ?? '' }, ignoreNotFound: true, signal })
          : ref
      if (left) await client.removeFinalizer(left as ExternalRefObject, refFinalizer, { signal })
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
    return `${system}-${instance}-${resourceHash(uid)}`
  }

  #specOf(
    { namespace, name, uid }: RecordOwner,
    { id, attempt, observedGeneration, needs, isDeleting = false }: ResourceRecord,
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
      ...(needs && { needs }),
    }
  }
}

/** Whether an ExternalRef belongs to this system and instance, and to an object of this kind. */
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
    needs,
    phase,
  },
  metadata: { deletionTimestamp },
}: ExternalRefObject): OwnedRecord {
  const record = {
    ...(id !== undefined && { id }),
    attempt: readAttempt(attempt ?? {}),
    ...(observedGeneration !== undefined && { observedGeneration }),
    needs: readVersions(needs),
    ...(phase === 'Deleting' && { isDeleting: true }),
  }
  return { owner: { namespace, name, uid }, record, isOrphaned: deletionTimestamp !== undefined }
}
