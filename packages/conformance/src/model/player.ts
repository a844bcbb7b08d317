/**
 * Plays a history on a store and compares every result with the model.
 *
 * The model takes its revisions from the store; the player checks that they increase, by one if the store is
 * used alone. Changes that the store makes by itself (expired leases) come from a watch that is always open,
 * the witness, and must match the model.
 */
import assert from 'node:assert/strict'
import { isStoreError } from 'evenkeel/unstable/store'
import type { Check, Store, Write } from 'evenkeel/unstable/store'
import { bytes, good, Reader } from '../cases/store/shorthand.ts'
import type { StoreTarget } from '../targets/target.ts'
import { LeaseModel } from './lease-model.ts'
import { PlayedWatch } from './played-watch.ts'
import { historyKeys, historyPrefixes, pick } from './step.ts'
import type { Claim, Step, WriteStep } from './step.ts'
import { plainEntry, StoreModel } from './store-model.ts'
import type { PlainChange } from './store-model.ts'

/** The outcome of a step in a form that is equal in every engine: revisions by ordinal, not by value. */
export type Outcome = Readonly<Record<string, unknown>>

export interface PlayOptions {
  /**
   * Use only revisions that every engine has, so that outcomes can be compared.
   *
   * @default false
   */
  isComparable?: boolean
}

/** Plays all steps; returns their outcomes. @throws When the store differs from the model. */
export async function play(
  target: StoreTarget,
  steps: readonly Step[],
  { isComparable = false }: PlayOptions = {},
): Promise<Outcome[]> {
  const player = new Player(target, { isComparable })
  await player.begin(await target.open())
  const outcomes: Outcome[] = []
  for (const [index, step] of steps.entries()) {
    try {
      outcomes.push(await player.take(step))
    } catch (error) {
      throw new Error(
        `step ${index}, ${JSON.stringify(step)}, on ${target.name}: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    }
  }
  await player.finish()
  return outcomes
}

class Player {
  readonly #target: StoreTarget
  readonly #isComparable: boolean
  #store!: Store
  #model!: StoreModel
  #witness!: Reader
  #watches: PlayedWatch[] = []
  #leases = new LeaseModel()

  constructor(target: StoreTarget, { isComparable }: Required<PlayOptions>) {
    this.#target = target
    this.#isComparable = isComparable
  }

  async begin(store: Store): Promise<void> {
    this.#store = store
    this.#model = new StoreModel(await store.head())
    this.#model.compacted = await store.compacted()
    await this.#bearWitness()
  }

  /** Opens the watch of everything and waits for its first batch: before that, a compaction could still end it. */
  async #bearWitness(): Promise<void> {
    this.#witness = new Reader(this.#store.watch('', { after: this.#model.head }))
    const write = { key: '/witness', value: bytes('sees'), expect: this.#model.get('/witness')?.revision ?? 0 }
    const result = await this.#store.commit(write)
    assert.ok(result.ok, 'no other writer')
    this.#made([write], result.revision)
    await this.#witness.until(result.revision)
  }

  take(step: Step): Promise<Outcome> {
    switch (step.do) {
      case 'commit':
        return this.#commit(step.writes, step.checks)
      case 'get':
      case 'range':
      case 'hash':
        return this.#read(step)
      case 'compact':
        return this.#compact(step.at)
      case 'watch':
        return this.#watch(step)
      case 'drain':
        return this.#drain(step.watch)
      case 'grant':
        return this.#grant(step.ttlMs)
      case 'renew':
        return this.#renew(step.lease)
      case 'revoke':
        return this.#revoke(step.lease)
      case 'advance':
        return this.#advance(step.byMs)
      case 'reopen':
      case 'crash':
        return this.#restart(step.do)
    }
  }

  /** Checks everything that was received and everything that is stored. */
  async finish(): Promise<void> {
    for (const watch of this.#watches) await watch.drain(this.#model)
    await this.#compareContents()
  }

  async #commit(
    writeSteps: readonly WriteStep[],
    checkSteps: readonly { key: number; claim: Claim }[],
  ): Promise<Outcome> {
    const writes = distinct(
      writeSteps.map((step) => this.#write(step)),
      new Set(),
    )
    const checks = distinct(
      checkSteps.map((step) => this.#check(step)),
      new Set(writes.map(({ key }) => key)),
    )
    const conflict = this.#model.conflict([...writes, ...checks])
    const isLeaseGone = writes.some(({ lease }) => lease !== undefined && !this.#leases.has(lease))
    let result
    try {
      result = await this.#store.commitAll(writes, { checks })
    } catch (error) {
      assert.ok(isStoreError(error, 'NoLease') && isLeaseGone && !conflict, String(error))
      return { refused: 'NoLease' }
    }
    if (!result.ok) {
      assert.deepEqual(
        { key: result.key, current: plainEntry(result.current) },
        conflict && { key: conflict.key, current: conflict.current },
      )
      return { lost: result.key, current: this.#outline(result.current && plainEntry(result.current)) }
    }
    assert.equal(conflict, undefined, 'the commit should have been lost')
    assert.equal(isLeaseGone, false, 'the commit should have failed')
    this.#made(writes, result.revision)
    return { made: this.#number(result.revision) }
  }

  #made(writes: readonly Omit<Write, 'expect'>[], revision: number): void {
    if (this.#target.lacks.alone) assert.ok(revision > this.#model.head, 'revisions increase')
    else assert.equal(revision, this.#model.head + 1)
    this.#model.commit(writes, revision)
    for (const { key, lease } of writes) this.#leases.attach(key, lease)
  }

  async #read(step: Extract<Step, { do: 'get' | 'range' | 'hash' }>): Promise<Outcome> {
    const revision = this.#revisionAt(step.at, { orNewest: true })
    const at = revision ?? (await this.#store.head())
    const refused = this.#refusal(revision)
    if (step.do === 'get') {
      const key = pick(historyKeys, step.key)
      const result = await this.#store.get(key, { revision })
      if (!result.ok) return this.#isRefused(result, refused)
      assert.deepEqual(
        { revision: result.revision, entry: plainEntry(result.entry) },
        { revision: at, entry: this.#model.get(key, at) },
      )
      return { entry: this.#outline(plainEntry(result.entry)) }
    }
    const prefix = pick(historyPrefixes, step.prefix)
    if (step.do === 'hash') {
      const result = await this.#store.hash(prefix, { revision })
      if (!result.ok) return this.#isRefused(result, refused)
      assert.deepEqual(result, { ok: true, revision: at, hash: this.#model.hash(prefix, at) })
      return { hash: this.#target.lacks.alone ? undefined : result.hash }
    }
    const after = step.after === undefined ? undefined : pick(historyKeys, step.after)
    const all = this.#model.range(prefix, at).filter(({ key }) => after === undefined || key > after)
    const result = await this.#store.range(prefix, { revision, limit: step.limit, after })
    if (!result.ok) return this.#isRefused(result, refused)
    assert.equal(refused, undefined)
    const expected = {
      revision: at,
      entries: all.slice(0, step.limit),
      remaining: Math.max(0, all.length - (step.limit ?? Infinity)),
    }
    assert.deepEqual(
      {
        revision: result.revision,
        entries: result.entries.map((entry) => plainEntry(entry)),
        remaining: result.remaining,
      },
      expected,
    )
    return { entries: result.entries.map((entry) => this.#outline(plainEntry(entry))), remaining: result.remaining }
  }

  async #compact(at: number): Promise<Outcome> {
    const revision = this.#revisionAt(at, { orNewest: false }) ?? 0
    const result = await this.#store.compact(revision)
    if (revision > this.#model.head) {
      assert.equal(result.ok, false)
      return this.#isRefused(result, this.#refusal(revision))
    }
    assert.deepEqual(result, { ok: true })
    this.#model.compacted = Math.max(this.#model.compacted, revision)
    return { compacted: this.#number(await this.#store.compacted()) }
  }

  async #watch({ prefix, at, isLazy }: Extract<Step, { do: 'watch' }>): Promise<Outcome> {
    const after = this.#revisionAt(at, { orNewest: false }) ?? 0
    const isServed = this.#refusal(after) === undefined
    const watch = new PlayedWatch(this.#store, { prefix: pick(historyPrefixes, prefix), after })
    if (isLazy && isServed) {
      this.#watches.push(watch)
      return { watching: true }
    }
    const received = await watch.drain(this.#model)
    if (isServed) this.#watches.push(watch)
    else assert.deepEqual({ ok: false, ...watch.end }, this.#refusal(after))
    return { received: received.map((change) => this.#outlineChange(change)), end: watch.end?.reason }
  }

  async #drain(index: number): Promise<Outcome> {
    if (this.#watches.length === 0) return {}
    const watch = pick(this.#watches, index)
    await watch.drain(this.#model)
    return {}
  }

  async #grant(ttlMs: number): Promise<Outcome> {
    const lease = await this.#store.grant(ttlMs)
    assert.ok(this.#target.lacks.time ? lease.ttlMs >= ttlMs : lease.ttlMs === ttlMs)
    this.#leases.add(lease)
    return { granted: true }
  }

  async #renew(index: number): Promise<Outcome> {
    const id = this.#leases.pick(index)
    const isRenewed = await this.#store.renew(id)
    assert.equal(isRenewed, this.#leases.renew(id))
    return { isRenewed }
  }

  async #revoke(index: number): Promise<Outcome> {
    const id = this.#leases.pick(index)
    const [isThere, keys] = [this.#leases.has(id), this.#leases.keysOf(id)]
    assert.equal(await this.#store.revoke(id), isThere)
    this.#leases.end(id)
    if (keys.length > 0) await this.#seeEnds([keys])
    return { isRevoked: isThere, keys }
  }

  async #advance(byMs: number): Promise<Outcome> {
    await this.#target.advance(byMs)
    const ended = this.#leases.advance(byMs)
    await this.#seeEnds(ended.filter((keys) => keys.length > 0))
    return { ended }
  }

  /** Waits until the witness has received the deletion of these groups of keys, each in one commit. */
  async #seeEnds(groups: readonly (readonly string[])[]): Promise<void> {
    const left = groups.map((keys) => [...keys].sort())
    while (left.length > 0) {
      const { changes } = await this.#witness.batch()
      const isNew = changes.filter(({ revision }) => revision > this.#model.head)
      for (const revision of new Set(isNew.map((change) => change.revision))) {
        const keys = isNew.filter((change) => change.revision === revision).map(({ key }) => key)
        const index = left.findIndex((group) => group.join() === [...keys].sort().join())
        assert.ok(index >= 0, `unexpected deletion of ${keys.join()} in one commit; expected ${JSON.stringify(left)}`)
        left.splice(index, 1)
        this.#made(
          keys.map((key) => ({ key })),
          revision,
        )
      }
    }
  }

  async #restart(how: 'reopen' | 'crash'): Promise<Outcome> {
    const before = this.#model.head
    this.#store = await this.#target[how]()
    const [head, compacted] = [await this.#store.head(), await this.#store.compacted()]
    if (how === 'crash')
      assert.ok(head > before && compacted > before, 'after a power cut revisions continue above all earlier ones')
    else
      assert.ok(
        head >= before && compacted >= this.#model.compacted,
        `reopened at ${head} compacted at ${compacted}; it was at ${before} and ${this.#model.compacted}`,
      )
    this.#model.moveTo(head)
    this.#model.compacted = compacted
    this.#watches = []
    await this.#bearWitness()
    if (how === 'crash')
      for (const id of this.#leases.ids) assert.equal(await this.#store.renew(id), this.#leases.renew(id))
    await this.#compareContents()
    return { how }
  }

  async #compareContents(): Promise<void> {
    const result = good(await this.#store.range(''))
    assert.deepEqual(
      result.entries.map((entry) => plainEntry(entry)),
      this.#model.range(''),
    )
  }

  #write({ key, value, stamped, lease, claim }: WriteStep): Write {
    const condition = this.#check({ key, claim })
    if (value === undefined) return { ...condition, expect: condition.expect || 1 }
    const id = lease === undefined || this.#leases.ids.length === 0 ? undefined : this.#leases.pick(lease)
    return {
      ...condition,
      value: bytes(value),
      ...(stamped === true && { stampAt: value.length >> 1 }),
      ...(id !== undefined && { lease: id }),
    }
  }

  #check({ key: index, claim }: { key: number; claim: Claim }): Check {
    const key = pick(historyKeys, index)
    const current = this.#model.get(key)?.revision ?? 0
    const claims = { right: current, stale: Math.max(current - 1, 1), absent: 0, ahead: this.#model.head + 1 }
    return { key, expect: claims[claim] }
  }

  /** A relevant revision: any committed one, both sides of the boundary, a future one, or the newest. */
  #revisionAt(at: number, { orNewest }: { orNewest: boolean }): number | undefined {
    const { compacted, head, revisions } = this.#model
    const own = [...(orNewest ? [undefined] : []), ...revisions.slice(-12)]
    if (this.#isComparable) return pick(own, at)
    const first = this.#target.lacks.alone ? (revisions[0] ?? 0) : 0
    const boundary = [Math.max(compacted - 1, first), Math.max(compacted, first), Math.min(compacted + 1, head)]
    return pick([...own, ...boundary, ...(this.#target.lacks.alone ? [] : [head + 1])], at)
  }

  #refusal(revision: number | undefined): Outcome | undefined {
    const { head, compacted } = this.#model
    if (revision === undefined) return undefined
    if (revision > head) return { ok: false, reason: 'ahead', revision: head }
    return revision < compacted ? { ok: false, reason: 'compacted', compacted } : undefined
  }

  #isRefused(result: Outcome, expected: Outcome | undefined): Outcome {
    assert.deepEqual(result, expected)
    return { refused: result['reason'] }
  }

  /** A revision as its ordinal, which is equal in every engine. */
  #number(revision: number): number {
    return this.#model.revisions.findLastIndex((one) => one <= revision)
  }

  #outline(entry: PlainChange['entry']): unknown {
    return (
      entry && {
        key: entry.key,
        value: entry.value.replace(String(entry.revision), '#'),
        at: this.#number(entry.revision),
        made: this.#number(entry.created),
        isLeased: entry.lease !== undefined,
      }
    )
  }

  #outlineChange({ key, revision, entry, previous }: PlainChange): unknown {
    return { key, at: this.#number(revision), entry: this.#outline(entry), previous: this.#outline(previous) }
  }
}

function distinct<T extends { readonly key: string }>(conditions: readonly T[], taken: Set<string>): T[] {
  return conditions.filter(({ key }) => !taken.has(key) && taken.add(key))
}
