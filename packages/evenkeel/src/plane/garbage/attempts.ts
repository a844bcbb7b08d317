/**
 * One look at one object: gather what must be known, decide, do it.
 *
 * A first look believes the watches and is content with one request: what is deleted or changed is bound to the version
 * that was seen. A look after a failure asks the server for everything.
 */
import { foregroundFinalizer, orphanFinalizer } from '#api'
import { isUnknownKind } from '#client'
import type { Backoff, Outcome } from '#queue'
import { decide } from './decide.ts'
import type { Decision, OwnerState } from './decide.ts'
import type { ObjectFacts, Identity } from './graph/facts.ts'
import type { Graph } from './graph/graph.ts'
import type { Node } from './graph/node.ts'
import type { Work } from './graph/work.ts'
import type { Operations } from './operations.ts'
import { ownerStateOf, UnreachableOwnerError } from './standing.ts'

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
