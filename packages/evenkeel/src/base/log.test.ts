import { describe, expect, test } from 'vitest'
import { createLogger, silentLogger, type Level, type LogRecord } from './log.ts'
import { SimulatedClock } from './simulated-clock.ts'

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error']

function listing(level?: Level): { log: ReturnType<typeof createLogger>; records: LogRecord[] } {
  const records: LogRecord[] = []
  const clock = new SimulatedClock({ startMs: 42 })
  return {
    log: createLogger({
      clock,
      sink: (record) => {
        records.push(record)
      },
      ...(level && { level }),
    }),
    records,
  }
}

describe('createLogger', () => {
  test.each(levels)('writes lines from the level %s on', (level) => {
    const { log, records } = listing(level)
    for (const each of levels) log[each](`a ${each} line`)
    expect(records.map((record) => record.level)).toEqual(levels.slice(levels.indexOf(level)))
  })

  test('omits debug by default', () => {
    const { log, records } = listing()
    log.debug('no')
    log.info('yes')
    expect(records).toEqual([{ level: 'info', timeMs: 42, message: 'yes', fields: {} }])
  })

  test('gives a line the fields of its call behind those of its logger', () => {
    const { log, records } = listing()
    const child = log.child({ a: 1, b: 1 }).child({ b: 2 })
    child.info('x', { c: 3 })
    child.warn('y', { a: 4 })
    log.info('z')
    expect(records.map(({ fields }) => Object.entries(fields))).toEqual([
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
      [
        ['a', 4],
        ['b', 2],
      ],
      [],
    ])
  })

  test('never throws, whatever its sink does', () => {
    const log = createLogger({
      clock: new SimulatedClock(),
      sink: () => {
        throw new Error('the pipe is broken')
      },
    })
    expect(() => {
      log.error('x')
    }).not.toThrow()
    expect(() => {
      log.child({ a: 1 }).info('x', { b: 2 })
    }).not.toThrow()
  })

  test('never throws, whatever its fields do', () => {
    const { log, records } = listing()
    const nasty = {
      get value(): string {
        throw new Error('do not look')
      },
    }
    expect(() => {
      log.info('x', nasty)
    }).not.toThrow()
    log.info('still here')
    expect(records.at(-1)?.message).toBe('still here')
  })
})

test('silentLogger and its children write nothing', () => {
  for (const level of levels) expect(silentLogger[level]('x', { y: 1 })).toBe(undefined)
  expect(silentLogger.child({ a: 1 })).toBe(silentLogger)
})
