/**
 * One look at one object: gather what must be known, decide, do it.
 *
 * A first look believes the watches and is content with one request: what is deleted or changed is bound to the version
 * that was seen. A look after a failure asks the server for everything.
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
  /** How long to wait before an owner that is there, and was not seen by a watch, is looked for again. */
  readonly patience: Backoff
  /** Does what a change of the graph asks for. */
  readonly follow: (work: Work) => void
}

/** References of so many dependents are changed at the same time. */
const togetherMax = 20

export class Attempts {
  readonly #graph: Graph
  readonly #operations: Operations
  readonly #patience: Backoff
  readonly #follow: (work: Work) => void

  constructor({ graph, operations, patience, follow }: AttemptsOptions) {
    this.#graph = graph
    this.#operations = operations
    this.#patience = patience
    this.#follow = follow
  }

  /** Sees to it that an object goes if nobody owns it any more, or is let go if nothing holds it. */
  async attemptDelete(uid: string, { isRetry }: { isRetry: boolean }): Promise<Outcome | undefined> {
    const node = this.#graph.get(uid)
    if (!node) return undefined
    try {
      if (node.isVirtual) return await this.#lookFor(node.identity)
      if (node.isWaiting) await this.#release(node)
      else if (!node.isBeingDeleted) await this.#judge(node, { isRetry })
      return undefined
    } catch (error) {
      if (error instanceof UnreachableOwnerError) return undefined
      if (isUnknownKind(error)) return { kind: 'park', waitingFor: `${error.kind.apiVersion} ${error.kind.kind}` }
      throw error
    }
  }

  /** Takes an owner that goes out of the references of its dependents, and then lets it go. */
  async attemptOrphan(uid: string): Promise<void> {
    const node = this.#graph.get(uid)
    if (!node || node.orphanedAt === '') return
    // Dependents that a watch tells of too late for this are recognised by what the graph notes when the owner goes.
    const uids = new Set([uid])
    await inParallel([...node.dependents], ({ identity, facts }) => this.#operations.strip(identity, facts, uids))
    await this.#operations.unfinalize(node.identity, orphanFinalizer)
  }

  /** Asks the server whether an owner that no watch has told of is there. */
  async #lookFor(identity: Identity): Promise<Outcome | undefined> {
    const isNamespaced = await this.#operations.isNamespaced(identity)
    if (isNamespaced && identity.namespace === '') return undefined
    const place = isNamespaced ? identity : { ...identity, namespace: '' }
    const found = await this.#operations.readSame(place)
    if (!found) {
      this.#follow(this.#graph.verifyAbsent(place))
      return undefined
    }
    // Its watch may be late, or there may be none; it may also have come and gone in between, which no watch tells.
    return this.#graph.get(identity.uid)?.isVirtual
      ? { kind: 'after', afterMs: this.#patience.next(identity.uid) }
      : undefined
  }

  /** Lets an owner go that waited for its dependents. */
  async #release(node: Node): Promise<void> {
    const { identity, facts } = node
    if (node.blockingCount === 0) await this.#operations.unfinalize(identity, foregroundFinalizer)
    else if (this.#graph.isInRing(node)) await this.#operations.unblock(identity, facts)
  }

  async #judge(node: Node, { isRetry }: { isRetry: boolean }): Promise<void> {
    const { identity } = node
    const facts = isRetry ? await this.#operations.readSame(identity) : node.facts
    if (!facts) return this.#follow(this.#graph.verifyAbsent(identity))
    if (facts.deletedAt !== '') return undefined
    const standings: OwnerState[] = []
    for (const reference of facts.owners) {
      standings.push(
        await ownerStateOf(
          reference,
          { identity, createdAt: facts.createdAt },
          { graph: this.#graph, operations: this.#operations },
        ),
      )
    }
    return this.#carryOut(
      decide({ facts, ownerStates: standings, hasDependents: node.dependentsCount > 0 }),
      identity,
      facts,
    )
  }

  async #carryOut(decision: Decision, identity: Identity, facts: ObjectFacts): Promise<void> {
    if (decision.do === 'strip') await this.#operations.strip(identity, facts, decision.uids)
    if (decision.do !== 'delete') return
    const told = await this.#operations.delete(identity, { facts, propagation: decision.propagation })
    if (told === 'gone') this.#follow(this.#graph.verifyAbsent(identity))
  }
}

/** All are tried, whatever becomes of one. @throws the first failure. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const errors: unknown[] = []
  const one = async (): Promise<void> => {
    for (const item of left)
      await work(item).catch((error: unknown) => {
        errors.push(error)
      })
  }
  await Promise.all(Array.from({ length: Math.min(togetherMax, items.length) }, one))
  if (errors.length > 0) throw errors[0]
}

/*
 * What is to be done about one object, from what is known of it and of its owners. Pure: the same facts, the same answer.
 *
 *   an owner that stands ─────────▶ keep it; references to owners that are gone or going are taken out
 *   else, an owner that let it go ▶ that reference is taken out; what is left is judged again
 *   else, an owner that waits ────▶ delete it, with its own dependents before it if it has any
 *   else ─────────────────────────▶ delete it, as its own finalizers say
 */

/**
 * How it is with one owner.
 *
 * - `solid`: it is there. It may be being deleted: what it owns is looked at when it is gone.
 * - `waiting`: it is being deleted and waits for its dependents to go first.
 * - `dangling`: it is not there.
 * - `orphaned`: it is not there, and was to go without its dependents.
 */
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'orphaned'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

type Decision =
  | { readonly do: 'keep' }
  /** Take these owners out of its references. */
  | { readonly do: 'strip'; readonly uids: ReadonlySet<string> }
  | { readonly do: 'delete'; readonly propagation: Propagation }

interface DecisionInput {
  readonly facts: ObjectFacts
  /** For each of its references, in their order. */
  readonly ownerStates: readonly OwnerState[]
  readonly hasDependents: boolean
}

export function decide({ facts, ownerStates: standings, hasDependents }: DecisionInput): Decision {
  const { owners } = facts
  if (owners.length === 0) return { do: 'keep' }
  const uidsOf = (...wanted: readonly OwnerState[]): Set<string> => uidsWith(owners, standings, wanted)
  if (standings.includes('solid')) {
    const uids = uidsOf('dangling', 'waiting', 'orphaned')
    // A uid that is named twice, once rightly, holds it all the same.
    for (const uid of uidsOf('solid')) uids.delete(uid)
    return uids.size === 0 ? { do: 'keep' } : { do: 'strip', uids }
  }
  if (standings.includes('orphaned')) return { do: 'strip', uids: uidsOf('orphaned') }
  if (standings.includes('waiting') && hasDependents) return { do: 'delete', propagation: 'Foreground' }
  return { do: 'delete', propagation: ownPropagation(facts) }
}

/** What it says of its own dependents is to be honoured, also when it goes for want of an owner. */
function ownPropagation({ hasOrphanFinalizer, hasForegroundFinalizer }: ObjectFacts): Propagation {
  return hasOrphanFinalizer ? 'Orphan' : hasForegroundFinalizer ? 'Foreground' : 'Background'
}

function uidsWith(
  owners: readonly OwnerReference[],
  standings: readonly OwnerState[],
  wanted: readonly OwnerState[],
): Set<string> {
  return new Set(owners.filter((_, at) => wanted.includes(standings[at] ?? 'solid')).map(({ uid }) => uid))
}

/*
 * How it is with an owner: by what is known, else by asking.
 *
 * The graph is believed when it says that an owner is there: should that be old, the owner's end will be told and its
 * dependents looked at again. That an owner is *not* there is believed only after its end was told, or the server said
 * so: a watch of another kind that lags behind must not cost anybody's life.
 */

/** An object of the whole cluster that names an owner of a kind that lives in namespaces: there is no place to look. */
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
 * @throws {UnknownKindError} when the server does not have the owner's kind, or not yet.
 * @throws {UnreachableOwnerError}
 */
async function ownerStateOf(
  reference: OwnerReference,
  { identity: { namespace, name }, createdAt }: Dependent,
  { graph, operations }: OwnerLookup,
): Promise<OwnerState> {
  const { absent } = graph
  const gone = (): OwnerState => (absent.hasOrphaned(reference.uid, createdAt) ? 'orphaned' : 'dangling')
  const [wide, narrow] = [identityIn('', reference), identityIn(namespace, reference)]
  if (absent.has(wide) || absent.has(narrow)) return gone()
  const known = graph.get(reference.uid)
  if (known && !known.isVirtual && isInReach(known.identity, namespace) && isNamedBy(known.identity, reference))
    return known.isWaiting ? 'waiting' : 'solid'
  const isNamespaced = await operations.isNamespaced(reference)
  if (isNamespaced && namespace === '')
    throw new UnreachableOwnerError(
      `${name} belongs to no namespace, so it cannot be owned by a ${reference.kind}, which does`,
    )
  const place = isNamespaced ? narrow : wide
  const owner = await operations.read(place)
  if (owner?.uid === reference.uid) return isWaiting(factsOf(owner)) ? 'waiting' : 'solid'
  absent.add(place)
  return gone()
}
