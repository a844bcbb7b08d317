/**
 * Holding an object while it is in use, by a finalizer of ours on it: for servers that know nothing of Usages.
 *
 * The finalizer is the controller's, not a referer's: it goes with the last one who uses the object. Who is last is seen
 * in the index. Whoever leaves without a word (its own finalizer was forced) is noticed when its key is gone.
 */
import { hasFinalizer, isNotFound } from '#api'
import type { KubeObject } from '#api'
import { isUnknownKind } from '#client'
import type { BaseContext } from '#controller'
import type { FollowedDependencies } from '../following/dependency-source.ts'
import type { ObjectRef } from '../reference.ts'
import { refOf } from '../reference.ts'
import type { Edge, RecordedEdge } from './edge.ts'

interface ProtectionFinalizersOptions {
  readonly base: BaseContext
  readonly finalizer: string
  /** On referers whose cleanup is not done. */
  readonly refererFinalizer: string
  /** Where it is seen who refers to what: one for each declaration that holds. */
  readonly followed: readonly FollowedDependencies[]
  /** Whoever leaves now. */
  readonly leaving: string | undefined
}

export class ProtectionFinalizers {
  readonly #options: ProtectionFinalizersOptions

  constructor(options: ProtectionFinalizersOptions) {
    this.#options = options
  }

  /** From the server: what memory shows may be older than what was written. */
  async read({ apiVersion, kind, namespace, name }: RecordedEdge): Promise<KubeObject | undefined> {
    const { client, signal } = this.#options.base
    try {
      return await client.find(
        { apiVersion, kind },
        { name, ...(namespace !== '' && { namespace }) },
        { live: true, signal },
      )
    } catch (error) {
      if (isUnknownKind(error)) return undefined
      throw error
    }
  }

  async protect({ object }: Edge): Promise<void> {
    const {
      base: { client, signal },
      finalizer,
    } = this.#options
    if (hasFinalizer(object, finalizer) || object.metadata.deletionTimestamp !== undefined) return
    const { finalizers = [], resourceVersion = '', uid = '' } = object.metadata
    await client.patch(
      object,
      { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } },
      { signal },
    )
  }

  async unprotect({ object, ...place }: RecordedEdge & { readonly object: KubeObject }): Promise<void> {
    const {
      base: { client, signal },
      finalizer,
    } = this.#options
    if (!hasFinalizer(object, finalizer) || this.#isUsed(place)) return
    const { finalizers = [], resourceVersion = '', uid = '' } = object.metadata
    try {
      const left = finalizers.filter((one) => one !== finalizer)
      await client.patch(
        object,
        { metadata: { uid, resourceVersion, finalizers: left.length === 0 ? null : left } },
        { signal },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Lets everything go that nobody uses. */
  async sweep(): Promise<void> {
    const { followed, finalizer } = this.#options
    const held = followed.flatMap(({ kinds }) => kinds).flatMap((kind) => kind.withFinalizer(finalizer))
    for (const object of held) await this.unprotect({ ...refOf(object), apiVersion: object.apiVersion, object })
  }

  #isUsed(place: ObjectRef): boolean {
    const { followed, leaving, refererFinalizer } = this.#options
    return followed.some((one) =>
      one
        .referersOf(place)
        .some(
          (referer) =>
            referer.metadata.uid !== leaving &&
            (referer.metadata.deletionTimestamp === undefined || hasFinalizer(referer, refererFinalizer)),
        ),
    )
  }
}
