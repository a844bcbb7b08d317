/**
 * Programs driven by time are explored without a finding, and their mistakes are found.
 */
import { describe, expect, test } from 'vitest'
import { explore } from '../explore.ts'
import type { Tier } from '../tier-runner.ts'
import type { Subject } from './nature.fixture.ts'
import { backups, expiries, renewals, schedules, stamps } from './time.fixture.ts'

async function findings(
  { controllers, scenario }: Subject,
  { until = [], tier = 1 }: { until?: readonly string[]; tier?: Tier } = {},
): Promise<readonly string[]> {
  const { failures } = await explore({
    controllers,
    scenario,
    tier,
    stories: 0,
    until: ({ rule }) => until.includes(rule),
  })
  return failures.map(
    ({ rule, about, message, when, diff = [] }) => `${rule} ${about}: ${message} [${when.join()}] ${diff.join('; ')}`,
  )
}

describe('a program driven by time has no finding', () => {
  test.each([
    ['a schedule by the hour', schedules()],
    ['a schedule by the minute, which is due during an outage', schedules({ everyMinutes: 1 })],
    ['a renewal in 60 days', renewals()],
    ['a time to live', expiries()],
    ['a daily backup, and steps that wait', backups()],
    ['a status without the time', stamps({ precision: 'none' })],
  ])('%s', async (_, subject) => {
    expect(await findings(subject)).toEqual([])
  })
})

describe('a mistake with time is found', () => {
  test.each([
    ['a schedule forgets its timer in a restart', schedules({ mistake: 'forgets' }), 'failure'],
    ['a run is lost after a crash', schedules({ mistake: 'late' }), 'failure'],
    ['a renewal is forgotten', renewals({ mistake: 'forgets' }), 'failure'],
    ['what has expired stays after a crash', expiries({ mistake: 'keeps' }), 'failure'],
    ['a backup is lost after a crash', backups({ mistake: 'loses' }), 'failure'],
  ])('%s', async (_, subject, rule) => {
    expect((await findings(subject, { until: [rule] })).filter((line) => line.startsWith(rule))).not.toEqual([])
  })

  test('the current time in a status is found in the undisturbed schedule', async () => {
    expect(await findings(stamps({ precision: 'milliseconds' }), { tier: 0 })).toContainEqual(
      expect.stringMatching(/^hot-loop/),
    )
    expect(await findings(stamps({ precision: 'seconds' }), { tier: 0 })).toContainEqual(
      expect.stringMatching(/^idempotent/),
    )
  })
})
