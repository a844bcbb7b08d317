/**
 * The work on one object: collect the state of its owners, decide, and carry out the decision.
 *
 * The first attempt uses the state of the watches and needs one request, whose resourceVersion precondition detects an
 * outdated state. An attempt after a failure reads everything from the server.
 *
 *   a solid owner ───────────▶ keep; remove references to owners that are gone or in deletion
 *   else an orphaning owner ─▶ remove that reference; check again
 *   else a waiting owner ────▶ delete, with foreground propagation if it has dependents
 *   else ────────────────────▶ delete, with the propagation of its own finalizers
 *
 * The graph is trusted that an owner exists: if that is outdated, the delete event of the owner enqueues its dependents
 * again. That an owner does not exist is trusted only after its delete event or a 404 answer: a watch of another kind that
 * lags behind must not cause a deletion.
 */
import { foregroundFinalizer, orphanFinalizer, type OwnerReference } from '#api'
import { isUnknownKind } from '#client'
import type { Backoff, Outcome } from '#queue'
import type { Graph, Work } from './graph.ts'
import {
  factsOf,
  identityIn,
  isInReach,
  isNamedBy,
  isWaiting,
  type Identity,
  type Node,
  type ObjectFacts,
} from './node.ts'
import type { Operations } from './operations.ts'

interface AttemptsOptions {
  readonly graph: Graph
  readonly operations: Operations
  /** Back-off for the lookup of an owner that exists and is not observed by a watch yet. */
  readonly lookupBackoff: Backoff
  /** Enqueues the work of a graph change. */
  readonly enqueue: (work: Work) => void
  /** An owner exists, but no watch has reported it: its kind may be new. */
  readonly onUnwatched: (identity: Identity) => void
}

/** How many dependents are patched at the same time. */
const parallelMax = 20

export class Attempts {
  readonly #graph: Graph
  readonly #operations: Operations
  readonly #lookupBackoff: Backoff
  readonly #enqueue: (work: Work) => void
  readonly #onUnwatched: (identity: Identity) => void

  constructor({ graph, operations, lookupBackoff, enqueue, onUnwatched }: AttemptsOptions) {
    this.#graph = graph
    this.#operations = operations
    this.#lookupBackoff = lookupBackoff
    this.#enqueue = enqueue
    this.#onUnwatched = onUnwatched
  }

  /** Deletes an object without owners, completes its foreground deletion, or looks up a virtual owner. */
  async attemptDelete(uid: string, { isRetry }: { isRetry: boolean }): Promise<Outcome | undefined> {
    const node = this.#graph.get(uid)
    if (!node) return undefined
    try {
      if (node.isVirtual) return await this.#lookUp(node.identity)
      if (node.isWaiting) await this.#release(node)
      else if (!node.isBeingDeleted) await this.#check(node, { isRetry })
      return undefined
    } catch (error) {
      if (error instanceof UnreachableOwnerError) return undefined
      if (isUnknownKind(error)) return { kind: 'park', waitingFor: `${error.kind.apiVersion} ${error.kind.kind}` }
      throw error
    }
  }

  /** Completes an orphan deletion: removes the owner from its dependents, and then its finalizer. */
  async attemptOrphan(uid: string): Promise<void> {
    const node = this.#graph.get(uid)
    if (!node || node.orphanedAt === '') return
    // Dependents that are observed later are recognized by the orphan deletion that the graph has noted.
    const uids = new Set([uid])
    await inParallel([...node.dependents], ({ identity, facts }) => this.#operations.strip(identity, facts, uids))
    await this.#operations.unfinalize(node.identity, orphanFinalizer)
  }

  /** Looks up a virtual owner on the server. */
  async #lookUp(identity: Identity): Promise<Outcome | undefined> {
    const isNamespaced = await this.#operations.isNamespaced(identity)
    if (isNamespaced && identity.namespace === '') return undefined
    const coordinates = isNamespaced ? identity : { ...identity, namespace: '' }
    const found = await this.#operations.readSame(coordinates)
    if (!found) {
      this.#enqueue(this.#graph.verifyAbsent(coordinates))
      return undefined
    }
    // Its watch may be late or missing, or the owner may be gone again without an event.
    if (this.#graph.get(identity.uid)?.isVirtual !== true) return undefined
    this.#onUnwatched(identity)
    return { kind: 'after', afterMs: this.#lookupBackoff.next(identity.uid) }
  }

  /** Completes a foreground deletion. */
  async #release(node: Node): Promise<void> {
    const { identity, facts } = node
    if (node.blockingCount === 0) await this.#operations.unfinalize(identity, foregroundFinalizer)
    else if (this.#graph.isInCycle(node)) await this.#operations.unblock(identity, facts)
  }

  async #check(node: Node, { isRetry }: { isRetry: boolean }): Promise<void> {
    const { identity } = node
    const facts = isRetry ? await this.#operations.readSame(identity) : node.facts
    if (!facts) return this.#enqueue(this.#graph.verifyAbsent(identity))
    if (facts.deletedAt !== '') return undefined
    const ownerStates: OwnerState[] = []
    for (const reference of facts.owners) {
      ownerStates.push(
        await ownerStateOf(
          reference,
          { identity, createdAt: facts.createdAt },
          { graph: this.#graph, operations: this.#operations },
        ),
      )
    }
    return this.#carryOut(decide({ facts, ownerStates, hasDependents: node.dependentsCount > 0 }), identity, facts)
  }

  async #carryOut(decision: Decision, identity: Identity, facts: ObjectFacts): Promise<void> {
    if (decision.do === 'strip') await this.#operations.strip(identity, facts, decision.uids)
    if (decision.do !== 'delete') return
    const outcome = await this.#operations.delete(identity, { facts, propagation: decision.propagation })
    if (outcome === 'gone') this.#enqueue(this.#graph.verifyAbsent(identity))
  }
}

/** Processes every item, even after a failure. @throws the first failure. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const errors: unknown[] = []
  const one = async (): Promise<void> => {
    for (const item of left)
      await work(item).catch((error: unknown) => {
        errors.push(error)
      })
  }
  await Promise.all(Array.from({ length: Math.min(parallelMax, items.length) }, one))
  if (errors.length > 0) throw errors[0]
}

/**
 * The state of an owner.
 *
 * - `solid`: it exists. It may be being deleted: its dependents are checked when it is gone.
 * - `waiting`: it is in foreground deletion, and waits for its dependents.
 * - `dangling`: it does not exist.
 * - `orphaned`: it does not exist, and has orphaned its dependents.
 */
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'orphaned'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

type Decision =
  | { readonly do: 'keep' }
  /** Remove the references to these owners. */
  | { readonly do: 'strip'; readonly uids: ReadonlySet<string> }
  | { readonly do: 'delete'; readonly propagation: Propagation }

interface DecisionInput {
  readonly facts: ObjectFacts
  /** For each owner reference, in order. */
  readonly ownerStates: readonly OwnerState[]
  readonly hasDependents: boolean
}

export function decide({ facts, ownerStates, hasDependents }: DecisionInput): Decision {
  const { owners } = facts
  if (owners.length === 0) return { do: 'keep' }
  const uidsOf = (...states: readonly OwnerState[]): Set<string> => uidsWith(owners, ownerStates, states)
  if (ownerStates.includes('solid')) {
    const uids = uidsOf('dangling', 'waiting', 'orphaned')
    // A UID with two references, one of them right, is a solid owner.
    for (const uid of uidsOf('solid')) uids.delete(uid)
    return uids.size === 0 ? { do: 'keep' } : { do: 'strip', uids }
  }
  if (ownerStates.includes('orphaned')) return { do: 'strip', uids: uidsOf('orphaned') }
  if (ownerStates.includes('waiting') && hasDependents) return { do: 'delete', propagation: 'Foreground' }
  return { do: 'delete', propagation: ownPropagation(facts) }
}

/** The propagation that its own finalizers ask for. */
function ownPropagation({ hasOrphanFinalizer, hasForegroundFinalizer }: ObjectFacts): Propagation {
  return hasOrphanFinalizer ? 'Orphan' : hasForegroundFinalizer ? 'Foreground' : 'Background'
}

function uidsWith(
  owners: readonly OwnerReference[],
  ownerStates: readonly OwnerState[],
  states: readonly OwnerState[],
): Set<string> {
  return new Set(owners.filter((_, index) => states.includes(ownerStates[index] ?? 'solid')).map(({ uid }) => uid))
}

/** A cluster-scoped object has a namespaced owner: the reference has no namespace, so it cannot be looked up. */
class UnreachableOwnerError extends Error {
  override readonly name = 'UnreachableOwnerError'
}

interface OwnerLookup {
  readonly graph: Graph
  readonly operations: Operations
}

interface Dependent {
  readonly identity: Identity
  readonly createdAt: string
}

/**
 * The state of an owner, from the graph or from the server.
 *
 * @throws {UnknownKindError} if the kind of the owner is not installed.
 * @throws {UnreachableOwnerError}
 */
async function ownerStateOf(
  reference: OwnerReference,
  { identity: { namespace, name }, createdAt }: Dependent,
  { graph, operations }: OwnerLookup,
): Promise<OwnerState> {
  const { absent } = graph
  const gone = (): OwnerState => (absent.hasOrphaned(reference.uid, createdAt) ? 'orphaned' : 'dangling')
  const [clusterScoped, namespaced] = [identityIn('', reference), identityIn(namespace, reference)]
  if (absent.has(clusterScoped) || absent.has(namespaced)) return gone()
  const known = graph.get(reference.uid)
  if (known && !known.isVirtual && isInReach(known.identity, namespace) && isNamedBy(known.identity, reference))
    return known.isWaiting ? 'waiting' : 'solid'
  const isNamespaced = await operations.isNamespaced(reference)
  if (isNamespaced && namespace === '')
    throw new UnreachableOwnerError(`${name} is cluster-scoped and cannot have a namespaced owner (${reference.kind})`)
  const coordinates = isNamespaced ? namespaced : clusterScoped
  const owner = await operations.read(coordinates)
  if (owner?.uid === reference.uid) return isWaiting(factsOf(owner)) ? 'waiting' : 'solid'
  absent.add(coordinates)
  return gone()
}
