/**
 * What must not be forgotten about the thing of an object: that somebody began to make it, and its id.
 *
 * `write` resolves when it cannot be lost any more, and refuses when somebody else has written in between: whoever has
 * written that a thing is about to be made is the only one to make it. `note` may be lost: what it says can be found again.
 */
import { getOwn, isJsonObject, type ExternalReport, type JsonObject, type Kind, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { ReconcileClient } from '#controller'

/** What became of the last attempt to have a thing. */
type AttemptOutcome =
  /** Begun; if nobody is at it any more, nobody knows. */
  | 'Pending'
  | 'Created'
  /** It was there, and was taken over. */
  | 'Adopted'
  /** The system said no: nothing was made. Only in records; a status stays at `Pending`, as each change would wake its object. */
  | 'Refused'
  /** No answer, or one that says nothing. Only in records. */
  | 'Unknown'

export interface CreateAttempt {
  /** Counts the things that were made, or begun to be made, for the object. */
  readonly number: number
  /** The same as long as it is about the same thing. */
  readonly key: string
  readonly time: string
  readonly outcome: AttemptOutcome
}

export interface ResourceRecord {
  readonly id?: string | undefined
  readonly attempt?: CreateAttempt | undefined
  /** The generation to which the thing was last brought. */
  readonly observedGeneration?: number | undefined
  /** There should be a record, and there is none: what is said here is hearsay. */
  readonly isLost?: boolean | undefined
  /** It is on its way out. */
  readonly isDeleting?: boolean | undefined
}

export interface RecordStore {
  /** Whether it is kept beside the object: writing there wakes nobody. */
  readonly isSeparate: boolean
  /** `live`: asked of the server itself. That there is nothing to remember is only believed then. */
  read(options?: { readonly live?: boolean }): Promise<ResourceRecord>
  write(next: ResourceRecord): Promise<void>
  /** Says it with the status, or wherever it costs least. */
  note(next: ResourceRecord): Promise<void>
  /** Nothing is left to remember. */
  forget(): Promise<void>
}

/** Whose thing it is, for records that outlive the object. */
export interface RecordOwner {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function recordOwnerOf({ metadata: { namespace = '', name = '', uid = '' } }: KubeObject): RecordOwner {
  return { namespace, name, uid }
}

const outcomes: ReadonlySet<string> = new Set<AttemptOutcome>(['Pending', 'Created', 'Adopted', 'Refused', 'Unknown'])

/** An attempt as somebody wrote it down; undefined when that is none. */
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

/*
 * Records beside the objects, one for each thing: as ExternalRef objects, or in a checkpoint of the author's.
 *
 * A record is found by the uid of its owner, and outlives it.
 */

export interface OwnedRecord {
  readonly owner: RecordOwner
  readonly remembered: ResourceRecord
  /** Somebody deletes the record by hand: the thing is let go as soon as that is safe. */
  readonly isLetGo: boolean
}

export interface RecordBackend {
  find(uid: string, options?: { readonly live?: boolean }): Promise<OwnedRecord | undefined>
  /** Resolves when it is durable. `isSure`: whoever made the thing knows best, whatever was written in between. @throws {ApiError} otherwise, when somebody did. */
  save(owner: RecordOwner, remembered: ResourceRecord, options?: { readonly isSure?: boolean }): Promise<void>
  remove(uid: string): Promise<void>
  /** Records of objects that have, or had, this name. */
  ofKey(key: CacheKey): Promise<readonly OwnedRecord[]>
}

/** Remembering in a record. */
export class BackendRecordStore implements RecordStore {
  readonly isSeparate = true
  readonly #records: RecordBackend
  readonly #owner: RecordOwner
  /** What the status says; it is no record, but it says that there was one. */
  readonly #hearsay: ResourceRecord
  #last: ResourceRecord = {}

  constructor(records: RecordBackend, owner: RecordOwner, hearsay: ResourceRecord) {
    this.#records = records
    this.#owner = owner
    this.#hearsay = hearsay
  }

  async read({ live = false }: { live?: boolean } = {}): Promise<ResourceRecord> {
    const record = await this.#records.find(this.#owner.uid, { live })
    this.#last = record?.remembered ?? {}
    return record || this.#hearsay.id === undefined ? this.#last : { ...this.#hearsay, isLost: true }
  }

  async write(next: ResourceRecord): Promise<void> {
    await this.#records.save(this.#owner, next)
    this.#last = next
  }

  async note(next: ResourceRecord): Promise<void> {
    const { id, attempt, observedGeneration, isDeleting = false } = this.#last
    if (
      next.id === id &&
      next.observedGeneration === observedGeneration &&
      (next.isDeleting ?? false) === isDeleting &&
      next.attempt?.key === attempt?.key &&
      next.attempt?.outcome === attempt?.outcome
    )
      return
    await this.#records.save(this.#owner, next, { isSure: true })
    this.#last = next
  }

  async forget(): Promise<void> {
    await this.#records.remove(this.#owner.uid)
    this.#last = {}
  }
}

/*
 * Remembering in `status.external` of the object itself: no other object, and one write more for each thing that is made.
 *
 * The write before a create names the version of the object that this run has seen, so a run with an old view of the
 * world is refused there, before it does anything outside.
 */

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
