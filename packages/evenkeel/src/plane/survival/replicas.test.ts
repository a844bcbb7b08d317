/**
 * Two replicas in processes of their own: whatever stops one of them, only the holder of the lease writes.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Stage } from './replicas.fixture.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
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

  test('one whose reconcile computes for 20 s keeps its lease, says who it was, and the rest goes on', async () => {
    const first = stage.start('first')
    await stage.writes('first', 5)
    const second = stage.start('second')
    await second.said(/^standing/)
    await stage.block('first', 20_000)
    await first.said(/^blocked/)
    await stage.writes('first', 20)
    const blocked = JSON.parse(await first.said(/reconcile blocked the process/)) as {
      controller: string
      object: string
      ms: number
    }
    const stood = JSON.parse(await first.said(/event loop was blocked/)) as { ms: number; reconciles: string[] }
    const { holders } = stage
    await first.stop()
    await second.stop()
    expect(blocked).toMatchObject({ controller: 'blocking', object: 'default/block' })
    expect(stood.reconciles).toEqual(['blocking default//ConfigMap/default/block'])
    for (const { ms } of [blocked, stood]) expect(ms).toBeGreaterThan(18_000)
    expect(stage.unlawful).toEqual([])
    expect(holders).toEqual(['first'])
    expect(first.lines).not.toContain('lost')
    expect([...first.lines, ...second.lines].filter((line) => line.startsWith('unhandled'))).toEqual([])
  })

  test('one that computes past its lease, and has no thread to renew it, gives it up and writes nothing unlawful', async () => {
    const first = stage.start('first', { thread: false })
    await stage.writes('first', 5)
    const second = stage.start('second')
    await second.said(/^standing/)
    await stage.block('first', 5000)
    await stage.writes('second', 5)
    await first.said(/^lost/)
    await stage.writes('second', 20)
    await first.stop()
    await second.stop()
    expect(stage.unlawful).toEqual([])
    expect(stage.holders).toEqual(['first', 'second'])
  })

  test('one whose credentials come from a program runs it once, for all its threads', async () => {
    const { kubeconfig, runs } = await stage.plugin()
    const first = stage.start('first', { kubeconfig })
    await stage.writes('first', 5)
    await first.stop()
    expect(stage.unlawful).toEqual([])
    expect(first.lines.filter((line) => line.includes('renewing the lease in the main thread'))).toEqual([])
    expect(await runs()).toBe(1)
  })
})
