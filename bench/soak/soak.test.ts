import { expect, test } from 'vitest'
import { climbs, growthOf, slowerOf } from './growth.ts'
import { judge } from './watchers/judge.ts'
import { LineLog } from './watchers/line-log.ts'

const history = ['3 a/x', '5 b/y', '6 a/x deleted', '9 a/z', '12 b/y']

function judged(received: readonly string[], { namespace = '', from = 0 } = {}) {
  const { lost, extra } = judge([{ namespace, from, received: [...received] }], history, 9)
  return { lost, extra }
}

test('judge accepts a watcher that received everything', () => {
  expect(judged(history)).toEqual({ lost: 0, extra: 0 })
  expect(judged(['3 a/x', '6 a/x deleted', '9 a/z'], { namespace: 'a' })).toEqual({ lost: 0, extra: 0 })
  expect(judged(['9 a/z'], { namespace: 'a', from: 6 })).toEqual({ lost: 0, extra: 0 })
})

test('judge finds missing, invented, duplicate and reordered events', () => {
  expect(judged(['3 a/x', '5 b/y', '9 a/z'])).toEqual({ lost: 1, extra: 0 })
  expect(judged(['3 a/x', '5 b/y', '6 a/x', '9 a/z'])).toEqual({ lost: 1, extra: 1 })
  expect(judged(['3 a/x', '3 a/x', '5 b/y', '6 a/x deleted', '9 a/z'])).toEqual({ lost: 0, extra: 1 })
  expect(judged(['5 b/y', '3 a/x', '6 a/x deleted', '9 a/z'])).toEqual({ lost: 0, extra: 1 })
})

test('growthOf finds growth and ignores variation', () => {
  expect([
    growthOf('RSS', 'MiB', [240, 260]),
    growthOf('RSS', 'MiB', [240, 200]),
    growthOf('the live heap', 'MiB', [20, 28]),
  ]).toEqual([[], [], []])
  expect(growthOf('RSS', 'MiB', [240, 280])).toEqual(['RSS grew from 240 to 280 MiB'])
  expect([
    growthOf('p99', 'ms', [40, 45.8]),
    growthOf('p99', 'ms', [40, 46.2]),
    growthOf('p99', 'ms', [10, 14]),
  ]).toEqual([[], ['p99 grew from 40 to 46.2 ms'], []])
  expect(growthOf('the live heap', 'MiB', [41, 62])).toEqual(['the live heap grew from 41 to 62 MiB'])
})

test('climbs distinguishes a climb from variation', () => {
  const [noise, leak] = [
    [64, 41, 53, 56, 56, 64, 63, 57, 51, 51],
    [40, 42, 41, 45, 48, 47, 52, 55, 54, 60],
  ]
  expect([
    climbs(noise),
    climbs(leak),
    climbs([...leak].reverse()),
    climbs([1, 1, 1, 1, 1, 1]),
    climbs([1, 2, 3, 4]),
    climbs([1, 2, 3, 4, 5]),
  ]).toEqual([false, true, false, false, false, true])
  expect([slowerOf('p99', [45, 60], leak), slowerOf('p99', [45, 60], noise), slowerOf('p99', [45, 47], leak)]).toEqual([
    ['p99 grew from 45 to 60 ms'],
    [],
    [],
  ])
})

test('LineLog returns its lines in order', () => {
  const log = new LineLog()
  const lines = Array.from({ length: 3000 }, (_, index) => `${index} a/${'x'.repeat(index % 40)}`)
  for (const line of lines) log.push(line)
  expect([new LineLog().lines(), log.lines()]).toEqual([[], lines])
})
