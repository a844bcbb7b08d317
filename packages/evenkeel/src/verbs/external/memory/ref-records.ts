/**
 * Records as ExternalRef objects.
 *
 * Its name follows from the uid of the owner, so two who write the first record of one object meet on the server, and
 * only one of them goes on.
 */
import { isConflict, isNotFound } from '#api'
import type { Kind } from '#api'
import type { CacheKey } from '#cache'
import type { ReconcileClient } from '#controller'
import { shortHash } from '../driver/marks.ts'
import { ExternalRef, refFinalizer } from './external-ref.ts'
import type { ExternalRefObject } from './external-ref.ts'
import { readAttempt } from './memory.ts'
import type { RecordOwner, ResourceRecord } from './memory.ts'
import type { RecordBackend, OwnedRecord } from './records.ts'

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
