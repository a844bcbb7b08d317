/** What a Schedule does at a moment, whatever the clock has done since the last one. */
import { parseTime } from 'evenkeel/unstable/api'
import { randomInt, SeededRandom } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { parseCron } from './cron.ts'
import { decideSchedule, type ScheduleDecision } from './decision.ts'
import type { Timing } from './due-times.ts'
import { TimeZone } from './time-zone.ts'

const at = (time: string): number => parseTime(`2026-01-01T${time}Z`) ?? NaN
const everyFive: Timing = { cron: parseCron('*/5 * * * *'), zone: TimeZone.find('UTC') as TimeZone }

const decide = (since: string, now: string, options: object = {}): ScheduleDecision =>
  decideSchedule(everyFive, { nowMs: at(now), decidedUntilMs: at(since), missedPolicy: 'RunLatest', ...options })

describe('a Schedule', () => {
  test('has nothing to do between two times', () => {
    expect(decide('10:00:00', '10:04:59')).toEqual({
      decidedUntilMs: at('10:00:00'),
      missed: 0,
      nextMs: at('10:05:00'),
    })
  })

  test('makes one Task for the latest of the times that passed while it was asleep', () => {
    const due = { decidedUntilMs: at('11:00:00'), dueMs: at('11:00:00'), missed: 11, nextMs: at('11:05:00') }
    expect(decide('10:02:00', '11:02:30')).toEqual(due)
    const { dueMs, missed } = decide('10:02:00', '11:02:30', { missedPolicy: 'Skip' })
    expect([dueMs, missed]).toEqual([undefined, 12])
  })

  test('is on time when it is a moment late, also with Skip', () => {
    expect(decide('10:00:00', '10:05:59', { missedPolicy: 'Skip' }).dueMs).toBe(at('10:05:00'))
  })

  test('leaves out what is later than its deadline', () => {
    expect(decide('10:00:00', '10:07:00', { startingDeadlineSeconds: 60 })).toMatchObject({ missed: 1 })
    expect(decide('10:00:00', '10:06:00', { startingDeadlineSeconds: 60 }).dueMs).toBe(at('10:05:00'))
  })

  test('does not wait for a time that a wrong clock has decided', () => {
    const decidedUntilMs = at('10:00:00') + 40 * 365 * 86_400_000
    expect(decideSchedule(everyFive, { nowMs: at('10:01:00'), decidedUntilMs, missedPolicy: 'RunLatest' })).toEqual({
      decidedUntilMs: at('10:01:00'),
      missed: 0,
      nextMs: at('10:05:00'),
    })
  })
})

test('W44: with a clock that jumps an hour to and fro no time is due twice, and one Task at most is made at a time', () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = new SeededRandom(`jumps ${seed}`)
    let [nowMs, decidedUntilMs] = [at('12:00:00'), at('12:00:00')]
    const due: number[] = []
    for (let turn = 0; turn < 100; turn++) {
      nowMs += 60_000
      if (randomInt(random, 10) === 0) nowMs += (randomInt(random, 2) === 0 ? -1 : 1) * 3_600_000
      const decision = decideSchedule(everyFive, { nowMs, decidedUntilMs, missedPolicy: 'RunLatest' })
      decidedUntilMs = decision.decidedUntilMs
      if (decision.dueMs !== undefined) due.push(decision.dueMs)
      expect(decision.dueMs ?? 0).toBeLessThanOrEqual(nowMs)
      expect(decision.nextMs).toBeGreaterThan(nowMs)
    }
    expect(new Set(due).size, `seed ${seed}`).toBe(due.length)
    expect(due.length).toBeLessThanOrEqual(100)
  }
})
