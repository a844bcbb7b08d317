/**
 * What the collector asks of the server. Everything it writes is bound to a uid, and to the version it was decided on
 * where another version could have been decided otherwise: what somebody changed in the meantime is never overwritten and
 * never deleted on old grounds.
 */
import { deepEqual, isConflict, isNotFound, type KubeObject, type ObjectMeta, type OwnerReference } from '#api'
import { isUnknownKind, metadataOnly, refTo, type Client } from '#client'
import type { Propagation } from './attempts.ts'
import { factsOf, type Identity, type ObjectFacts } from './node.ts'

/** Conflicts in a row, with a fresh look in between, after which somebody else is let pass. */
const triesMax = 5

export class Operations {
  readonly #client: Client
  readonly #signal: AbortSignal
  /** Reads under way: many dependents of one owner ask for it at the same time. */
  readonly #reading = new Map<string, Promise<ObjectMeta | undefined>>()

  constructor({ client, signal }: { client: Client; signal: AbortSignal }) {
    this.#client = client
    this.#signal = signal
  }

  /** Whether objects of a kind live in namespaces. @throws {UnknownKindError} */
  async isNamespaced({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>): Promise<boolean> {
    return (await this.#client.resourceOf({ apiVersion, kind }, { signal: this.#signal })).namespaced
  }

  /** The metadata of what is there under that name, whatever its uid. @throws {UnknownKindError} */
  read(identity: Identity): Promise<ObjectMeta | undefined> {
    const { apiVersion, kind, namespace, name } = identity
    const place = JSON.stringify([apiVersion, kind, namespace, name])
    const known = this.#reading.get(place)
    if (known) return known
    const reading = this.#client
      .find(
        metadataOnly({ apiVersion, kind }),
        { name, ...(namespace !== '' && { namespace }) },
        { signal: this.#signal },
      )
      .then((object) => object?.metadata)
      .finally(() => {
        this.#reading.delete(place)
      })
    this.#reading.set(place, reading)
    return reading
  }

  /** The object as it is now; undefined when it is gone, be there another of its name. @throws {UnknownKindError} */
  async readSame(identity: Identity): Promise<ObjectFacts | undefined> {
    const metadata = await this.read(identity)
    return metadata?.uid === identity.uid ? factsOf(metadata) : undefined
  }

  /** Deletes an object that was decided on by these facts. @throws {ApiError} `Conflict`, when they no longer hold. */
  async delete(
    identity: Identity,
    { facts, propagation }: { facts: ObjectFacts; propagation: Propagation },
  ): Promise<'told' | 'gone'> {
    try {
      return await this.#delete(identity, { resourceVersion: facts.version, propagation })
    } catch (error) {
      if (!isConflict(error)) throw error
      const now = await this.readSame(identity)
      if (!now) return 'gone'
      if (now.deletedAt !== '') return 'told'
      // An object that changes all the time in other ways must not live for ever.
      if (!isEqual(now.owners, facts.owners) || now.version === facts.version) throw error
      return this.#delete(identity, { propagation })
    }
  }

  /** Takes owners out of an object's references. @throws {ApiError} `Conflict`, when it kept changing. */
  async strip(identity: Identity, facts: ObjectFacts, uids: ReadonlySet<string>): Promise<void> {
    await this.#changeOwners(identity, facts, (owners) => owners.filter(({ uid }) => !uids.has(uid)))
  }

  /** Lets the owners of an object go before it. */
  async unblock(identity: Identity, facts: ObjectFacts): Promise<void> {
    await this.#changeOwners(identity, facts, (owners) =>
      owners.map((owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner)),
    )
  }

  /** Takes a finalizer off an object; nothing happens when it is gone. */
  async unfinalize(identity: Identity, finalizer: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      const metadata = await this.read(identity)
      if (metadata?.uid !== identity.uid || !metadata.finalizers?.includes(finalizer)) return
      const finalizers = metadata.finalizers.filter((name) => name !== finalizer)
      if (
        await this.#patch(
          identity,
          { resourceVersion: metadata.resourceVersion ?? '', finalizers: finalizers.length > 0 ? finalizers : null },
          { tries },
        )
      )
        return
    }
  }

  async #changeOwners(
    identity: Identity,
    facts: ObjectFacts,
    change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
  ): Promise<void> {
    let now: ObjectFacts | undefined = facts
    for (let tries = 1; now; tries++) {
      const owners = change(now.owners)
      if (isEqual(owners, now.owners)) return
      if (
        await this.#patch(
          identity,
          { resourceVersion: now.version, ownerReferences: owners.length > 0 ? owners : null },
          { tries },
        )
      )
        return
      now = await this.readSame(identity)
    }
  }

  /** False when somebody was faster and it may be tried again. */
  async #patch({ uid, ...place }: Identity, metadata: object, { tries }: { tries: number }): Promise<boolean> {
    try {
      await this.#client.patch(objectAt(place), { metadata: { uid, ...metadata } }, { signal: this.#signal })
      return true
    } catch (error) {
      if (isObjectGone(error)) return true
      if (isConflict(error) && tries < triesMax) return false
      throw error
    }
  }

  async #delete(
    { uid, ...place }: Identity,
    { resourceVersion, propagation }: { resourceVersion?: string; propagation: Propagation },
  ): Promise<'told' | 'gone'> {
    try {
      await this.#client.delete(objectAt(place), {
        propagationPolicy: propagation,
        preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) },
        signal: this.#signal,
      })
      return 'told'
    } catch (error) {
      if (isObjectGone(error)) return 'gone'
      throw error
    }
  }
}

function objectAt({ apiVersion, kind, namespace, name }: Omit<Identity, 'uid'>): KubeObject {
  return refTo({ apiVersion, kind }, { name, ...(namespace !== '' && { namespace }) })
}

function isObjectGone(error: unknown): boolean {
  return isNotFound(error) && !isUnknownKind(error)
}

function isEqual(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return a === b || deepEqual(a, b)
}
