/**
 * Two replicas in processes of their own: whatever stops one of them, only the holder of the lease writes.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Stage } from './replicas.fixture.ts'

let stage: Stage
beforeEach(async () => { stage = await Stage.open() })
afterEach(() => stage.close())

describe.skipIf(process.platform === 'win32')('two replicas', () => {
  test('one that is stopped past its lease writes nothing when it wakes, and stands by', async () => {
    const first = stage.start('first')
    await stage.writes('first', 5)
    const second = stage.start('second')
    await second.said(/^standing/)
    await first.signal('SIGSTOP')
    await stage.writes('second', 5)
    await first.signal('SIGCONT')
    await first.said(/^lost/)
    await stage.writes('second', 20)
    await second.stop()
    await stage.writes('first', 5)
    await first.stop()
    expect(stage.unlawful).toEqual([])
    expect(stage.holders).toEqual(['first', 'second', 'first'])
    expect([...first.lines, ...second.lines].filter((line) => line.startsWith('unhandled'))).toEqual([])
  })

  test('one that computes past its lease keeps it where a thread can renew it, and writes nothing unlawful where none can', async () => {
    const first = stage.start('first')
    await stage.writes('first', 5)
    const second = stage.start('second')
    await second.said(/^standing/)
    first.block(3500)
    await Promise.race([stage.writes('first', 20), stage.writes('second', 5)])
    const { holders } = stage
    await first.stop()
    await second.stop()
    expect(stage.unlawful).toEqual([])
    // Older versions of Node cannot start a thread from TypeScript; the published package is JavaScript.
    const hasThread = !first.lines.some((line) => line.includes('the lease is renewed by the main thread'))
    expect(holders).toEqual(hasThread ? ['first'] : ['first', 'second'])
  })
})
