/** The steps of a roll, and what holds in every order of events. */
import { randomInt, SeededRandom } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { nextRollout, type Member } from './rollout.ts'

const memberOf = (index: number, revision: string, isReady = true): Member => ({
  index,
  revision,
  isReady,
  isDeleting: false,
})
const usual = { replicas: 3, partition: 0, isPaused: false, updateRevision: 'new' }
const old = [memberOf(0, 'old'), memberOf(1, 'old'), memberOf(2, 'old')]

describe('a roll', () => {
  test('begins with the spare, and goes on when that is ready, with the highest number', () => {
    expect(nextRollout({ ...usual, members: old })).toEqual({
      create: [3],
      update: undefined,
      remove: [],
      isRolling: true,
    })
    expect(nextRollout({ ...usual, members: [...old, memberOf(3, 'new', false)] })).toMatchObject({ update: undefined })
    expect(nextRollout({ ...usual, members: [...old, memberOf(3, 'new')] })).toMatchObject({ update: 2, create: [] })
  })

  test('waits while a new one is not ready, and when too few others are', () => {
    const members = [memberOf(0, 'old'), memberOf(1, 'old'), memberOf(2, 'new', false), memberOf(3, 'new')]
    expect(nextRollout({ ...usual, members }).update).toBeUndefined()
    const weak = [memberOf(0, 'old', false), memberOf(1, 'old'), memberOf(2, 'new'), memberOf(3, 'new')]
    // The one that is not ready costs nothing.
    expect(nextRollout({ ...usual, members: weak }).update).toBe(0)
  })

  test('removes the spare when all others are ready', () => {
    const members = [memberOf(0, 'new'), memberOf(1, 'new'), memberOf(2, 'new', false), memberOf(3, 'new')]
    expect(nextRollout({ ...usual, members }).remove).toEqual([])
    const ready = [memberOf(0, 'new'), memberOf(1, 'new'), memberOf(2, 'new'), memberOf(3, 'new')]
    expect(nextRollout({ ...usual, members: ready }).remove).toEqual([3])
  })

  test('back to the old revision updates what is broken first, and then the spare is not needed', () => {
    const members = [memberOf(0, 'old'), memberOf(1, 'old'), memberOf(2, 'broken', false), memberOf(3, 'broken')]
    expect(nextRollout({ ...usual, updateRevision: 'old', members }).update).toBe(2)
  })

  test('stops below the partition, and does not begin while it is paused', () => {
    const members = [memberOf(0, 'old'), memberOf(1, 'old'), memberOf(2, 'new')]
    expect(nextRollout({ ...usual, partition: 2, members })).toMatchObject({ isRolling: false, create: [] })
    expect(nextRollout({ ...usual, isPaused: true, members: old })).toMatchObject({ create: [], update: undefined })
  })
})

/** A world of Processes that become ready, fail and end in any order. */
class Fleet {
  members: readonly Member[] = []

  replace(index: number, change: Partial<Member>): void {
    this.members = this.members.map((one) => (one.index === index ? { ...one, ...change } : one))
  }

  perform({ create, update, remove }: ReturnType<typeof nextRollout>, revision: string): void {
    for (const index of remove) this.replace(index, { isDeleting: true, isReady: false })
    if (update !== undefined) this.replace(update, { revision, isReady: false })
    this.members = [...this.members, ...create.map((index) => memberOf(index, revision, false))]
  }

  get ready(): number {
    return this.members.filter(({ isReady }) => isReady).length
  }
}

test('in any order of events a step leaves as many ready as are wanted, if that many were, and makes one more at most', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new SeededRandom(`roll ${seed}`)
    const replicas = 1 + randomInt(random, 4)
    const fleet = new Fleet()
    let revision = 'r0'
    for (let turn = 0; turn < 120; turn++) {
      const step = nextRollout({ ...usual, replicas, updateRevision: revision, members: fleet.members })
      const before = fleet.ready
      fleet.perform(step, revision)
      if (before >= replicas) expect(fleet.ready, `seed ${seed}, turn ${turn}`).toBeGreaterThanOrEqual(replicas)
      expect(fleet.members.length).toBeLessThanOrEqual(replicas + 1)
      const one = fleet.members[randomInt(random, fleet.members.length)]
      if (one?.isDeleting) fleet.members = fleet.members.filter((other) => other !== one)
      else if (one) fleet.replace(one.index, { isReady: randomInt(random, 8) > 0 })
      if (randomInt(random, 40) === 0) revision = `r${randomInt(random, 3)}`
    }
    // Left alone, it gets there.
    for (let turn = 0; turn < 60; turn++) {
      fleet.perform(nextRollout({ ...usual, replicas, updateRevision: revision, members: fleet.members }), revision)
      fleet.members = fleet.members.filter(({ isDeleting }) => !isDeleting)
      for (const { index } of fleet.members) fleet.replace(index, { isReady: true })
    }
    expect(fleet.members.map((one) => one.revision)).toEqual(Array.from({ length: replicas }, () => revision))
  }
})
