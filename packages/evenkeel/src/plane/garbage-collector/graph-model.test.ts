/**
 * The graph against the plainest model there is: a list of objects, searched from end to end.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OwnerReference } from '#api'
import { Graph, type Work } from './graph.ts'
import { isOrphaning, isWaiting, noFacts, type Identity, type ObjectFacts } from './node.ts'

interface Step {
  readonly act: 'observe' | 'remove' | 'look'
  readonly at: number
  readonly owners: readonly { readonly at: number; readonly isBlocking: boolean }[]
  readonly deletion: 'none' | 'plain' | 'waiting' | 'orphaning'
}

const names = ['a', 'b', 'c', 'd', 'e']

const stepOf: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('observe', 'observe', 'observe', 'remove', 'look'),
  at: fc.nat(names.length - 1),
  owners: fc.uniqueArray(fc.record({ at: fc.nat(names.length - 1), isBlocking: fc.boolean() }), {
    maxLength: 3,
    selector: ({ at }) => at,
  }),
  deletion: fc.constantFrom('none', 'plain', 'waiting', 'orphaning'),
})

class Model {
  readonly graph = new Graph()
  readonly seen = new Map<string, ObjectFacts>()
  /** Uids that were seen to go, or looked for in vain: whoever named them then was told, and the link is gone. */
  readonly gone = new Set<string>()
  #version = 0
  /** How often a name was given away: an object that comes again is another. */
  readonly #lives = new Map<string, number>()

  uidAt(at: number): string {
    const name = names[at] ?? ''
    return `${name}-${this.#lives.get(name) ?? 0}`
  }

  run({ act, at, owners, deletion }: Step): void {
    const uid = this.uidAt(at)
    if (act === 'observe')
      this.#observe(uid, this.#factsFor(owners, { deletion, before: this.seen.get(uid) ?? noFacts }))
    else if (act === 'remove' && this.seen.has(uid)) this.#remove(uid)
    else if (act === 'look' && !this.seen.has(uid)) this.#look(uid)
  }

  #factsFor(
    owners: Step['owners'],
    { deletion, before }: { deletion: Step['deletion']; before: ObjectFacts },
  ): ObjectFacts {
    const isDeleted = deletion !== 'none' || before.deletedAt !== ''
    return {
      version: String(++this.#version),
      createdAt: 'then',
      deletedAt: isDeleted ? 'now' : '',
      hasForegroundFinalizer: deletion === 'waiting',
      hasOrphanFinalizer: deletion === 'orphaning',
      owners: owners.map((owner) => referenceTo(this.uidAt(owner.at), owner.isBlocking)),
    }
  }

  #observe(uid: string, facts: ObjectFacts): void {
    const before = this.seen.get(uid) ?? noFacts
    const linked = this.dependentsOf(uid)
    this.seen.set(uid, facts)
    const work = this.graph.observe(identityOf(uid), facts)
    const unseen = facts.owners.filter(
      (owner) => !this.seen.has(owner.uid) && !before.owners.some((old) => old.uid === owner.uid),
    )
    expect(work.orphans).toEqual(isOrphaning(facts) && !isOrphaning(before) ? [uid] : [])
    if (isWaiting(facts) && !isWaiting(before)) expectIn(work, [uid, ...linked.filter((one) => one !== uid)])
    // Whoever waits is looked at when somebody stops blocking it.
    const released = before.owners.filter(
      (old) =>
        old.blockOwnerDeletion &&
        this.seen.has(old.uid) &&
        !facts.owners.some((owner) => owner.uid === old.uid && owner.blockOwnerDeletion),
    )
    expectIn(
      work,
      released.map((owner) => owner.uid).filter((owner) => this.graph.get(owner)),
    )
    for (const owner of unseen) expect(this.graph.get(owner.uid)).toMatchObject({ isVirtual: true })
  }

  #remove(uid: string): void {
    const linked = this.dependentsOf(uid)
    const waiting = (this.seen.get(uid)?.owners ?? []).filter(
      (owner) => owner.uid !== uid && isWaiting(this.seen.get(owner.uid) ?? noFacts),
    )
    this.#forget(uid)
    expectIn(this.graph.remove(uid), [...linked.filter((one) => one !== uid), ...waiting.map((owner) => owner.uid)])
  }

  /** Somebody was named, and the server says that it is not there. */
  #look(uid: string): void {
    const linked = this.graph.get(uid) ? this.dependentsOf(uid) : []
    this.#forget(uid)
    expectIn(this.graph.verifyAbsent(identityOf(uid)), linked)
  }

  #forget(uid: string): void {
    this.seen.delete(uid)
    this.gone.add(uid)
    const [name = ''] = uid.split('-')
    this.#lives.set(name, (this.#lives.get(name) ?? 0) + 1)
  }

  dependentsOf(uid: string): string[] {
    return [...this.seen]
      .filter(([, { owners }]) => owners.some((owner) => owner.uid === uid))
      .map(([dependent]) => dependent)
  }

  blockersOf(uid: string): string[] {
    return [...this.seen]
      .filter(([, { owners }]) => owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion))
      .map(([dependent]) => dependent)
  }

  check(): void {
    const named = new Set([...this.seen.values()].flatMap(({ owners }) => owners.map(({ uid }) => uid)))
    const virtual = [...named].filter((uid) => !this.seen.has(uid) && !this.gone.has(uid))
    expect(this.graph.size).toBe(this.seen.size + virtual.length)
    for (const uid of [...this.seen.keys(), ...virtual]) {
      const node = this.graph.get(uid)
      expect(node?.isVirtual).toBe(!this.seen.has(uid))
      expect([...(node?.dependents ?? [])].map((dependent) => dependent.uid).sort()).toEqual(
        this.dependentsOf(uid).sort(),
      )
      expect(node?.blockingCount).toBe(this.blockersOf(uid).length)
      expect(this.graph.isInCycle(node as NonNullable<typeof node>)).toBe(this.hasRing(uid))
    }
  }

  /** Whether one comes back to an object by going up from it along waiting owners that are blocked. */
  hasRing(uid: string): boolean {
    const up = (from: string): string[] =>
      (this.seen.get(from)?.owners ?? [])
        .filter((owner) => owner.blockOwnerDeletion && isWaiting(this.seen.get(owner.uid) ?? noFacts))
        .map((owner) => owner.uid)
    let reached = new Set(up(uid))
    for (let round = 0; round < names.length; round++) reached = new Set([...reached, ...[...reached].flatMap(up)])
    return reached.has(uid)
  }
}

function identityOf(uid: string): Identity {
  return { apiVersion: 'v1', kind: 'Thing', namespace: 'ns', name: uid.split('-')[0] ?? '', uid }
}

function referenceTo(uid: string, isBlocking: boolean): OwnerReference {
  return { apiVersion: 'v1', kind: 'Thing', name: uid.split('-')[0] ?? '', uid, blockOwnerDeletion: isBlocking }
}

function expectIn({ deletes }: Work, uids: readonly string[]): void {
  expect(deletes).toEqual(expect.arrayContaining([...uids]))
}

test('Graph: after any history, links, counts, rings and work are those of the model', () => {
  fc.assert(
    fc.property(fc.array(stepOf, { maxLength: 40 }), (steps) => {
      const model = new Model()
      for (const step of steps) {
        model.run(step)
        model.check()
      }
    }),
    { numRuns: 300 },
  )
})
