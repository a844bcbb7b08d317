import type { KubeObject } from 'evenkeel'
import { SimulatedClock, type LogRecord } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { Lamp } from './fixtures/lamps.fixture.ts'
import { LiveView } from './live-view.ts'

function record(message: string, fields: LogRecord['fields'] = {}, level: LogRecord['level'] = 'info'): LogRecord {
  return { level, timeMs: 1_767_225_600_000, message, fields }
}

const clear = '\u001b[J'

function object(name: string, reason?: string): KubeObject {
  const conditions = [
    {
      type: 'Ready',
      status: reason === undefined ? 'True' : 'False',
      reason: reason ?? 'Shines',
      message: reason === undefined ? '' : 'it is\u001b[2J so',
      lastTransitionTime: '',
    },
  ]
  return {
    apiVersion: 'test.dev/v1',
    kind: 'Lamp',
    metadata: { name, namespace: 'default' },
    status: { conditions },
  } as KubeObject
}

function viewOf(
  objects: KubeObject[] | (() => never),
  { columns = 100, rows = 30, runs = [] }: { columns?: number; rows?: number; runs?: readonly object[] } = {},
): { view: LiveView; frames: string[]; clock: SimulatedClock } {
  const frames: string[] = []
  const clock = new SimulatedClock()
  const cache = { list: () => (typeof objects === 'function' ? objects() : objects) as never }
  const view = new LiveView({
    stdout: { write: (text: string) => frames.push(text), isTTY: true, columns, rows },
    cache,
    ledger: { entries: () => runs as never },
    kinds: [Lamp],
    heading: 'Up',
    clock,
  })
  return { view, frames, clock }
}

describe('LiveView', () => {
  test('draws objects with problems first, over the previous drawing, and only after a change', async () => {
    const objects = [object('desk')]
    const { view, frames, clock } = viewOf(objects)
    view.start()
    await clock.advance(1000)
    expect(frames).toEqual([`${clear}Up\n\n  ✓ lamp/desk  Ready\n`])
    objects.push(object('sun', 'TooBright'))
    await clock.advance(1000)
    expect(frames.slice(1)).toEqual([
      `\u001b[3A\r${clear}Up\n\n  ✗ lamp/sun   TooBright: it is·[2J so\n  ✓ lamp/desk  Ready\n`,
    ])
    view.stop()
    await clock.advance(1000)
    expect(frames).toHaveLength(2)
  })

  test('never draws more lines than the terminal has, nor longer ones', () => {
    const { view, frames } = viewOf(
      Array.from({ length: 50 }, (_, index) => object(`a-lamp-with-a-long-name-${index}`)),
      { columns: 20, rows: 10 },
    )
    for (let line = 0; line < 20; line++) view.log(record(`line ${line} of the log, which is long`))
    view.draw()
    const lines = (frames[0] ?? '').replace(clear, '').trimEnd().split('\n')
    expect(lines.length).toBeLessThan(10)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(20)
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}and \d+ more$/))
  })

  test('F1: a failed reconcile begins with the error and its line, wrapped and without what the view shows anyway', () => {
    const { view, frames } = viewOf([], { columns: 60 })
    const error = new TypeError("Cannot read properties of undefined (reading 'bar')\u001b[2J")
    const fields = {
      controller: 'lamp',
      kind: 'Lamp',
      reconcileId: 'a1',
      object: 'default/a',
      afterMs: 4.651907802249732,
    }
    view.log(record('reconcile failed', { ...fields, error, retries: 1 }, 'error'))
    view.draw()
    expect(
      (frames[0] ?? '')
        .split('\n')
        .slice(4, -1)
        .map((line) => line.replace(/live-view\.test\.ts:\d+/, 'FILE')),
    ).toEqual([
      '00:00:00 error Cannot read properties of undefined',
      "  (reading 'bar')·[2J at",
      '  packages/cli/src/FILE',
      '  reconcile failed object=default/a afterMs=5 retries=1',
    ])
  })

  test('F1: an object whose last reconcile failed says so, before the others', () => {
    const run = {
      key: 'local/test.dev/Lamp/default/bad',
      startedMs: 1_767_225_599_000,
      causes: [],
      end: { error: 'it broke', at: 'app.ts:12' },
    }
    const { view, frames } = viewOf([object('desk'), object('bad')], { runs: [run] })
    view.draw()
    expect(frames[0]).toContain(
      '  ✗ lamp/bad   Failing: it broke at app.ts:12  (reconciled 1s ago)\n  ✓ lamp/desk  Ready\n',
    )
  })

  test('F1: the cause of an error is shown, and a failure that repeats is counted', () => {
    const { view, frames } = viewOf([])
    const error = new Error('fetch failed', { cause: new Error('read ECONNRESET') })
    for (let retries = 0; retries < 3; retries++)
      view.log(record('reconcile failed', { object: 'default/a', error, retries }, 'error'))
    view.log(record('other', { object: 'default/b' }))
    view.draw()
    const lines = (frames[0] ?? '').split('\n').slice(4, -1)
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(/^00:00:00 error fetch failed: read ECONNRESET at .*live-view\.test\.ts:\d+$/)
    expect(lines.slice(1)).toEqual([
      '  reconcile failed object=default/a retries=2 (3 times)',
      '00:00:00 info other object=default/b',
    ])
  })

  test('F1: a long record is cut only at its end, and leaves room for objects', () => {
    const { view, frames } = viewOf([object('desk')], { columns: 30, rows: 12 })
    view.log(record('reconcile failed', { error: new Error(`broken: ${'x'.repeat(500)}`) }, 'error'))
    view.draw()
    const lines = (frames[0] ?? '').trimEnd().split('\n')
    expect(lines.length).toBeLessThan(12)
    expect(lines.join('\n')).toMatch(/lamp\/desk[^]*error broken:/)
  })

  test('shows that there are no objects yet, also while kinds cannot be read', () => {
    for (const objects of [
      [],
      () => {
        throw new Error('not synced')
      },
    ]) {
      const { view, frames } = viewOf(objects)
      view.draw()
      expect(frames).toEqual([`${clear}Up\n\n  No objects yet of lamps.\n`])
    }
  })
})
