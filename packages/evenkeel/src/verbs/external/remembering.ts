/**
 * Where a verb remembers: in the status if the kind has room for it and the system can be asked, otherwise, or if
 * the author wants it so, in records.
 */
import type { Kind, KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { BaseContext } from '#controller'
import type { Strategy } from './driver/capabilities.ts'
import type { Driver } from './driver/driver.ts'
import { CheckpointRecords } from './memory/checkpoint.ts'
import type { Memory, Remembered } from './memory/memory.ts'
import { ownerOf } from './memory/memory.ts'
import { RecordMemory } from './memory/records.ts'
import type { Records, ThingRecord } from './memory/records.ts'
import { RefRecords } from './memory/ref-records.ts'
import { rememberedIn, StatusMemory } from './memory/status-memory.ts'
import type { Settings } from './options.ts'

interface RememberingOptions {
  readonly driver: Driver
  readonly kind: Kind
  readonly strategy: Strategy
  readonly settings: Settings
  readonly hasRoom: boolean
}

export class Remembering {
  readonly #options: RememberingOptions

  constructor(options: RememberingOptions) {
    this.#options = options
  }

  /** Whether there are records beside the objects. */
  get usesRecords(): boolean {
    const {
      strategy,
      hasRoom,
      settings: { track },
    } = this.#options
    return track || strategy === 'S4' || strategy === 'S5' || !hasRoom
  }

  /** Whether those are ExternalRef objects. */
  get usesRefs(): boolean {
    return this.usesRecords && this.#options.settings.checkpoint === undefined
  }

  memoryFor(object: KubeObject, base: BaseContext): Memory {
    const { client, signal } = base
    const hearsay = this.#options.hasRoom ? rememberedIn(object) : {}
    return this.usesRecords
      ? new RecordMemory(this.#records(base), ownerOf(object), hearsay)
      : new StatusMemory({ object, client, signal })
  }

  /** Records of objects that had this key and are no more. */
  async left(
    key: CacheKey,
    { aliveUid, base }: { readonly aliveUid: string | undefined; readonly base: BaseContext },
  ): Promise<readonly ThingRecord[]> {
    if (!this.usesRecords) return []
    return (await this.#records(base).ofKey(key)).filter(({ owner }) => owner.uid !== aliveUid)
  }

  async all(objects: readonly KubeObject[], base: BaseContext): Promise<ReadonlyMap<string, Remembered>> {
    const remembered = new Map<string, Remembered>()
    const records = this.usesRecords ? this.#records(base) : undefined
    for (const object of objects) {
      const uid = object.metadata.uid ?? ''
      const found = records ? (await records.find(uid))?.remembered : rememberedIn(object)
      if (found) remembered.set(uid, found)
    }
    return remembered
  }

  /** Keys for which there are records, where nobody else tells of them. */
  async leftKeys(): Promise<readonly CacheKey[]> {
    const { checkpoint } = this.#options.settings
    if (!this.usesRecords || !checkpoint) return []
    const records = await new CheckpointRecords(checkpoint).all()
    return records.map(({ owner: { name, namespace } }) => ({ name, ...(namespace !== '' && { namespace }) }))
  }

  #records({ client, signal }: Pick<BaseContext, 'client' | 'signal'>): Records {
    const {
      settings: { checkpoint, instance },
      driver: { name: system },
      kind,
    } = this.#options
    return checkpoint ? new CheckpointRecords(checkpoint) : new RefRecords({ system, instance, kind, client, signal })
  }
}
