import { randomInt, SeededRandom, SimulatedClock } from '#base'
import { describe, expect, test } from 'vitest'
import { WorkQueue } from './work-queue.ts'

describe('WorkQueue.stop', () => {
  test('case 8: draining hands out what is ready, then ends; adds are ignored', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    queue.add('a')
    queue.add('b')
    void queue.stop({ drain: true })
    expect(queue.add('c')).toBe(false)
    expect(queue.isOpen).toBe(false)
    expect([await queue.take(), await queue.take(), await queue.take()].map((item) => item?.key)).toEqual([
      'a',
      'b',
      undefined,
    ])
  })

  test('case 8: draining gives those who wait what was added just before, and ends the others', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    const takes = [queue.take(), queue.take()]
    queue.add('a')
    void queue.stop({ drain: true })
    expect((await Promise.all(takes)).map((item) => item?.key)).toEqual(['a', undefined])
  })

  test('case 9: a plain stop ends everybody who waits at once and delivers nothing', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    const waiting = queue.take()
    queue.add('a')
    queue.add('b', { afterMs: 10 })
    await queue.stop()
    expect(await waiting).toBeUndefined()
    expect(await queue.take()).toBeUndefined()
    expect([...queue.entries()]).toEqual([])
  })

  test('case 9: nobody hangs, whenever the stop comes, in 1000 random rounds', async () => {
    const random = new SeededRandom('stop')
    for (let round = 0; round < 1000; round++) {
      const queue = new WorkQueue({ clock: new SimulatedClock() })
      const takes: Promise<unknown>[] = []
      for (let step = randomInt(random, 12); step > 0; step--) {
        const kind = randomInt(random, 4)
        if (kind === 0) queue.add(String(step), { afterMs: randomInt(random, 2) })
        else if (kind === 1)
          takes.push(
            queue.take().then((item) => {
              queue.done(item?.key ?? '')
            }),
          )
        else if (kind === 2) await Promise.resolve()
        else if (randomInt(random, 8) === 0) takes.push(queue.stop({ drain: true }))
      }
      takes.push(queue.stop())
      await Promise.all(takes)
      expect([...queue.entries()]).toEqual([])
    }
  })

  test('case 10: may be called again', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    await queue.stop()
    await queue.stop()
    await queue.stop({ drain: true })
    expect(await queue.take()).toBeUndefined()
  })

  test('draining resolves when all work is done, also what was added again meanwhile', async () => {
    const clock = new SimulatedClock()
    const queue = new WorkQueue({ clock })
    let drained = false
    queue.add('a')
    await queue.take()
    queue.add('a')
    void queue.stop({ drain: true }).then(() => {
      drained = true
    })
    queue.done('a')
    expect((await queue.take())?.key).toBe('a')
    await clock.advance(0)
    expect(drained).toBe(false)
    queue.done('a')
    await clock.advance(0)
    expect(drained).toBe(true)
  })

  test('draining an idle queue resolves at once', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    queue.add('later', { afterMs: 10 })
    await queue.stop({ drain: true })
    expect([...queue.entries()]).toEqual([])
  })

  test('case 11: a plain stop cuts a drain short that waits for a stuck worker', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    queue.add('stuck')
    await queue.take()
    const drained = queue.stop({ drain: true })
    await queue.stop()
    await drained
    expect(queue.workingCount).toBe(1)
    queue.done('stuck')
    expect(queue.workingCount).toBe(0)
    expect([...queue.entries()]).toEqual([])
  })

  test.each([false, true])('case 23: leaves no timer behind (drain: %s)', async (drain) => {
    const clock = new SimulatedClock()
    const queue = new WorkQueue({ clock })
    for (let index = 0; index < 10; index++) queue.add(String(index), { afterMs: 1000 * (10 - index) })
    expect(clock.pending).toBe(1)
    await queue.stop({ drain })
    expect(clock.pending).toBe(0)
  })

  test('case 23: no timer is set while nobody waits', async () => {
    const clock = new SimulatedClock()
    const queue = new WorkQueue({ clock })
    queue.add('a', { afterMs: 10 })
    queue.add('a')
    expect(clock.pending).toBe(0)
    queue.add('b', { afterMs: 10 })
    await clock.advance(10)
    expect(clock.pending).toBe(0)
  })
})
