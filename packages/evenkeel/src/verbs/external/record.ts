/**
 * The durable record of an external resource: the create attempt, and the id.
 *
 * `write` resolves when the record is durable, and fails with a conflict if another process has written in between. So
 * only the process that recorded an attempt makes the create call. `note` may be lost: its content can be found again.
 *
 * A create that crashes, step by step (strategy S4, UID 7d3f):
 *
 *   write({ attempt: { number: 1, key: '7d3f-1', outcome: 'Pending' } })    durable intent
 *   driver.create(…, { idempotencyKey: '7d3f-1' })                          crash before the answer
 *   read() after the restart ──▶ attempt 7d3f-1 is Pending, id is undefined ──▶ the outcome is unknown
 *   a person sets external.evenkeel.dev/resolve=adopt:shape-9               ──▶ { id: 'shape-9', outcome: 'Adopted' }
 *                                     or resolve=recreate:7d3f-1            ──▶ attempt 7d3f-2
 *
 * The attempt number increases only when the previous attempt is known to have ended, so a repeated call has the same key.
 *
 * Records are stored in `status.external` of the object (one extra status write for each create call; the write names
 * the resourceVersion, so a run with an outdated object fails before it has any effect), or beside the object in a
 * backend: ExternalRef objects or a checkpoint. A backend record is found by owner UID, and survives its owner.
 */
import { getOwn, isJsonObject, type ExternalReport, type JsonObject, type Kind, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { ReconcileClient } from '#controller'
import { readVersions, type NeedVersion } from './needs.ts'

/** The outcome of the last create attempt. */
type AttemptOutcome =
  /** Started; unknown if the process that started it is gone. */
  | 'Pending'
  | 'Created'
  /** An existing resource was adopted. */
  | 'Adopted'
  /** The system refused the call, so nothing was created. Backend records only: in a status each change would enqueue the object again. */
  | 'Refused'
  /** No answer, or an inconclusive error. Backend records only. */
  | 'Unknown'

export interface CreateAttempt {
  /** Counts the create attempts of the object. */
  readonly number: number
  /** The idempotency key: the same for repetitions of one attempt. */
  readonly key: string
  readonly time: string
  readonly outcome: AttemptOutcome
}

export interface ResourceRecord {
  readonly id?: string | undefined
  readonly attempt?: CreateAttempt | undefined
  /** The generation that the resource was last synced to. */
  readonly observedGeneration?: number | undefined
  /** The versions of needed objects that the resource was last synced to. */
  readonly needs?: readonly NeedVersion[] | undefined
  /** The backend record is missing; the values come from the status and prove nothing. */
  readonly isLost?: boolean | undefined
  /** The resource is being deleted. */
  readonly isDeleting?: boolean | undefined
}

export interface RecordStore {
  /** Whether the record is stored beside the object, so that a write does not enqueue the object again. */
  readonly isSeparate: boolean
  /** `live`: reads from the server. Only a live read proves that there is no record. */
  read(options?: { readonly live?: boolean }): Promise<ResourceRecord>
  write(next: ResourceRecord): Promise<void>
  /** Stores the record with the next status write, or wherever it costs least. */
  note(next: ResourceRecord): Promise<void>
  /** Deletes the record. */
  forget(): Promise<void>
}

/** The object of a record, for records that survive it. */
export interface RecordOwner {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function recordOwnerOf({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): RecordOwner {
  return { namespace, name, uid }
}

const outcomes: ReadonlySet<string> = new Set<AttemptOutcome>(['Pending', 'Created', 'Adopted', 'Refused', 'Unknown'])

/** Reads an attempt from untrusted data; undefined if it is malformed. */
export function readAttempt({
  number,
  key,
  time,
  outcome,
}: { readonly number?: unknown; readonly key?: unknown; readonly time?: unknown; readonly outcome?: unknown } = {}):
  | CreateAttempt
  | undefined {
  if (typeof key !== 'string' || typeof outcome !== 'string' || !outcomes.has(outcome)) return undefined
  return {
    number: typeof number === 'number' ? number : 1,
    key,
    time: typeof time === 'string' ? time : '',
    outcome: outcome as AttemptOutcome,
  }
}

export interface OwnedRecord {
  readonly owner: RecordOwner
  readonly record: ResourceRecord
  /** A person has deleted the record: the resource is orphaned if its state cannot be determined. */
  readonly isOrphaned: boolean
}

export interface RecordBackend {
  find(uid: string, options?: { readonly live?: boolean }): Promise<OwnedRecord | undefined>
  /** Resolves when the record is durable. @throws {ApiError} `Conflict` if it was changed in between, unless `force` is set. */
  save(owner: RecordOwner, record: ResourceRecord, options?: { readonly force?: boolean }): Promise<void>
  remove(uid: string): Promise<void>
  /** Records of objects that have, or had, this name. */
  ofKey(key: CacheKey): Promise<readonly OwnedRecord[]>
}

/** A record in a backend. */
export class BackendRecordStore implements RecordStore {
  readonly isSeparate = true
  readonly #backend: RecordBackend
  readonly #owner: RecordOwner
  /** The record in the status. It proves nothing, but shows that there was a backend record. */
  readonly #fromStatus: ResourceRecord
  #last: ResourceRecord = {}

  constructor(
    backend: RecordBackend,
    { owner, fromStatus }: { readonly owner: RecordOwner; readonly fromStatus: ResourceRecord },
  ) {
    this.#backend = backend
    this.#owner = owner
    this.#fromStatus = fromStatus
  }

  async read({ live = false }: { live?: boolean } = {}): Promise<ResourceRecord> {
    const found = await this.#backend.find(this.#owner.uid, { live })
    this.#last = found?.record ?? {}
    return found || this.#fromStatus.id === undefined ? this.#last : { ...this.#fromStatus, isLost: true }
  }

  async write(next: ResourceRecord): Promise<void> {
    await this.#backend.save(this.#owner, next)
    this.#last = next
  }

  async note(next: ResourceRecord): Promise<void> {
    const { id, attempt, observedGeneration, needs, isDeleting = false } = this.#last
    if (
      next.id === id &&
      next.observedGeneration === observedGeneration &&
      isSameNeeds(next.needs, needs) &&
      (next.isDeleting ?? false) === isDeleting &&
      next.attempt?.key === attempt?.key &&
      next.attempt?.outcome === attempt?.outcome
    )
      return
    await this.#backend.save(this.#owner, next, { force: true })
    this.#last = next
  }

  async forget(): Promise<void> {
    await this.#backend.remove(this.#owner.uid)
    this.#last = {}
  }
}

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
  #record: ResourceRecord

  constructor({ object, client, signal }: StatusRecordStoreOptions) {
    this.#object = object
    this.#client = client
    this.#signal = signal
    this.#record = recordIn(object)
  }

  read(): Promise<ResourceRecord> {
    return Promise.resolve(this.#record)
  }

  async write(next: ResourceRecord): Promise<void> {
    const { uid, resourceVersion } = this.#object.metadata
    const { id = null, attempt = null, observedGeneration = null, needs = null } = next
    const external = { id, lastCreateAttempt: attempt, observedGeneration, needs }
    this.#object = await this.#client
      .subresource('status')
      .patch(this.#object, { metadata: { uid, resourceVersion }, status: { external } }, { signal: this.#signal })
    this.#record = next
  }

  /** Written with the rest of the status. */
  note(next: ResourceRecord): Promise<void> {
    this.#record = next
    return Promise.resolve()
  }

  forget(): Promise<void> {
    this.#record = {}
    return Promise.resolve()
  }
}

export function externalStatusOf(object: KubeObject): ExternalReport {
  const { status } = object as { readonly status?: { readonly external?: unknown } }
  const external: unknown = isJsonObject(status) ? status['external'] : undefined
  return isJsonObject(external) ? (external as ExternalReport) : {}
}

/** Whether two records are about the same versions of needed objects. */
export function isSameNeeds(one: ResourceRecord['needs'], other: ResourceRecord['needs']): boolean {
  return JSON.stringify(one ?? []) === JSON.stringify(other ?? [])
}

/** The record in the status of an object. */
export function recordIn(object: KubeObject): ResourceRecord {
  const { id, lastCreateAttempt, observedGeneration, needs } = externalStatusOf(object)
  return {
    ...(typeof id === 'string' && { id }),
    attempt: readAttempt(lastCreateAttempt ?? {}),
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
    needs: readVersions(needs),
  }
}
