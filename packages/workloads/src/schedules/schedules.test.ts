/** Schedules on a simulated machine, in simulated time, which begins at 2026-01-01T00:00:00Z. */
import { describe, expect, test } from 'vitest'
import { reasonOf, startOwners } from '../owners.fixture.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const taskOf = (...command: string[]) => ({ spec: { template: { spec: { command } } } })
const short = taskOf('exit', '0', '1000')
const long = taskOf('serve')
const everyTen = { schedule: '*/10 * * * *', successfulTasksHistoryLimit: 1000, template: short }

type Plane = Awaited<ReturnType<typeof startOwners>>

/** The times of its Tasks, as minutes since the beginning. */
const minutesOf = async ({ tasks }: Plane): Promise<readonly number[]> =>
  (await tasks.list())
    .map(({ metadata: { name } }) => Number(name.split('-').at(-1)) - 1_767_225_600_000 / minuteMs)
    .sort((a, b) => a - b)

describe('a Schedule', () => {
  test('makes a Task at each time, with a name that follows from the time', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', everyTen)
    await world.plane.advance(35 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 20, 30])
    const { status } = await world.schedules.get('nightly')
    expect(status).toMatchObject({
      lastScheduleAt: '2026-01-01T00:30:00Z',
      nextScheduleAt: '2026-01-01T00:40:00Z',
      active: [],
    })
  })

  test('keeps the last three Tasks that have completed, and writes nothing between its times', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', { ...everyTen, successfulTasksHistoryLimit: 3 })
    await world.plane.advance(65 * minuteMs)
    expect(await minutesOf(world)).toEqual([40, 50, 60])
    const before = (await world.schedules.get('nightly')).metadata.resourceVersion
    await world.plane.advance(4 * minuteMs)
    expect((await world.schedules.get('nightly')).metadata.resourceVersion).toBe(before)
  })

  test('uses its time zone, or the one of the program', async () => {
    const world = await startOwners({ timeZone: 'Asia/Kathmandu' })
    await world.schedules.create('own', { schedule: '0 3 * * *', timeZone: 'Europe/Berlin', template: short })
    await world.schedules.create('given', { schedule: '0 3 * * *', template: short })
    await world.plane.advance(1000)
    expect((await world.schedules.get('own')).status?.nextScheduleAt).toBe('2026-01-01T02:00:00Z')
    expect((await world.schedules.get('given')).status?.nextScheduleAt).toBe('2026-01-01T21:15:00Z')
    await expect(startOwners({ timeZone: 'Berlin' })).rejects.toThrow(/timeZone: "Berlin"/)
  })

  test('W39, W44: a clock that jumps an hour makes one Task, and one that jumps back repeats none', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', everyTen)
    await world.plane.advance(11 * minuteMs)
    world.clock.jumpWall(hourMs)
    await world.plane.advance(2 * minuteMs)
    // 01:11: of the six times that passed the latest one, 01:10.
    expect(await minutesOf(world)).toEqual([10, 70])
    expect((await world.events('nightly')).find(({ reason }) => reason === 'Missed')?.note).toBe(
      '5 times passed without a Task; the latest one is made up for',
    )
    world.clock.jumpWall(-hourMs)
    await world.plane.advance(50 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 70])
    await world.plane.advance(20 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 70, 80])
  })

  test('W39: with missedPolicy Skip nothing is made up for', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', { ...everyTen, missedPolicy: 'Skip' })
    await world.plane.advance(11 * minuteMs)
    world.clock.jumpWall(hourMs + 5 * minuteMs)
    await world.plane.advance(2 * minuteMs)
    expect(await minutesOf(world)).toEqual([10])
    await world.plane.advance(3 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 80])
  })

  test('W39: a time that is later than startingDeadlineSeconds is not made up for', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', { ...everyTen, startingDeadlineSeconds: 120 })
    await world.plane.advance(11 * minuteMs)
    world.clock.jumpWall(hourMs + 4 * minuteMs)
    await world.plane.advance(2 * minuteMs)
    expect(await minutesOf(world)).toEqual([10])
  })

  test('W39: Forbid leaves a time out while the Task before still runs', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', {
      ...everyTen,
      concurrencyPolicy: 'Forbid',
      template: taskOf('exit', '0', '900000'),
    })
    await world.plane.advance(35 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 30])
    expect((await world.events('nightly')).filter(({ reason }) => reason === 'Skipped')).toHaveLength(1)
  })

  test('W39: Allow runs both; Replace ends the one before, and begins when its program is gone', async () => {
    const world = await startOwners()
    await world.schedules.create('allow', { ...everyTen, template: long })
    await world.plane.advance(25 * minuteMs)
    expect(world.programs()).toEqual(['serve', 'serve'])
    await world.schedules.remove('allow')
    await world.plane.advance(minuteMs)
    expect(world.programs()).toEqual([])
    await world.schedules.create('replace', { ...everyTen, concurrencyPolicy: 'Replace', template: taskOf('stubborn') })
    await world.plane.advance(9 * minuteMs)
    expect(world.programs()).toEqual(['stubborn'])
    const [first] = world.host.processes()
    await world.plane.advance(4 * minuteMs)
    let most = 0
    for (let step = 0; step < 30; step++) {
      await world.plane.advance(10_000)
      most = Math.max(most, world.programs().length)
    }
    expect(most).toBe(1)
    expect(world.host.processes()[0]?.pid).not.toBe(first?.pid)
  })

  test('that is suspended makes nothing, and times of then are not made up for', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', everyTen)
    await world.plane.advance(11 * minuteMs)
    await world.schedules.act('nightly', 'suspend')
    await world.plane.advance(30 * minuteMs)
    expect(reasonOf(await world.schedules.get('nightly'), 'Ready')).toBe('Suspended')
    await world.schedules.act('nightly', 'resume')
    await world.plane.advance(5 * minuteMs)
    expect(await minutesOf(world)).toEqual([10])
    await world.plane.advance(5 * minuteMs)
    expect(await minutesOf(world)).toEqual([10, 50])
  })

  test('that is changed counts from then on', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', { schedule: '0 12 * * *', template: short })
    await world.plane.advance(31 * minuteMs)
    await world.schedules.patch('nightly', { schedule: '*/15 * * * *' })
    await world.plane.advance(10 * minuteMs)
    expect(await minutesOf(world)).toEqual([])
    await world.plane.advance(5 * minuteMs)
    expect(await minutesOf(world)).toEqual([45])
  })

  test('trigger makes a Task now, also while it is suspended, and once for each request', async () => {
    const world = await startOwners()
    await world.schedules.create('nightly', { schedule: '@yearly', suspend: true, template: short })
    await world.plane.advance(1000)
    await world.schedules.act('nightly', 'trigger')
    await world.plane.advance(1000)
    await world.schedules.act('nightly', 'trigger')
    await world.plane.advance(minuteMs)
    expect(await world.tasks.list()).toHaveLength(2)
  })

  test.each([
    ['an expression', { schedule: '70 * * * *' }, 'InvalidSchedule', /^spec\.schedule: "70" is not possible as minute/],
    [
      'a time zone',
      { schedule: '@daily', timeZone: 'Mars/Olympus' },
      'InvalidTimeZone',
      /^spec\.timeZone: "Mars\/Olympus"/,
    ],
    ['a day that never comes', { schedule: '0 0 30 2 *' }, 'NeverDue', /^spec\.schedule: no day matches/],
  ])('says what is wrong with %s', async (...[, spec, reason, message]) => {
    const { schedules } = await startOwners()
    await schedules.create('bad', { ...spec, template: short })
    const bad = await schedules.until('bad', (one) => reasonOf(one, 'Ready') === reason)
    expect(bad.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toMatch(message)
  })

  test('refuses a billion programs in its template', async () => {
    const { schedules } = await startOwners()
    const template = { spec: { ...short.spec, completions: 1e9 } }
    await expect(schedules.create('bad', { schedule: '@daily', template })).rejects.toThrow(
      /spec\.template\.spec\.completions.*at most 1000/,
    )
  })
})
