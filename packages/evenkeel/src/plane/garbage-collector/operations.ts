/**
 * The requests of the garbage collector. Every write has the UID as precondition, and the resourceVersion if another
 * version could lead to another decision. So a concurrent change is never overwritten, and no object is deleted because of
 * an outdated state.
 */
import { deepEqual, isConflict, isNotFound, type KubeObject, type ObjectMeta, type OwnerReference } from '#api'
import { isUnknownKind, metadataOnly, refTo, type Client } from '#client'
import type { Propagation } from './attempts.ts'
import { factsOf, type Identity, type ObjectFacts } from './node.ts'

/** Attempts on conflicts, each after a new read, before the work queue retries later. */
const triesMax = 5

export class Operations {
  readonly #client: Client
  readonly #signal: AbortSignal
  /** Reads in flight, shared by the dependents of one owner. */
  readonly #reading = new Map<string, Promise<ObjectMeta | undefined>>()

  constructor({ client, signal }: { client: Client; signal: AbortSignal }) {
    this.#client = client
    this.#signal = signal
  }

  /** Whether a kind is namespaced. @throws {UnknownKindError} */
  async isNamespaced({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>): Promise<boolean> {
    return (await this.#client.resourceOf({ apiVersion, kind }, { signal: this.#signal })).namespaced
  }

  /** The metadata of the object with that name, whatever its UID. @throws {UnknownKindError} */
  read(identity: Identity): Promise<ObjectMeta | undefined> {
    const { apiVersion, kind, namespace, name } = identity
    const key = JSON.stringify([apiVersion, kind, namespace, name])
    const known = this.#reading.get(key)
    if (known) return known
    const reading = this.#client
      .find(
        metadataOnly({ apiVersion, kind }),
        { name, ...(namespace !== '' && { namespace }) },
        { signal: this.#signal },
      )
      .then((object) => object?.metadata)
      .finally(() => {
        this.#reading.delete(key)
      })
    this.#reading.set(key, reading)
    return reading
  }

  /** The current state of the object; undefined if it is gone, or another object has its name. @throws {UnknownKindError} */
  async readSame(identity: Identity): Promise<ObjectFacts | undefined> {
    const metadata = await this.read(identity)
    return metadata?.uid === identity.uid ? factsOf(metadata) : undefined
  }

  /** Deletes an object in the state of the decision. @throws {ApiError} `Conflict` if its owners have changed. */
  async delete(
    identity: Identity,
    { facts, propagation }: { facts: ObjectFacts; propagation: Propagation },
  ): Promise<'requested' | 'gone'> {
    try {
      return await this.#delete(identity, { resourceVersion: facts.version, propagation })
    } catch (error) {
      if (!isConflict(error)) throw error
      const current = await this.readSame(identity)
      if (!current) return 'gone'
      if (current.deletedAt !== '') return 'requested'
      // Other changes do not matter: an object that changes all the time must be deleted too.
      if (!isEqual(current.owners, facts.owners) || current.version === facts.version) throw error
      return this.#delete(identity, { propagation })
    }
  }

  /** Removes owner references. @throws {ApiError} `Conflict` after too many concurrent changes. */
  async strip(identity: Identity, facts: ObjectFacts, uids: ReadonlySet<string>): Promise<void> {
    await this.#changeOwners(identity, facts, (owners) => owners.filter(({ uid }) => !uids.has(uid)))
  }

  /** Sets `blockOwnerDeletion` to false in all owner references. */
  async unblock(identity: Identity, facts: ObjectFacts): Promise<void> {
    await this.#changeOwners(identity, facts, (owners) =>
      owners.map((owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner)),
    )
  }

  /** Removes a finalizer; does nothing if the object is gone. */
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
    let current: ObjectFacts | undefined = facts
    for (let tries = 1; current; tries++) {
      const owners = change(current.owners)
      if (isEqual(owners, current.owners)) return
      if (
        await this.#patch(
          identity,
          { resourceVersion: current.version, ownerReferences: owners.length > 0 ? owners : null },
          { tries },
        )
      )
        return
      current = await this.readSame(identity)
    }
  }

  /** False after a conflict that may be retried. */
  async #patch({ uid, ...coordinates }: Identity, metadata: object, { tries }: { tries: number }): Promise<boolean> {
    try {
      await this.#client.patch(refAt(coordinates), { metadata: { uid, ...metadata } }, { signal: this.#signal })
      return true
    } catch (error) {
      if (isObjectGone(error)) return true
      if (isConflict(error) && tries < triesMax) return false
      throw error
    }
  }

  async #delete(
    { uid, ...coordinates }: Identity,
    { resourceVersion, propagation }: { resourceVersion?: string; propagation: Propagation },
  ): Promise<'requested' | 'gone'> {
    try {
      await this.#client.delete(refAt(coordinates), {
        propagationPolicy: propagation,
        preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) },
        signal: this.#signal,
      })
      return 'requested'
    } catch (error) {
      if (isObjectGone(error)) return 'gone'
      throw error
    }
  }
}

function refAt({ apiVersion, kind, namespace, name }: Omit<Identity, 'uid'>): KubeObject {
  return refTo({ apiVersion, kind }, { name, ...(namespace !== '' && { namespace }) })
}

function isObjectGone(error: unknown): boolean {
  return isNotFound(error) && !isUnknownKind(error)
}

function isEqual(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return a === b || deepEqual(a, b)
}
