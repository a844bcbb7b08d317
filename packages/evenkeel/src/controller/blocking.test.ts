import { expect, test } from 'vitest'
import { createLogger, SimulatedClock, type Clock, type LogRecord } from '#base'
import { callTimed } from './reconcile.ts'

test('callTimed says how long a call kept everybody waiting, also one that throws, and is quiet about short ones', () => {
  const simulated = new SimulatedClock()
  let spentMs = 0
  const clock: Clock = {
    now: () => simulated.now(),
    monotonic: () => simulated.monotonic() + spentMs,
    after: (ms, callback) => simulated.after(ms, callback),
    soon: (callback) => {
      simulated.soon(callback)
    },
  }
  const records: LogRecord[] = []
  const log = createLogger({
    clock,
    sink: (record) => {
      records.push(record)
    },
  })
  const spend = (ms: number): number => (spentMs += ms)
  expect(callTimed(() => spend(999), { clock, log })).toBe(999)
  expect(records).toEqual([])
  callTimed(() => spend(1000), { clock, log })
  expect(records.splice(0).map(({ fields }) => fields)).toEqual([{ ms: 1000 }])
  expect(() =>
    callTimed(
      () => {
        throw new Error(`spent ${spend(20_000)}`)
      },
      { clock, log },
    ),
  ).toThrow('spent 21999')
  expect(records.map(({ level, message, fields }) => [level, message.split(':')[0], fields])).toEqual([
    ['warn', 'reconcile blocked the process', { ms: 20_000 }],
  ])
})
