import { describe, expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { ChildServer, site } from './children.fixture.ts'
import type { OnceOptions } from './children.ts'
import { onceName } from './once.ts'

const Job = declareKind({ group: 'batch', version: 'v1', kind: 'Job' })
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const Backup = declareKind({ group: 'demo.example.com', version: 'v1', kind: 'Backup' })

const complete = { status: { conditions: [{ type: 'Complete', status: 'True' }] } }
const failed = { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'Deadline', message: 'too slow' }] } }
const nothing = (): void => undefined

/** Makes a child for each key, a minute apart, and lets it end. */
async function made(
  server: ChildServer,
  ends: Readonly<Record<string, object | undefined>>,
  options: Partial<OnceOptions> = {},
): Promise<void> {
  let minute = 0
  for (const [key, end] of Object.entries(ends)) {
    server.now = `2026-01-01T00:${String(++minute).padStart(2, '0')}:00Z`
    await server.run((children) => children.once(Job, {}, { key, ...options }), server.parent())
    if (end) server.change(Job, `shop-${key}`, end)
  }
}

const names = ({ objects }: ChildServer): readonly string[] =>
  [...objects.values()].map(({ metadata: { name = '' } }) => name).sort()

describe('children.once', () => {
  test('once: makes one child for each key, and never changes it', async () => {
    const server = new ChildServer({ owns: [Job] })
    const run = (key: string, text: string): Promise<void> =>
      server.run((children) => children.once(Job, { spec: { text } } as never, { key }), server.parent())
    await run('monday', 'first')
    await run('monday', 'second')
    await run('tuesday', 'second')
    expect([server.created, server.applied]).toEqual([['shop-monday', 'shop-tuesday'], []])
    expect(server.find(Job, { name: 'shop-monday', namespace: 'a' })).toMatchObject({
      metadata: {
        labels: { 'evenkeel.dev/owner-uid': 'parent', 'evenkeel.dev/once': 'job' },
        ownerReferences: [{ name: 'shop', controller: true }],
        annotations: { 'evenkeel.dev/keep': '{"Complete":3,"Failed":1}', 'evenkeel.dev/prune': 'false' },
      },
      spec: { text: 'first' },
    })
  })

  test('once: neither prunes other children nor is pruned by a run that declares others', async () => {
    const server = new ChildServer({ owns: [Job, ConfigMap] })
    await server.run((children) => children.apply(ConfigMap, {}))
    await server.run((children) => children.once(Job, {}, { key: '1' }), server.parent())
    expect(names(server)).toEqual(['shop', 'shop-1'])
    await server.run((children) => {
      children.none()
    }, server.parent())
    expect(names(server)).toEqual(['shop-1'])
  })

  test('once: returns its own child when the cache lags or the response was lost, without another create', async () => {
    const server = new ChildServer({ owns: [Job] })
    await made(server, { '1': undefined })
    server.hidden.add('shop-1')
    const found: (string | undefined)[] = []
    await server.run(async (children) => {
      found.push((await children.once(Job, {}, { key: '1' })).metadata.uid)
    }, server.parent())
    expect([found, server.created]).toEqual([
      [server.find(Job, { name: 'shop-1', namespace: 'a' })?.metadata.uid],
      ['shop-1'],
    ])
  })

  test('once: an object of another owner is a Conflict, known to the cache or not', async () => {
    for (const isHidden of [false, true]) {
      const server = new ChildServer({ owns: [Job] })
      server.put({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'shop-1', namespace: 'a' } } as KubeObject)
      if (isHidden) server.hidden.add('shop-1')
      await expect(server.run((children) => children.once(Job, {}, { key: '1' }))).rejects.toThrow(
        'Job shop-1 exists and has no owner',
      )
      expect(server.conditions.get('ChildrenReady')).toMatch(/^False Conflict: Job shop-1/)
    }
  })

  test('once: keeps the newest of each outcome, and every one that runs', async () => {
    const server = new ChildServer({ owns: [Job] })
    const keep = { Complete: 2, Failed: 1 }
    await made(server, { a: complete, b: failed, c: complete, d: failed, e: complete, f: undefined }, { keep })
    await server.run(nothing, server.parent())
    expect(names(server)).toEqual(['shop-c', 'shop-d', 'shop-e', 'shop-f'])
    const [first] = server.deleted
    expect(first).toEqual({ name: 'shop-b', preconditions: { uid: 'u3', resourceVersion: '2' } })
  })

  test('once: a run without a call keeps to the limits of the newest child; a call sets them', async () => {
    const server = new ChildServer({ owns: [Job] })
    await made(server, { a: complete, b: complete, c: complete }, { keep: { Complete: 5 } })
    await server.run(nothing, server.parent())
    expect(names(server)).toHaveLength(3)
    await server.run((children) => children.once(Job, {}, { key: 'c', keep: { Complete: 1 } }), server.parent())
    expect(names(server)).toEqual(['shop-c'])
  })

  test('once: a child that the run names stays, whatever the limits', async () => {
    const server = new ChildServer({ owns: [Job] })
    await made(server, { a: complete }, { keep: { Complete: 0 } })
    for (let run = 0; run < 3; run++)
      await server.run((children) => children.once(Job, {}, { key: 'a', keep: { Complete: 0 } }), server.parent())
    expect([server.created, server.deleted]).toEqual([['shop-a'], []])
    await server.run(nothing, server.parent())
    expect(names(server)).toEqual([])
  })

  test('once: a kind with a status that has reported nothing yet has not ended; one without a status has', async () => {
    const server = new ChildServer({ owns: [Backup, ConfigMap] })
    for (const key of ['a', 'b', 'c', 'd', 'e'])
      await server.run(async (children) => {
        server.now = `2026-01-01T00:00:0${'abcde'.indexOf(key)}Z`
        await children.once(Backup, {}, { key, keep: { Complete: 1 } })
        await children.once(ConfigMap, {}, { key, keep: { Complete: 1 } })
      }, server.parent())
    const left = (kind: string): number => [...server.objects.values()].filter((object) => object.kind === kind).length
    expect([left('Backup'), left('ConfigMap')]).toEqual([5, 1])
  })

  test('once: only the newest outcome of a series counts for ChildrenReady', async () => {
    const server = new ChildServer({ owns: [Job] })
    const state = async (): Promise<string | undefined> => {
      await server.run(nothing, server.parent())
      return server.conditions.get('ChildrenReady')
    }
    await made(server, { a: failed })
    expect(await state()).toBe('False Failed: Job shop-a: too slow')
    await made(server, { a: failed, b: undefined })
    expect(await state()).toContain('Job shop-b: 0 active')
    server.change(Job, 'shop-b', complete)
    expect(await state()).toBe('True AllReady: 1 child is ready')
    expect(server.status.children?.map(({ name, state: row }) => `${name} ${row}`)).toEqual([
      'shop-a Failed',
      'shop-b Ready',
    ])
  })

  test('once: series of one kind have limits and names of their own', async () => {
    const server = new ChildServer({ owns: [Job] })
    const keep = { Complete: 1 }
    for (const key of ['1', '2'])
      for (const name of ['dump', 'scan'])
        await server.run(async (children) => {
          server.now = `2026-01-01T00:00:0${key}Z`
          await children.once(Job, {}, { key, name, keep })
          server.change(Job, `shop-${name}-${key}`, complete)
        }, server.parent())
    await server.run(nothing, server.parent())
    expect(names(server)).toEqual(['shop-dump-2', 'shop-scan-2'])
  })

  test.each([
    [{ key: '' }, 'children.once(Job) needs a key'],
    [{ key: 'a', keep: { Complete: -1 } }, 'keep.Complete must be a whole number of 0 or more, got -1'],
    [{ key: 'a', keep: { Failed: 0.5 } }, 'keep.Failed must be a whole number of 0 or more, got 0.5'],
    [{ key: 'a', name: 'No' }, 'name must be at most 40 lower-case letters'],
  ])('once: refuses %j', async (options, message) => {
    const server = new ChildServer({ owns: [Job] })
    await expect(server.run((children) => children.once(Job, {}, options))).rejects.toThrow(message)
    expect(server.created).toEqual([])
  })

  test('once: refuses a child in another namespace', async () => {
    const server = new ChildServer({ owns: [{ kind: Job, elsewhere: true }] })
    await expect(
      server.run((children) => children.once(Job, { metadata: { namespace: 'b' } }, { key: 'a' }), site()),
    ).rejects.toThrow('Job b/shop-a cannot be made once')
  })
})

test('onceName: parent, series and key; where that is no name, a valid part of it and a digest', () => {
  expect(onceName(['shop', undefined], '1767225600')).toBe('shop-1767225600')
  expect(onceName(['shop', 'dump'], '1')).toBe('shop-dump-1')
  expect(onceName(['shop', undefined], '2026-01-01T00:00:00Z')).toMatch(/^shop-2026-01-01t00-00-00z-[0-9a-f]{10}$/)
  expect(onceName(['shop', undefined], 'a ')).not.toBe(onceName(['shop', undefined], 'a-'))
  const long = onceName(['x'.repeat(80), undefined], '1')
  expect([long.length, long]).toEqual([63, expect.stringMatching(/^x{52}-[0-9a-f]{10}$/) as string])
})
