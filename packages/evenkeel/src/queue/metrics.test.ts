import { Metrics, SimulatedClock } from '#base'
import { expect, test } from 'vitest'
import { WorkQueue } from './work-queue.ts'

function setUp(): { clock: SimulatedClock; metrics: Metrics; queue: WorkQueue; shown: (name: string) => string[] } {
  const [clock, metrics] = [new SimulatedClock(), new Metrics()]
  const shown = (name: string): string[] =>
    metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => line.slice(name.length).replace('name="shapes",controller="shapes"', '…'))
  return { clock, metrics, queue: new WorkQueue({ clock, metrics, name: 'shapes' }), shown }
}

test('WorkQueue counts accepted adds, and the depth by priority', async () => {
  const { queue, shown } = setUp()
  queue.add('a')
  queue.add('a')
  queue.add('b', { priority: -100 })
  queue.add('c', { priority: -100 })
  queue.add('c')
  expect(shown('workqueue_adds_total')).toEqual(['{…} 3'])
  expect(shown('workqueue_depth')).toEqual(['{…,priority="0"} 2', '{…,priority="-100"} 1'])
  await queue.take()
  queue.add('a')
  expect(shown('workqueue_adds_total')).toEqual(['{…} 4'])
  expect(shown('workqueue_depth')[0]).toBe('{…,priority="0"} 2')
  await queue.stop()
  expect(shown('workqueue_depth')).toEqual(['{…,priority="0"} 0', '{…,priority="-100"} 0'])
})

test('WorkQueue counts every add with a delay as a retry, and the key as added when it is ready', async () => {
  const { clock, queue, shown } = setUp()
  queue.add('a', { afterMs: 10 })
  queue.add('a', { afterMs: 20 })
  expect([shown('workqueue_retries_total'), shown('workqueue_adds_total'), shown('workqueue_depth')]).toEqual([
    ['{…} 2'],
    ['{…} 0'],
    [],
  ])
  await clock.advance(10)
  expect([shown('workqueue_adds_total'), shown('workqueue_depth')]).toEqual([['{…} 1'], ['{…,priority="0"} 1']])
})

test('WorkQueue measures the wait from the first add and the work until done', async () => {
  const { clock, queue, shown } = setUp()
  queue.add('a')
  await clock.advance(250)
  queue.add('a')
  await clock.advance(250)
  await queue.take()
  await clock.advance(2000)
  queue.add('a')
  await clock.advance(1000)
  queue.done('a')
  await clock.advance(500)
  await queue.take()
  expect(shown('workqueue_queue_duration_seconds_sum')).toEqual(['{…} 2'])
  expect(shown('workqueue_queue_duration_seconds_count')).toEqual(['{…} 2'])
  expect(shown('workqueue_work_duration_seconds_sum')).toEqual(['{…} 3'])
})

test('WorkQueue tells how long unfinished work has taken, without a timer', async () => {
  const { clock, queue, shown } = setUp()
  queue.add('a')
  queue.add('b')
  await queue.take()
  await clock.advance(1000)
  await queue.take()
  await clock.advance(500)
  expect(shown('workqueue_unfinished_work_seconds')).toEqual(['{…} 2'])
  expect(shown('workqueue_longest_running_processor_seconds')).toEqual(['{…} 1.5'])
  queue.done('a')
  queue.done('b')
  expect(shown('workqueue_unfinished_work_seconds')).toEqual(['{…} 0'])
  expect(clock.pending).toBe(0)
})

test('case 13: WorkQueue counts nothing for a done that nobody waited for', () => {
  const { queue, shown } = setUp()
  queue.done('a')
  expect([
    shown('workqueue_work_duration_seconds_count'),
    shown('workqueue_unfinished_work_seconds'),
    shown('workqueue_depth'),
  ]).toEqual([['{…} 0'], ['{…} 0'], []])
})

test('WorkQueue shows 25 priorities and counts the rest together; what goes up comes down', async () => {
  const { queue, shown } = setUp()
  for (let priority = 1; priority <= 40; priority++) queue.add(String(priority), { priority })
  expect(shown('workqueue_depth')).toHaveLength(26)
  expect(shown('workqueue_depth').at(-1)).toBe('{…,priority="exceeded_cardinality_limit"} 15')
  for (let priority = 1; priority <= 40; priority++) await queue.take()
  expect(shown('workqueue_depth').every((line) => line.endsWith(' 0'))).toBe(true)
})

test('WorkQueue has the buckets that dashboards know', () => {
  const { shown } = setUp()
  expect(shown('workqueue_queue_duration_seconds_bucket').map((line) => /le="(.*)"/.exec(line)?.[1])).toEqual([
    '1e-08',
    '1e-07',
    '1e-06',
    '9.999999999999999e-06',
    '9.999999999999999e-05',
    '0.001',
    '0.01',
    '0.1',
    '1',
    '10',
    '100',
    '1000',
    '+Inf',
  ])
})

test('WorkQueue counts nothing without a name', () => {
  const metrics = new Metrics()
  new WorkQueue({ clock: new SimulatedClock(), metrics }).add('a')
  expect(metrics.render()).not.toContain('workqueue')
})
