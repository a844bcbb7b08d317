/** What a run prints: lines, events, and the live view. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import type { ShutdownOutcome } from '@evenkeel/workloads'
import { describe, expect, test } from 'vitest'
import { JsonOutput, missingOf, PlainOutput } from './run-output.ts'
import { RunView } from './run-view.ts'
import { rowOf, type WorkloadRow } from './workload-row.ts'

function process(name: string, status: object = {}, spec: object = {}): WorkloadRow {
  return rowOf({
    apiVersion: 'workloads.evenkeel.dev/v1',
    kind: 'Process',
    metadata: { name, namespace: 'default', uid: name, generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  } as never)
}

const ready = (name: string, more: object = {}): WorkloadRow =>
  process(name, {
    phase: 'Running',
    restarts: 0,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }],
    run: { number: 1, pid: 7, ports: [{ name: 'http', port: 8080 }] },
    ...more,
  })
const waiting = (name: string): WorkloadRow =>
  process(name, {
    phase: 'Waiting',
    conditions: [{ type: 'Ready', status: 'False', reason: 'NotReady', message: 'waits for Process\u001b[2J db' }],
  })
const outcome = (more: Partial<ShutdownOutcome>): ShutdownOutcome => ({
  kind: 'Process',
  namespace: 'default',
  name: 'web',
  outcome: 'Stopped',
  tookMs: 12,
  survivors: [],
  ...more,
})

/** What is written to this output. */
function printed(write: (stdout: { write(text: string): void }) => void): string {
  let text = ''
  write({
    write: (piece) => {
      text += piece
    },
  })
  return text
}

describe('a row', () => {
  test.each([
    ['ready', ready('a'), true],
    ['waiting', waiting('a'), false],
    ['of an older generation', ready('a', { observedGeneration: 1 }), false],
    ['completed', process('a', { phase: 'Succeeded', conditions: [{ type: 'Completed', status: 'True' }] }), true],
    ['stopped by a person', process('a', { phase: 'Stopped' }, { running: false }), true],
    ['stopped by a shutdown', process('a', { phase: 'Stopped' }), false],
    ['not seen yet', process('a'), false],
  ])('that is %s: whether something is missing', (_, row, isSettled) => {
    expect(row.isSettled).toBe(isSettled)
  })

  test('of a set shows how many are ready', () => {
    expect(process('a', { readyReplicas: 2 }, { replicas: 3 }).ready).toBe('2/3')
  })
})

describe('lines', () => {
  test('have a column of names of one width, and no control characters', () => {
    const text = printed((stdout) => {
      const output = new PlainOutput(stdout)
      output.begin('Evenkeel runs app.', ['db', 'worker'])
      output.changed(waiting('db'), undefined)
      output.changed(ready('db'), waiting('db'))
      output.changed(ready('db', { run: { number: 1, pid: 8, ports: [{ name: 'http', port: 8080 }] } }), ready('db'))
      output.line(ready('worker'), 'one\u001b[31m')
      output.changed(undefined, ready('db'))
      output.outcome(outcome({ name: 'db' }))
      output.end(0)
    })
    expect(text).toBe(`Evenkeel runs app.

db     : Waiting: NotReady: waits for Process·[2J db
db     : Ready (http:8080)
worker | one·[31m
db     : removed
db     : stopped in 12 ms
Stopped.
`)
  })

  test('say how each ended', () => {
    const text = printed((stdout) => {
      const output = new PlainOutput(stdout)
      output.outcome(outcome({ outcome: 'Killed', tookMs: 10_000 }))
      output.outcome(outcome({ outcome: 'Kept' }))
      output.outcome(outcome({ outcome: 'Survived', survivors: [{ pid: 7, command: 'node' }] }))
      output.end(1)
    })
    expect(text).toBe(`web : killed after 10.0 s: it did not end in time
web : goes on: its lifetime is Persistent
web : still running: 7 (node)
Stopped with exit code 1.
`)
  })

  test('name what is missing', () => {
    expect(missingOf([ready('db'), waiting('api')])).toEqual([
      'process/api: Waiting: NotReady: waits for Process\u001b[2J db',
    ])
  })
})

test('events are one JSON document per line, and only for changes', () => {
  const text = printed((stdout) => {
    const output = new JsonOutput(stdout)
    output.changed(ready('db'), undefined)
    output.changed(ready('db'), ready('db'))
    output.line(ready('db'), 'one')
    output.changed(undefined, ready('db'))
    output.outcome(outcome({}))
    output.end(0)
  })
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { event: 'workload', kind: 'Process', name: 'db', phase: 'Running', isSettled: true },
    { event: 'log', name: 'db', run: 1, line: 'one' },
    { event: 'removed', kind: 'Process', name: 'db' },
    { event: 'stopped', name: 'web', outcome: 'Stopped', tookMs: 12 },
    { event: 'ended', exitCode: 0 },
  ])
})

describe('the live view', () => {
  function viewOf(rows: readonly WorkloadRow[], size: { columns?: number; rows?: number } = {}) {
    const clock = new SimulatedClock()
    const keys: string[] = []
    let frame = ''
    const view = new RunView({
      stdout: {
        write: (text: string) => {
          // eslint-disable-next-line no-control-regex -- what moves the cursor
          frame = text.replace(/^(?:\u001b\[\d+A\r)?\u001b\[J/, '')
        },
        isTTY: true,
        columns: size.columns ?? 80,
        rows: size.rows ?? 20,
      },
      clock,
      rows: () => rows,
      onKey: (key, row) => {
        keys.push(`${key} ${row?.name ?? ''}`)
      },
    })
    view.begin('Evenkeel runs app.')
    const shown = async (): Promise<string> => {
      await clock.advance(1000)
      return frame
    }
    return { view, shown, keys }
  }

  test('has a row per workload, the selected one marked, log lines and the keys', async () => {
    const { view, shown } = viewOf([ready('db'), waiting('api')])
    view.line(ready('db'), 'hello')
    expect(await shown()).toBe(`Evenkeel runs app.

▸ ✓ process/db   Ready (http:8080)
  · process/api  Waiting: NotReady: waits for Process·[2J db

process/db | hello

↑ ↓ select · r restart · s stop or start · l logs of one or all · q quit
`)
  })

  test('keys select, act on the selected workload, and show the log of one', async () => {
    const { view, shown, keys } = viewOf([ready('db'), ready('api')])
    view.line(ready('db'), 'of db')
    view.line(ready('api'), 'of api')
    const press = (text: string): void => {
      view.press(Buffer.from(text))
    }
    press('\u001b[Brs')
    press('l')
    const frame = await shown()
    expect(frame).toContain('▸ ✓ process/api')
    expect(frame).toContain('of api')
    expect(frame).not.toContain('of db')
    press('\u001b[A\u001b[Ar')
    press('q\u0003\u001a')
    expect(keys).toEqual(['restart api', 'toggle api', 'restart db', 'quit db', 'quit db', 'suspend db'])
  })

  test('never is higher than the terminal', async () => {
    const rows = Array.from({ length: 50 }, (_, index) => ready(`web-${index}`))
    const { view, shown } = viewOf(rows, { rows: 12 })
    for (let line = 0; line < 50; line++) view.line(ready('web-0'), String(line))
    expect((await shown()).split('\n').length).toBeLessThanOrEqual(12)
    view.press(Buffer.from('\u001b[B'.repeat(49)))
    expect(await shown()).toContain('▸ ✓ process/web-49')
  })
})
