import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { stopSignal } from './stop-signals.ts'

class FakeProcess extends EventEmitter {
  readonly exits: number[] = []

  exit(code: number): void {
    this.exits.push(code)
  }
}

test('case 120: the first SIGTERM asks, the second ends the process with code 1', async () => {
  const [fake, clock] = [new FakeProcess(), new SimulatedClock()]
  const { signal } = stopSignal(fake, { clock })
  fake.emit('SIGTERM')
  expect([signal.aborted, fake.exits]).toEqual([true, []])
  await clock.advance(1000)
  fake.emit('SIGTERM')
  expect(fake.exits).toEqual([1])
})

test('stopSignal takes signals that arrive together for one, and any two for two', async () => {
  const [fake, clock] = [new FakeProcess(), new SimulatedClock()]
  stopSignal(fake, { clock })
  fake.emit('SIGINT')
  fake.emit('SIGINT')
  await clock.advance(99)
  fake.emit('SIGTERM')
  expect(fake.exits).toEqual([])
  await clock.advance(1)
  fake.emit('SIGTERM')
  expect(fake.exits).toEqual([1])
})

test('stopSignal leaves no listener behind', () => {
  const fake = new FakeProcess()
  const stop = stopSignal(fake)
  expect(fake.eventNames()).toEqual(['SIGTERM', 'SIGINT'])
  stop[Symbol.dispose]()
  expect(fake.eventNames()).toEqual([])
})
