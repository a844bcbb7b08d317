/**
 * Where a verb remembers: in the status if the kind has room for it and the system can be asked, otherwise, or if
 * the author wants it so, in records.
 */
import type { Kind, KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { BaseContext } from '#controller'
import type { Strategy } from './driver/capabilities.ts'
import type { Driver } from './driver/driver.ts'
import { CheckpointBackend } from './memory/checkpoint.ts'
import type { RecordStore, ResourceRecord } from './memory/memory.ts'
import { recordOwnerOf } from './memory/memory.ts'
import { BackendRecordStore } from './memory/records.ts'
import type { RecordBackend, OwnedRecord } from './memory/records.ts'
import { ExternalRefBackend } from './memory/ref-records.ts'
import { recordIn, StatusRecordStore } from './memory/status-memory.ts'
import type { ExternalSettings } from './options.ts'

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
