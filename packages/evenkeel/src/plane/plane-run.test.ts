import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLogger, onAbort, SeededRandom, SimulatedClock } from '#base'
import type { LogRecord } from '#base'
import { startServer } from '#server'
import type { Server } from '#server'
import { PlaneRun } from './plane-run.ts'
import type { NamedController } from './plane-run.ts'

const clock = new SimulatedClock()
let server: Server
const lines: LogRecord[] = []

beforeEach(async () => {
  server = await startServer({ clock, random: new SeededRandom('plane') })
})
afterEach(async () => {
  await server.stop()
  lines.length = 0
})

function start(...controllers: readonly NamedController[]): Promise<PlaneRun> {
  return PlaneRun.start({
    controllers,
    clock,
    random: new SeededRandom('run'),
    log: createLogger({
      clock,
      sink: (record) => {
        lines.push(record)
      },
    }),
    caPem: undefined,
    tokenForSecret: () => '',
    delayMs: 0,
    transportFor: () => server.transport,
  })
}

/** Runs until it is stopped, and logs its start and end. */
function quiet(name: string, log: string[]): NamedController {
  const run = async (signal: AbortSignal): Promise<void> => {
    log.push(`${name} runs`)
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        resolve()
      })
    })
    log.push(`${name} ends`)
  }
  return { name, make: () => Promise.resolve({ runnables: [{ name, run }] }) }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let step = 0; step < 1000 && !isSo(); step++) await clock.advance(10)
  expect(isSo()).toBe(true)
}

test('PlaneRun starts a controller again that fails, later each time, and the others do not notice', async () => {
  const log: string[] = []
  const startsMs: number[] = []
  const failing: NamedController = {
    name: 'failing',
    make: () => {
      startsMs.push(clock.monotonic())
      return startsMs.length < 5 ? Promise.reject(new Error('not yet')) : quiet('failing', log).make({} as never)
    },
  }
  const run = await start(failing, quiet('other', log))
  await until(() => log.length === 2)
  expect(startsMs.map((ms) => Math.round((ms - (startsMs[0] ?? 0)) / 1000))).toEqual([0, 0, 1, 3, 7])
  expect(
    lines
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => `${message}: ${String(fields['controller'])}`),
  ).toEqual(Array.from({ length: 3 }, () => 'controller of the plane failed: restarting it: failing'))
  expect(log).toEqual(['other runs', 'failing runs'])
  let isOver = false
  const stopped = run.stop().then(() => {
    isOver = true
  })
  await until(() => isOver)
  await stopped
  expect(log.slice(2).sort()).toEqual(['failing ends', 'other ends'])
})

test('PlaneRun is idle when no controller has anything to do, and not before one that says so', async () => {
  let isIdle = false
  const busy: NamedController = {
    name: 'busy',
    make: async (facts) => ({ ...(await quiet('busy', []).make(facts)), isIdle: () => isIdle }),
  }
  const nothing: NamedController = { name: 'nothing', make: () => Promise.resolve(undefined) }
  const run = await start(busy, nothing)
  let isQuiet = false
  const idle = run.idle().then(() => {
    isQuiet = true
  })
  await clock.advance(1000)
  expect(isQuiet).toBe(false)
  isIdle = true
  await until(() => isQuiet)
  await idle
  await expect(run.idle({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  const stopping = run.stop()
  await clock.advance(100)
  await stopping
})
