/** Tasks on a simulated machine, in simulated time. */
import { describe, expect, test } from 'vitest'
import { reasonOf, startOwners } from '../owners.fixture.ts'
import type { TaskObject } from './task-kind.ts'

const succeeds = (afterMs = 1000) => ({ spec: { command: ['exit', '0', String(afterMs)] } })
const fails = (afterMs = 100) => ({ spec: { command: ['exit', '2', String(afterMs)] } })
const serves = { spec: { command: ['serve'] } }
const phaseIs =
  (phase: string) =>
  ({ status }: TaskObject): boolean =>
    status?.phase === phase

describe('a Task', () => {
  test('runs its program once, records when and how long, and never starts it again by itself', async () => {
    const { tasks, processes, plane, programs } = await startOwners()
    await tasks.create('migrate', { template: succeeds(5000) })
    await tasks.until('migrate', phaseIs('Running'))
    await plane.advance(5000)
    const done = await tasks.until('migrate', phaseIs('Succeeded'))
    expect(done.status).toMatchObject({
      active: 0,
      succeeded: 1,
      failed: 0,
      execution: { number: 1, cause: 'it was created', durationSeconds: 5, reason: 'Completed', completedIndexes: '0' },
    })
    expect(reasonOf(done, 'Completed')).toBe('Completed')
    expect(reasonOf(done, 'Failed')).toBeUndefined()
    const before = done.metadata.resourceVersion
    await plane.advance(600_000)
    expect((await tasks.get('migrate')).metadata.resourceVersion).toBe(before)
    // Neither a change of the template nor the deletion of its Process is a reason to run again.
    await tasks.patch('migrate', { template: serves })
    await processes.remove('migrate-1-0')
    await plane.advance(60_000)
    expect(programs()).toEqual([])
    expect((await tasks.get('migrate')).status?.execution?.number).toBe(1)
  })

  test('runs at most `concurrency` programs at a time', async () => {
    const { tasks, plane, programs } = await startOwners()
    await tasks.create('many', { completions: 5, concurrency: 2, template: succeeds() })
    const most: number[] = []
    for (let step = 0; step < 20; step++) {
      await plane.advance(250)
      most.push(programs().length)
    }
    const { status } = await tasks.until('many', phaseIs('Succeeded'))
    expect(Math.max(...most)).toBe(2)
    expect(status).toMatchObject({ succeeded: 5, execution: { completedIndexes: '0-4', durationSeconds: 3 } })
  })

  test('starts a program that failed as often as `retries` allows, later and later, then fails', async () => {
    const { tasks, processes, plane, events } = await startOwners()
    await tasks.create('flaky', { retries: 2, template: fails() })
    await plane.advance(900)
    expect((await processes.get('flaky-1-0')).status?.run?.number).toBe(1)
    await plane.advance(10_000)
    const failed = await tasks.until('flaky', phaseIs('Failed'))
    expect((await processes.get('flaky-1-0')).status?.run?.number).toBe(3)
    expect(reasonOf(failed, 'Failed')).toBe('RestartLimit')
    expect(failed.status?.execution?.message).toBe('Process flaky-1-0: its program exited with code 2')
    await plane.advance(600_000)
    expect((await processes.get('flaky-1-0')).status?.run?.number).toBe(3)
    expect((await events('flaky')).map(({ reason }) => reason)).toContain('Failed')
  })

  test('with one program that failed ends the others', async () => {
    const { tasks, plane, programs } = await startOwners()
    // The template counts for programs that start later: the second one cannot be found.
    await tasks.create('mixed', { completions: 2, concurrency: 1, template: serves })
    await tasks.until('mixed', phaseIs('Running'))
    expect(programs()).toEqual(['serve'])
    await tasks.patch('mixed', { concurrency: 2, template: { spec: { command: ['missing'] } } })
    const failed = await tasks.until('mixed', phaseIs('Failed'))
    expect(reasonOf(failed, 'Failed')).toBe('NotFound')
    await plane.advance(12_000)
    expect(programs()).toEqual([])
    expect((await tasks.get('mixed')).status).toMatchObject({ active: 0 })
  })

  test('that failed because its program is missing does not start when the program appears', async () => {
    const { tasks, host, plane, programs } = await startOwners()
    await tasks.create('late', { template: { spec: { command: ['missing'] } } })
    await tasks.until('late', phaseIs('Failed'))
    host.setFailure('missing', undefined)
    await plane.advance(60_000)
    expect(programs()).toEqual([])
  })

  test('rerun starts it once more for each request, as the next execution; the last five stay', async () => {
    const { tasks, processes, plane, client } = await startOwners()
    await tasks.create('migrate', { template: succeeds() })
    await plane.advance(2000)
    await tasks.until('migrate', phaseIs('Succeeded'))
    for (let number = 2; number <= 7; number++) {
      await tasks.act('migrate', 'rerun')
      await tasks.until('migrate', ({ status }) => status?.execution?.number === number)
      await plane.advance(2000)
      await tasks.until('migrate', phaseIs('Succeeded'))
    }
    const { status } = await tasks.get('migrate')
    expect(status?.execution?.cause).toBe('a rerun was requested by evenkeel-admin')
    expect(status?.executions?.map(({ number }) => number)).toEqual([2, 3, 4, 5, 6])
    expect((await processes.list()).map(({ metadata: { name } }) => name)).toEqual(['migrate-7-0'])
    // The same token again, as after a retried request.
    const task = await tasks.get('migrate')
    await client.patch(task, { metadata: { labels: { touched: 'yes' } } })
    await plane.advance(60_000)
    expect((await tasks.get('migrate')).status?.execution?.number).toBe(7)
  })

  test('rerun is refused while it runs', async () => {
    const { tasks } = await startOwners()
    await tasks.create('busy', { template: serves })
    await tasks.until('busy', phaseIs('Running'))
    await expect(tasks.act('busy', 'rerun')).rejects.toThrow(/rerun/)
  })

  test('is ended when its deadline is over, and a wall clock that jumps does not end it', async () => {
    const { tasks, clock, plane, programs } = await startOwners()
    await tasks.create('slow', { activeDeadlineSeconds: 60, template: serves })
    await tasks.until('slow', phaseIs('Running'))
    clock.jumpWall(3_600_000)
    await tasks.patch('slow', { ttlSecondsAfterFinished: 3600 })
    await plane.advance(30_000)
    expect(programs()).toEqual(['serve'])
    await plane.advance(31_000)
    const failed = await tasks.until('slow', phaseIs('Failed'))
    expect(reasonOf(failed, 'Failed')).toBe('DeadlineExceeded')
    await plane.advance(12_000)
    expect(programs()).toEqual([])
  })

  test('that is stopped keeps what has succeeded, and goes on with the rest', async () => {
    const { tasks, plane, programs, processes } = await startOwners()
    await tasks.create('long', { completions: 2, concurrency: 1, template: succeeds(10_000) })
    await plane.advance(15_000)
    expect((await tasks.get('long')).status).toMatchObject({ succeeded: 1, active: 1 })
    await tasks.act('long', 'stop')
    await tasks.until('long', phaseIs('Stopped'))
    await plane.advance(12_000)
    expect(programs()).toEqual([])
    await tasks.act('long', 'start')
    await tasks.until('long', phaseIs('Running'))
    await plane.advance(11_000)
    const { status } = await tasks.until('long', phaseIs('Succeeded'))
    expect(status?.execution).toMatchObject({ number: 1, completedIndexes: '0-1' })
    expect(await processes.list()).toHaveLength(2)
  })

  test('deletes itself and its Processes some time after it has finished', async () => {
    const { tasks, processes, plane } = await startOwners()
    await tasks.create('once', { ttlSecondsAfterFinished: 30, template: succeeds() })
    await plane.advance(20_000)
    expect((await tasks.get('once')).status?.phase).toBe('Succeeded')
    await plane.advance(15_000)
    await tasks.untilGone('once')
    await plane.advance(5000)
    expect(await processes.list()).toEqual([])
  })

  test('that is deleted is gone when its programs are', async () => {
    const { tasks, plane, programs } = await startOwners()
    const template = { spec: { command: ['stubborn'], stop: { gracePeriodSeconds: 5 } } }
    await tasks.create('gone', { completions: 3, template })
    await tasks.until('gone', phaseIs('Running'))
    await plane.advance(100)
    expect(programs()).toHaveLength(3)
    await tasks.remove('gone')
    await plane.advance(4000)
    expect((await tasks.get('gone')).metadata.deletionTimestamp).toBeDefined()
    expect(programs()).toHaveLength(3)
    await plane.advance(5000)
    await tasks.untilGone('gone')
    expect(programs()).toEqual([])
  })
})

describe('what waits for a Task', () => {
  const waits = { command: ['serve'], dependsOn: [{ kind: 'Task', name: 'migrate', until: 'Completed' }] }

  test('W15: until Completed waits for all three programs of a Task', async () => {
    const { tasks, processes, plane } = await startOwners()
    await processes.create('web', waits)
    await tasks.create('migrate', { completions: 3, concurrency: 1, template: succeeds() })
    await plane.advance(2500)
    const waiting = await processes.get('web')
    expect(waiting.status?.phase).toBe('Waiting')
    expect(reasonOf(waiting, 'Ready')).toBe('NotReady')
    await plane.advance(2000)
    await processes.until('web', ({ status }) => status?.phase === 'Running')
    expect((await tasks.get('migrate')).status?.succeeded).toBe(3)
  })

  test('W15: reports FailedDependency at once when one of three programs has failed', async () => {
    const { tasks, processes, plane } = await startOwners()
    await processes.create('web', waits)
    await tasks.create('after', { template: { spec: waits } })
    await tasks.create('migrate', { completions: 3, template: fails(500) })
    const before = plane.clock.now()
    const web = await processes.until('web', (one) => reasonOf(one, 'Ready') === 'FailedDependency')
    expect(web.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toBe('Task migrate has failed')
    await tasks.until('after', (one) => reasonOf(one, 'Ready') === 'FailedDependency')
    expect(plane.clock.now() - before).toBeLessThan(2000)
  })

  test('W14: a cycle of a Process and a Task is reported by both, and neither starts', async () => {
    const { tasks, processes, programs, plane } = await startOwners()
    await processes.create('web', waits)
    await tasks.create('migrate', { template: { spec: { command: ['serve'], dependsOn: [{ name: 'web' }] } } })
    await processes.until('web', (one) => reasonOf(one, 'DependenciesReady') === 'Cycle')
    const task = await tasks.until('migrate', (one) => reasonOf(one, 'Ready') === 'Cycle')
    expect(task.status?.phase).toBe('Waiting')
    await plane.advance(10_000)
    expect(programs()).toEqual([])
  })
})

describe('a Task is refused', () => {
  const bad: readonly (readonly [name: string, spec: object, message: RegExp])[] = [
    ['a billion programs', { completions: 1e9, template: succeeds() }, /spec\.completions.*at most 1000/],
    ['none', { completions: 0, template: succeeds() }, /spec\.completions/],
    ['no program', { template: { spec: { cwd: '/' } } }, /spec\.template\.spec.*write either command/],
    ['no template', {}, /spec\.template/],
    [
      'an unknown kind of dependency',
      { template: { spec: { command: ['a'], dependsOn: [{ kind: 'Pod', name: 'x' }] } } },
      /dependsOn\[0\]\.kind/,
    ],
    [
      'a ProcessSet that has completed',
      { template: { spec: { command: ['a'], dependsOn: [{ kind: 'ProcessSet', name: 'x', until: 'Completed' }] } } },
      /dependsOn\[0\].*a ProcessSet and a Service never complete/,
    ],
  ]

  test('with the path of the field and what to write instead', async () => {
    const { tasks } = await startOwners()
    for (const [name, spec, message] of bad) await expect(tasks.create('bad', spec), name).rejects.toThrow(message)
  })

  test('unless the program raises the limit', async () => {
    const { tasks } = await startOwners({ maxReplicas: 2000 })
    await tasks.create('big', { completions: 1500, running: false, template: succeeds() })
    await expect(tasks.create('bigger', { completions: 2001, template: succeeds() })).rejects.toThrow(/at most 2000/)
  })
})
