/**
 * Remembering in `status.external` of the object itself: no other object, and one write more for each thing that is made.
 *
 * The write before a create names the version of the object that this run has seen, so a run with an old view of the
 * world is refused there, before it does anything outside.
 */
import type { ExternalReport, JsonObject, KubeObject } from '#api'
import { getOwn, isJsonObject } from '#api'
import type { Kind } from '#api'
import type { ReconcileClient } from '#controller'
import { readAttempt } from './memory.ts'
import type { RecordStore, ResourceRecord } from './memory.ts'

/** Whether the schema of a kind has `status.external`. */
export function hasExternalStatus({ schema, subresources }: Pick<Kind, 'schema' | 'subresources'>): boolean {
  if (!schema || !subresources.status) return false
  const status = propertyOf(schema, 'status')
  return status !== undefined && propertyOf(status, 'external') !== undefined
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const property = isJsonObject(properties) ? getOwn(properties, name) : undefined
  return isJsonObject(property) ? property : undefined
}

interface StatusRecordStoreOptions {
  readonly object: KubeObject
  readonly client: ReconcileClient
  readonly signal: AbortSignal
}

export class StatusRecordStore implements RecordStore {
  readonly isSeparate = false
  readonly #client: ReconcileClient
  readonly #signal: AbortSignal
  #object: KubeObject
  #remembered: ResourceRecord

  constructor({ object, client, signal }: StatusRecordStoreOptions) {
    this.#object = object
    this.#client = client
    this.#signal = signal
    this.#remembered = recordIn(object)
  }

  read(): Promise<ResourceRecord> {
    return Promise.resolve(this.#remembered)
  }

  async write(next: ResourceRecord): Promise<void> {
    const { uid, resourceVersion } = this.#object.metadata
    const { id = null, attempt = null, observedGeneration = null } = next
    const external = { id, lastCreateAttempt: attempt, observedGeneration }
    this.#object = await this.#client
      .subresource('status')
      .patch(this.#object, { metadata: { uid, resourceVersion }, status: { external } }, { signal: this.#signal })
    this.#remembered = next
  }

  /** It goes with the rest of the status. */
  note(next: ResourceRecord): Promise<void> {
    this.#remembered = next
    return Promise.resolve()
  }

  forget(): Promise<void> {
    this.#remembered = {}
    return Promise.resolve()
  }
}

export function externalStatusOf(object: KubeObject): ExternalReport {
  const { status } = object as { readonly status?: { readonly external?: unknown } }
  const external: unknown = isJsonObject(status) ? status['external'] : undefined
  return isJsonObject(external) ? (external as ExternalReport) : {}
}

/** What the status of an object says; whoever may write it is believed. */
export function recordIn(object: KubeObject): ResourceRecord {
  const { id, lastCreateAttempt, observedGeneration } = externalStatusOf(object)
  return {
    ...(typeof id === 'string' && { id }),
    attempt: readAttempt(lastCreateAttempt ?? {}),
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
  }
}
