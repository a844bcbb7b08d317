import type { KubeObject } from 'evenkeel'
import { SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { Lamp } from './fixtures/lamps.fixture.ts'
import { LiveView } from './live-view.ts'

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
  { columns = 100, rows = 30 } = {},
): { view: LiveView; frames: string[]; clock: SimulatedClock } {
  const frames: string[] = []
  const clock = new SimulatedClock()
  const cache = { list: () => (typeof objects === 'function' ? objects() : objects) as never }
  const view = new LiveView({
    stdout: { write: (text: string) => frames.push(text), isTTY: true, columns, rows },
    cache,
    ledger: { entries: () => [] },
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
    for (let line = 0; line < 20; line++) view.log(`line ${line} of the log, which is long`)
    view.draw()
    const lines = (frames[0] ?? '').replace(clear, '').trimEnd().split('\n')
    expect(lines.length).toBeLessThan(10)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(20)
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}and \d+ more$/))
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
