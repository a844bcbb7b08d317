import { describe, expect, test } from 'vitest'
import { createLogger, deferred, onAbort, silentLogger, SimulatedClock } from '#base'
import { GraceExceededError, RunGroup, stopGroups, type Task } from './run-group.ts'

function group(failures: string[] = []): RunGroup {
  return new RunGroup('it', {
    log: silentLogger,
    onFailure: (error, task) => {
      failures.push(`${task}: ${String(error)}`)
    },
  })
}

function task(name: string, { onStop = () => undefined }: { onStop?: () => void } = {}): Task {
  return {
    name,
    run: (signal) =>
      new Promise((resolve) => {
        onAbort(signal, () => {
          onStop()
          resolve()
        })
      }),
  }
}

describe('RunGroup', () => {
  test('start resolves when the task is ready, and stop when it has ended', async () => {
    const [it, ready, ended] = [group(), deferred<void>(), deferred<void>()]
    const started = it.start({
      name: 'a',
      run: async (_, tell) => {
        await ready.promise
        tell()
        await ended.promise
      },
    })
    ready.resolve()
    await started
    expect(it.running).toEqual(['a'])
    const stopped = it.stop('enough')
    ended.resolve()
    await stopped
    expect(it.running).toEqual([])
  })

  test('a task that throws at once, later, or a text is told once, and start still resolves', async () => {
    const failures: string[] = []
    const it = group(failures)
    await it.start({
      name: 'at once',
      run: () => {
        throw new RangeError('no')
      },
    })
    await it.start({
      name: 'text',
      run: async () => {
        await Promise.resolve()
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- user code may throw anything
        throw 'a text'
      },
    })
    expect(failures).toEqual(['at once: RangeError: no', 'text: a text'])
    await it.stop('enough')
    await it.start({ name: 'late', run: () => Promise.reject(new Error('never started')) })
    expect(failures).toHaveLength(2)
  })
})

describe('stopGroups', () => {
  test('each group has ended before the next is told', async () => {
    const [first, second, order] = [group(), group(), [] as string[]]
    void first.start(
      task('first', {
        onStop: () => {
          order.push('first')
        },
      }),
    )
    void second.start(
      task('second', {
        onStop: () => {
          order.push('second')
        },
      }),
    )
    const cut = await stopGroups([second, first], {
      reason: 'enough',
      graceMs: 1000,
      clock: new SimulatedClock(),
      onGraceOver: () => {
        order.push('over')
      },
    })
    expect([cut, order]).toEqual([undefined, ['second', 'first']])
  })

  test('what does not end in time is cut off and named, and the rest is told', async () => {
    const [clock, first, second, order] = [new SimulatedClock(), group(), group(), [] as string[]]
    void first.start(
      task('first', {
        onStop: () => {
          order.push('first')
        },
      }),
    )
    void second.start({
      name: 'stuck',
      describe: () => 'stuck (at something)',
      run: () => new Promise(() => undefined),
    })
    const stopping = stopGroups([second, first], {
      reason: 'enough',
      graceMs: 30_000,
      clock,
      onGraceOver: () => {
        order.push('over')
      },
    })
    await clock.advance(29_999)
    expect(order).toEqual([])
    await clock.advance(1)
    expect(order).toEqual(['over', 'first'])
    await clock.advance(1000)
    const cut = await stopping
    expect(cut).toBeInstanceOf(GraceExceededError)
    expect(cut?.message).toBe('some tasks did not stop within 30000 ms: stuck (at something)')
    expect(clock.pending).toBe(0)
  })
})

test('RunGroup logs a task that fails while it stops, unless it fails with the reason of the stop', async () => {
  const lines: unknown[] = []
  const log = createLogger({
    clock: new SimulatedClock(),
    sink: ({ level, message, fields }) => {
      lines.push([level, message, fields['task']])
    },
  })
  const failures: unknown[] = []
  const it = new RunGroup('it', { log, onFailure: (error) => void failures.push(error) })
  const failing = (name: string, errorOf: (reason: unknown) => unknown): Task => ({
    name,
    run: (signal) =>
      new Promise((_, reject) => {
        onAbort(signal, (reason) => {
          reject(errorOf(reason) as Error)
        })
      }),
  })
  void it.start(failing('obedient', (reason) => reason))
  void it.start(failing('broken', () => new Error('no')))
  await it.stop(new Error('enough'))
  expect(lines).toEqual([['warn', 'task failed while stopping', 'broken']])
  expect(failures).toEqual([])
  await expect(it.start(failing('late', (reason) => reason))).resolves.toBeUndefined()
})

test('stopGroups leaves no timer', async () => {
  const clock = new SimulatedClock()
  const it = group()
  void it.start(task('a'))
  const options = { reason: 'enough', graceMs: 1000, clock, onGraceOver: () => undefined }
  expect(await stopGroups([it], options)).toBeUndefined()
  expect(clock.pending).toBe(0)
})
