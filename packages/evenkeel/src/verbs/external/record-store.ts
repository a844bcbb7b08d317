/**
 * Where a verb remembers: in the status if the kind has room for it and the system can be asked, otherwise, or if
 * the author wants it so, in records.
 */
import { open, readFile, rename } from 'node:fs/promises'
import { getOwn, isJsonObject, type JsonObject, type Kind, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { BaseContext } from '#controller'
import type { Driver, Strategy } from './driver.ts'
import { ExternalRefBackend } from './external-ref.ts'
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

  /** Whether there are records beside the objects. */
  get usesRecords(): boolean {
    const {
      strategy,
      hasStatus: hasRoom,
      settings: { track },
    } = this.#options
    return track || strategy === 'S4' || strategy === 'S5' || !hasRoom
  }

  /** Whether those are ExternalRef objects. */
  get usesRefs(): boolean {
    return this.usesRecords && this.#options.settings.checkpoint === undefined
  }

  storeFor(object: KubeObject, base: BaseContext): RecordStore {
    const { client, signal } = base
    const hearsay = this.#options.hasStatus ? recordIn(object) : {}
    return this.usesRecords
      ? new BackendRecordStore(this.#records(base), recordOwnerOf(object), hearsay)
      : new StatusRecordStore({ object, client, signal })
  }

  /** Records of objects that had this key and are no more. */
  async leftovers(
    key: CacheKey,
    { aliveUid, base }: { readonly aliveUid: string | undefined; readonly base: BaseContext },
  ): Promise<readonly OwnedRecord[]> {
    if (!this.usesRecords) return []
    return (await this.#records(base).ofKey(key)).filter(({ owner }) => owner.uid !== aliveUid)
  }

  async all(objects: readonly KubeObject[], base: BaseContext): Promise<ReadonlyMap<string, ResourceRecord>> {
    const remembered = new Map<string, ResourceRecord>()
    const records = this.usesRecords ? this.#records(base) : undefined
    for (const object of objects) {
      const uid = object.metadata.uid ?? ''
      const found = records ? (await records.find(uid))?.remembered : recordIn(object)
      if (found) remembered.set(uid, found)
    }
    return remembered
  }

  /** Keys for which there are records, where nobody else tells of them. */
  async leftoverKeys(): Promise<readonly CacheKey[]> {
    const { checkpoint } = this.#options.settings
    if (!this.usesRecords || !checkpoint) return []
    const records = await new CheckpointBackend(checkpoint).all()
    return records.map(({ owner: { name, namespace } }) => ({ name, ...(namespace !== '' && { namespace }) }))
  }

  #records({ client, signal }: Pick<BaseContext, 'client' | 'signal'>): RecordBackend {
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

/*
 * Records in a file of this machine: for a single process that must not write other objects.
 *
 * The whole file is written beside the old one and takes its place, so there is always a whole one. One process may use
 * it at a time; a machine that is lost takes its records with it, and things without a record are never touched.
 */

/** Where records are kept, as texts by uid. */
export interface Checkpoint {
  entries(): Promise<ReadonlyMap<string, string>>
  /** Resolves when it is durable. `undefined` takes an entry away. */
  put(uid: string, text: string | undefined): Promise<void>
}

/** A checkpoint in a file; it is made when the first record is written. */
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
        await replaceFile(path, JSON.stringify(Object.fromEntries(known), undefined, 2))
      }
      // One after the other: an older state must not take the place of a newer one.
      writing = writing.then(write, write)
      await writing
    },
  }
}

async function readEntries(path: string): Promise<Map<string, string>> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (!isJsonObject(parsed))
      throw new RangeError(`${path} is not a checkpoint: move it out of the way if nothing in it is needed`)
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

  async save(owner: RecordOwner, remembered: ResourceRecord): Promise<void> {
    await this.#checkpoint.put(owner.uid, JSON.stringify({ owner, ...remembered }))
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

/** @throws {RangeError} when it is no record: what cannot be read must not be taken for nothing. */
function parseRecord(uid: string, text: string): OwnedRecord {
  const parsed = parseObject(text)
  const owner = getOwn(parsed, 'owner')
  const { id, attempt, observedGeneration } = parsed
  if (!isJsonObject(owner) || typeof owner['name'] !== 'string')
    throw new RangeError(`the checkpoint of ${uid} cannot be read: ${text.slice(0, 80)}`)
  const remembered: ResourceRecord = {
    ...(typeof id === 'string' && { id }),
    attempt: isJsonObject(attempt) ? readAttempt(attempt) : undefined,
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
  }
  return {
    owner: { namespace: String(owner['namespace'] ?? ''), name: owner['name'], uid },
    remembered,
    isLetGo: false,
  }
}

function parseObject(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJsonObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}
