import { describe, expect, test } from 'vitest'
import { declareKind } from '#api'
import { StopReconcile } from '#controller'
import { ChildServer, site } from './children.fixture.ts'

const Job = declareKind({ group: 'batch', version: 'v1', kind: 'Job' })
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

const complete = { status: { conditions: [{ type: 'Complete', status: 'True' }] } }
const failed = { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'Deadline', message: 'too slow' }] } }
const nothing = (): void => undefined

/** A server where one run has applied a Job that later runs do not declare. */
async function withJob(): Promise<ChildServer> {
  const server = new ChildServer({ owns: [Job] })
  await server.run((children) => children.apply(Job, { metadata: { name: 'once' } }, { prune: false }))
  return server
}

const condition = ({ conditions }: ChildServer): string | undefined => conditions.get('ChildrenReady')

describe('F7b: ChildrenReady in a run that applies nothing', () => {
  test('F7b: follows a child that completes, fails and is deleted', async () => {
    const server = await withJob()
    expect(condition(server)).toBe('False Progressing: Job once: 0 active, 0 succeeded, 0 failed')
    server.change(Job, 'once', complete)
    await server.run(nothing, server.parent())
    expect([condition(server), server.status.children?.[0]?.state]).toEqual([
      'True AllReady: 1 child is ready',
      'Ready',
    ])
    server.change(Job, 'once', failed)
    await server.run(nothing, server.parent())
    expect(condition(server)).toBe('False Failed: Job once: too slow')
    server.objects.clear()
    await server.run(nothing, server.parent())
    expect([condition(server), server.status.children]).toEqual(['True AllReady: 0 children are ready', []])
  })

  test('F7b: is made by the run after a crash that lost it, from the cache alone', async () => {
    const server = await withJob()
    server.conditions.clear()
    server.forgetRows()
    server.reads.length = 0
    await server.run(nothing, server.parent())
    expect(condition(server)).toBe('False Progressing: Job once: 0 active, 0 succeeded, 0 failed')
    expect([server.status.children?.map(({ name }) => name), server.reads]).toEqual([['once'], []])
  })

  test('F7b: is not set for a parent that has no children and never had any', async () => {
    const server = new ChildServer({ owns: [Job] })
    await server.run(nothing)
    expect([condition(server), server.status.children]).toEqual([undefined, undefined])
  })

  test('F7b: is not touched by a run whose parent is older than the one a child was applied for', async () => {
    const server = new ChildServer({ owns: [Job] })
    await server.run(
      (children) => children.apply(Job, { metadata: { name: 'once' } }, { prune: false }),
      site({ generation: 2 }),
    )
    server.conditions.clear()
    await server.run(nothing, server.parent({ generation: 1 }))
    expect(condition(server)).toBeUndefined()
  })

  test('F7b: keeps the rule of the apply: an expression on the child, a function in the process', async () => {
    const server = new ChildServer({ owns: [ConfigMap] })
    await server.run(async (children) => {
      const options = { prune: false } as const
      await children.apply(ConfigMap, { metadata: { name: 'f' } }, { ...options, ready: (child) => 'data' in child })
      await children.apply(ConfigMap, { metadata: { name: 'e' } }, { ...options, ready: 'has(object.data)' })
    })
    expect(server.find(ConfigMap, { name: 'e', namespace: 'a' })?.metadata.annotations).toMatchObject({
      'evenkeel.dev/ready': 'has(object.data)',
    })
    await server.run(nothing, server.parent())
    expect(condition(server)).toContain('False Progressing: ConfigMap e: ')
    for (const name of ['e', 'f']) server.change(ConfigMap, name, { data: {} })
    await server.run(nothing, server.parent())
    expect(condition(server)).toBe('True AllReady: 2 children are ready')
  })

  test('F7b: reads a child of an undeclared kind once for each of its versions', async () => {
    const server = new ChildServer()
    await server.run((children) => children.apply(Job, { metadata: { name: 'once' } }, { prune: false }))
    const run = async (): Promise<number> => {
      server.reads.length = 0
      await server.run(nothing, server.parent())
      return server.reads.length
    }
    expect([await run(), await run(), condition(server)]).toEqual([
      1,
      0,
      'False Progressing: Job once: 0 active, 0 succeeded, 0 failed',
    ])
    server.change(Job, 'once', complete)
    expect([await run(), await run(), condition(server)]).toEqual([1, 0, 'True AllReady: 1 child is ready'])
  })
})

describe('F7b: ChildrenReady in a run that ended early', () => {
  const stop = (): never => {
    throw new StopReconcile('a dependency is not ready', { result: { park: 'it' } })
  }

  test('F7b: reports a child that has failed since', async () => {
    const server = await withJob()
    server.change(Job, 'once', complete)
    await server.run(nothing, server.parent())
    server.change(Job, 'once', failed)
    await expect(server.run(stop, server.parent())).rejects.toThrow('not ready')
    expect(condition(server)).toBe('False Failed: Job once: too slow')
  })

  test('F7b: stays True while all are ready, and does not become True', async () => {
    const server = await withJob()
    server.change(Job, 'once', complete)
    await expect(server.run(stop, server.parent())).rejects.toThrow('not ready')
    expect(condition(server)).toBe('False Progressing: the last run ended before it had applied all children')
    await server.run(nothing, server.parent())
    const before = condition(server)
    await expect(server.run(stop, server.parent())).rejects.toThrow('not ready')
    expect([before, condition(server)]).toEqual(['True AllReady: 1 child is ready', before])
  })

  test('F7b: says nothing about a parent without children', async () => {
    const server = new ChildServer({ owns: [Job] })
    await expect(server.run(stop)).rejects.toThrow('not ready')
    expect(condition(server)).toBeUndefined()
  })

  test('F7b: keeps what the run waits for', async () => {
    const server = new ChildServer({ owns: [Job] })
    await expect(
      server.run(async (children) => {
        children.waitFor(await children.apply(Job, {}), () => false)
      }),
    ).rejects.toThrow('waiting for Job shop')
    server.change(Job, 'shop', complete)
    await expect(
      server.run(async (children) => {
        children.waitFor(await children.apply(Job, {}), () => false)
      }, server.parent()),
    ).rejects.toThrow('waiting for Job shop')
    expect(condition(server)).toBe('False Progressing: waiting for Job shop to meet the condition of its parent')
  })
})
