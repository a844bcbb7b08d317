/**
 * Selects the store of a record: `status.external` if the kind has it and the strategy allows it, otherwise a backend.
 *
 * A backend is either ExternalRef objects or a checkpoint: a file of this machine, for a single process that must not
 * write other objects. The file is replaced as a whole (write, fsync, rename), so it is always complete. Only one process
 * may use it at a time. If the machine is lost its records are lost too, and resources without a record are never touched.
 *
 *   { "7d3f…": "{\"owner\":{\"namespace\":\"a\",\"name\":\"foo\",\"uid\":\"7d3f…\"},\"id\":\"shape-9\",\"attempt\":{…}}" }
 */
import { open, readFile, rename } from 'node:fs/promises'
import { getOwn, isJsonObject, type JsonObject, type Kind, type KubeObject, parseJson, stringifyJson } from '#api'
import type { CacheKey } from '#cache'
import type { BaseContext } from '#controller'
import type { Driver, Strategy } from './driver.ts'
import { ExternalRefBackend } from './external-ref.ts'
import { readVersions } from './needs.ts'
import type { ExternalSettings } from './policy.ts'
import {
  BackendRecordStore,
  readAttempt,
  recordIn,
  recordOwnerOf,
  StatusRecordStore,
  type OwnedRecord,
  type RecordBackend,
  type RecordOwner,
  type RecordStore,
  type ResourceRecord,
} from './record.ts'

interface RecordStoresOptions {
  readonly driver: Driver
  readonly kind: Kind
  readonly strategy: Strategy
  readonly settings: ExternalSettings
  readonly hasStatus: boolean
}

export class RecordStores {
  readonly #options: RecordStoresOptions

  constructor(options: RecordStoresOptions) {
    this.#options = options
  }

  /** Whether records are stored in a backend. */
  get usesRecords(): boolean {
    const {
      strategy,
      hasStatus,
      settings: { track },
    } = this.#options
    return track || strategy === 'S4' || strategy === 'S5' || !hasStatus
  }

  /** Whether the backend is ExternalRef objects. */
  get usesRefs(): boolean {
    return this.usesRecords && this.#options.settings.checkpoint === undefined
  }

  storeFor(object: KubeObject, base: BaseContext): RecordStore {
    const { client, signal } = base
    const fromStatus = this.#options.hasStatus ? recordIn(object) : {}
    return this.usesRecords
      ? new BackendRecordStore(this.#backend(base), { owner: recordOwnerOf(object), fromStatus })
      : new StatusRecordStore({ object, client, signal })
  }

  /** Records of deleted objects with this key. */
  async leftovers(
    key: CacheKey,
    { aliveUid, base }: { readonly aliveUid: string | undefined; readonly base: BaseContext },
  ): Promise<readonly OwnedRecord[]> {
    if (!this.usesRecords) return []
    return (await this.#backend(base).ofKey(key)).filter(({ owner }) => owner.uid !== aliveUid)
  }

  /** The records of these objects, by UID. */
  async all(objects: readonly KubeObject[], base: BaseContext): Promise<ReadonlyMap<string, ResourceRecord>> {
    const records = new Map<string, ResourceRecord>()
    const backend = this.usesRecords ? this.#backend(base) : undefined
    for (const object of objects) {
      const uid = object.metadata.uid ?? ''
      const record = backend ? (await backend.find(uid))?.record : recordIn(object)
      if (record) records.set(uid, record)
    }
    return records
  }

  /** Keys of all records in a checkpoint. ExternalRef objects need none: a watch reports them. */
  async leftoverKeys(): Promise<readonly CacheKey[]> {
    const { checkpoint } = this.#options.settings
    if (!this.usesRecords || !checkpoint) return []
    const records = await new CheckpointBackend(checkpoint).all()
    return records.map(({ owner: { name, namespace } }) => ({ name, ...(namespace !== '' && { namespace }) }))
  }

  #backend({ client, signal }: Pick<BaseContext, 'client' | 'signal'>): RecordBackend {
    const {
      settings: { checkpoint, instance },
      driver: { name: system },
      kind,
    } = this.#options
    return checkpoint
      ? new CheckpointBackend(checkpoint)
      : new ExternalRefBackend({ system, instance, kind, client, signal })
  }
}

/** A durable map from UID to the text of a record. */
export interface Checkpoint {
  entries(): Promise<ReadonlyMap<string, string>>
  /** Resolves when it is durable. `undefined` removes an entry. */
  put(uid: string, text: string | undefined): Promise<void>
}

/** A checkpoint in a file, which is created with the first record. */
export function fileCheckpoint(path: string): Checkpoint {
  let entries: Promise<Map<string, string>> | undefined
  let writing: Promise<void> = Promise.resolve()
  const load = (): Promise<Map<string, string>> => (entries ??= readEntries(path))
  return {
    entries: load,
    put: async (uid, text) => {
      const known = await load()
      if (text === undefined) known.delete(uid)
      else known.set(uid, text)
      const write = async (): Promise<void> => {
        await replaceFile(path, stringifyJson(Object.fromEntries(known), 2))
      }
      // One write after the other: an older state must not replace a newer one.
      writing = writing.then(write, write)
      await writing
    },
  }
}

async function readEntries(path: string): Promise<Map<string, string>> {
  try {
    const parsed: unknown = parseJson(await readFile(path, 'utf8'))
    if (!isJsonObject(parsed))
      throw new RangeError(
        `${path} is not a checkpoint file: use another path, or delete it if its content is not needed`,
      )
    return new Map(Object.entries(parsed).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return new Map()
    throw error
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const file = await open(`${path}.next`, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.next`, path)
}

export class CheckpointBackend implements RecordBackend {
  readonly #checkpoint: Checkpoint

  constructor(checkpoint: Checkpoint) {
    this.#checkpoint = checkpoint
  }

  async find(uid: string): Promise<OwnedRecord | undefined> {
    const text = (await this.#checkpoint.entries()).get(uid)
    return text === undefined ? undefined : parseRecord(uid, text)
  }

  async save(owner: RecordOwner, record: ResourceRecord): Promise<void> {
    await this.#checkpoint.put(owner.uid, stringifyJson({ owner, ...record }))
  }

  async remove(uid: string): Promise<void> {
    if ((await this.#checkpoint.entries()).has(uid)) await this.#checkpoint.put(uid, undefined)
  }

  async ofKey({ name, namespace = '' }: CacheKey): Promise<readonly OwnedRecord[]> {
    return (await this.all()).filter(({ owner }) => owner.name === name && owner.namespace === namespace)
  }

  async all(): Promise<readonly OwnedRecord[]> {
    const entries = [...(await this.#checkpoint.entries())].sort(([a], [b]) => (a < b ? -1 : 1))
    return entries.map(([uid, text]) => parseRecord(uid, text))
  }
}

/** @throws {RangeError} for a malformed record: it must not count as missing. */
function parseRecord(uid: string, text: string): OwnedRecord {
  const parsed = parseObject(text)
  const owner = getOwn(parsed, 'owner')
  const { id, attempt, observedGeneration, needs } = parsed
  if (!isJsonObject(owner) || typeof owner['name'] !== 'string')
    throw new RangeError(`cannot read the checkpoint record of UID ${uid}: ${text.slice(0, 80)}`)
  const record: ResourceRecord = {
    ...(typeof id === 'string' && { id }),
    attempt: isJsonObject(attempt) ? readAttempt(attempt) : undefined,
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
    needs: readVersions(needs),
  }
  return {
    owner: { namespace: String(owner['namespace'] ?? ''), name: owner['name'], uid },
    record,
    isOrphaned: false,
  }
}

function parseObject(text: string): JsonObject {
  try {
    const parsed: unknown = parseJson(text)
    return isJsonObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}
