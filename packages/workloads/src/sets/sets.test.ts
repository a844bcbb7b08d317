/** ProcessSets on a simulated machine, in simulated time. */
import { isConditionTrue } from 'evenkeel'
import { onTestFinished, describe, expect, test } from 'vitest'
import { reasonOf, startOwners } from '../owners.fixture.ts'
import { Process, type ProcessObject } from '../process-kind.ts'
import type { ProcessSetObject } from './set-kind.ts'

const templateOf = (...command: string[]) => ({ spec: { command } })
const serves = templateOf('serve', 'v1')

type Plane = Awaited<ReturnType<typeof startOwners>>

const namesOf = async ({ processes }: Plane): Promise<readonly string[]> =>
  (await processes.list()).map(({ metadata: { name } }) => name).sort()

const isComplete = (object: ProcessSetObject): boolean =>
  object.status?.observedGeneration === object.metadata.generation &&
  reasonOf(object, 'Progressing') === 'Complete' &&
  object.status.replicas === object.spec.replicas &&
  object.status.updatedReplicas === object.spec.replicas

/** Follows every commit of a Process: how many were ready at least, and how many there were at most. */
async function follow({ client, host, processes }: Plane) {
  const known = new Map<string, ProcessObject>()
  for (const process of await processes.list()) known.set(process.metadata.name, process)
  const seen = { leastReady: Infinity, leastRunning: Infinity, most: 0, commits: 0 }
  const stopping = new AbortController()
  onTestFinished(() => {
    stopping.abort()
  })
  const stream = client.watch(Process, { namespace: 'default', signal: stopping.signal })
  const reading = (async (): Promise<void> => {
    for await (const event of stream) {
      if (event.type === 'ERROR' || event.type === 'BOOKMARK') continue
      const process = event.object as ProcessObject
      if (event.type === 'DELETED') known.delete(process.metadata.name)
      else known.set(process.metadata.name, process)
      const ready = [...known.values()].filter(
        ({ status, metadata }) =>
          isConditionTrue(status?.conditions, 'Ready') && metadata.deletionTimestamp === undefined,
      ).length
      seen.commits++
      seen.leastReady = Math.min(seen.leastReady, ready)
      seen.leastRunning = Math.min(seen.leastRunning, host.processes().length)
      seen.most = Math.max(seen.most, known.size)
    }
  })()
  reading.catch(() => undefined)
  return seen
}

async function startFour(): Promise<Plane> {
  const world = await startOwners()
  await world.sets.create('web', { replicas: 4, template: serves })
  await world.sets.until('web', isComplete)
  return world
}

describe('a ProcessSet', () => {
  test('runs as many Processes as it asks for, with stable names, and writes nothing at rest', async () => {
    const world = await startFour()
    expect(await namesOf(world)).toEqual(['web-0', 'web-1', 'web-2', 'web-3'])
    const { status, metadata } = await world.sets.get('web')
    expect(status).toMatchObject({ replicas: 4, readyReplicas: 4, updatedReplicas: 4 })
    expect(status?.currentRevision).toBe(status?.updateRevision)
    await world.plane.advance(600_000)
    expect((await world.sets.get('web')).metadata.resourceVersion).toBe(metadata.resourceVersion)
  })

  test('is scaled through its scale subresource, as by kubectl scale', async () => {
    const world = await startFour()
    const path = '/apis/workloads.evenkeel.dev/v1/namespaces/default/processsets/web/scale'
    const scale = JSON.parse((await world.client.raw({ method: 'GET', path })).text()) as {
      spec: { replicas: number }
      status: { replicas: number; selector: string }
    }
    expect(scale).toMatchObject({ spec: { replicas: 4 }, status: { replicas: 4 } })
    const selected = await world.client.list(Process, { labelSelector: scale.status.selector })
    expect(selected.items).toHaveLength(4)
    await world.client.raw({ method: 'PUT', path, body: { ...scale, spec: { replicas: 2 } } })
    await world.plane.advance(1000)
    await world.sets.until('web', isComplete)
    expect(await namesOf(world)).toEqual(['web-0', 'web-1'])
    await world.sets.patch('web', { replicas: 0 })
    await world.plane.advance(1000)
    expect(world.programs()).toEqual([])
  })

  test('makes a Process again that is deleted, and restores one that is changed', async () => {
    const world = await startFour()
    await world.processes.remove('web-2')
    await world.processes.patch('web-1', { command: ['stubborn'] })
    await world.plane.advance(15_000)
    await world.sets.until('web', isComplete)
    expect(world.programs()).toEqual(['serve v1', 'serve v1', 'serve v1', 'serve v1'])
  })

  test('that is deleted ends its Processes', async () => {
    const world = await startFour()
    await world.sets.remove('web')
    await world.plane.advance(5000)
    expect(await namesOf(world)).toEqual([])
    expect(world.programs()).toEqual([])
  })
})

describe('a change of the template', () => {
  test('W21: of four replicas: at every commit four are ready, and five exist at most', async () => {
    const world = await startFour()
    const seen = await follow(world)
    await world.sets.patch('web', { template: templateOf('serve', 'v2') })
    await world.plane.advance(5000)
    const { status } = await world.sets.until('web', isComplete)
    expect(world.programs()).toEqual(['serve v2', 'serve v2', 'serve v2', 'serve v2'])
    expect(await namesOf(world)).toEqual(['web-0', 'web-1', 'web-2', 'web-3'])
    expect(seen.commits).toBeGreaterThan(20)
    expect(seen).toMatchObject({ leastReady: 4, leastRunning: 4, most: 5 })
    // The places stay: each Process has had two runs.
    for (const process of await world.processes.list()) expect(process.status?.run?.number).toBe(2)
    expect(status?.revisions).toHaveLength(2)
    expect((await world.events('web')).map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['RollingOut', 'Updated', 'RolledOut']),
    )
  })

  test('that does not work stops at the spare; back again, the spare goes', async () => {
    const world = await startFour()
    const seen = await follow(world)
    await world.sets.patch('web', { template: templateOf('missing') })
    await world.plane.advance(60_000)
    expect(world.programs()).toEqual(['serve v1', 'serve v1', 'serve v1', 'serve v1'])
    const stuck = await world.sets.get('web')
    expect(stuck.status).toMatchObject({ readyReplicas: 4, updatedReplicas: 1, replicas: 5 })
    expect(reasonOf(stuck, 'Progressing')).toBe('RollingOut')
    await world.sets.patch('web', { template: serves })
    await world.plane.advance(5000)
    await world.sets.until('web', isComplete)
    expect(await namesOf(world)).toHaveLength(4)
    expect(seen).toMatchObject({ leastReady: 4, leastRunning: 4, most: 5 })
    for (const process of await world.processes.list()) expect(process.status?.run?.number).toBe(1)
  })

  test('of labels alone starts nothing again', async () => {
    const world = await startFour()
    await world.sets.patch('web', { template: { metadata: { labels: { tier: 'front' } } } })
    await world.plane.advance(5000)
    await world.sets.until('web', isComplete)
    for (const { metadata, status } of await world.processes.list()) {
      expect(metadata.labels?.['tier']).toBe('front')
      expect(status?.run?.number).toBe(1)
    }
  })

  test('reaches only numbers from the partition on', async () => {
    const world = await startFour()
    await world.sets.patch('web', { partition: 3, template: templateOf('serve', 'v2') })
    await world.plane.advance(5000)
    expect(world.programs()).toEqual(['serve v1', 'serve v1', 'serve v1', 'serve v2'])
    // One below the partition that is missing is made as its neighbours are.
    await world.processes.remove('web-1')
    await world.plane.advance(5000)
    expect(world.programs()).toEqual(['serve v1', 'serve v1', 'serve v1', 'serve v2'])
    await world.sets.patch('web', { partition: 0 })
    await world.plane.advance(5000)
    await world.sets.until('web', isComplete)
    expect(new Set(world.programs())).toEqual(new Set(['serve v2']))
  })

  test('waits while it is paused', async () => {
    const world = await startFour()
    await world.sets.act('web', 'pause')
    await world.sets.patch('web', { template: templateOf('serve', 'v2') })
    await world.plane.advance(10_000)
    expect(new Set(world.programs())).toEqual(new Set(['serve v1']))
    expect(reasonOf(await world.sets.get('web'), 'Progressing')).toBe('Paused')
    await world.sets.act('web', 'resume')
    await world.plane.advance(5000)
    await world.sets.until('web', isComplete)
    expect(new Set(world.programs())).toEqual(new Set(['serve v2']))
  })

  test('shows revisions and no value of a variable', async () => {
    const world = await startOwners()
    const template = { spec: { command: ['serve'], env: [{ name: 'TOKEN', value: 'hunter2-secret' }] } }
    await world.sets.create('web', { replicas: 1, template })
    await world.sets.until('web', isComplete)
    expect(JSON.stringify([(await world.sets.get('web')).status, await world.events('web')])).not.toContain('hunter2')
  })
})

describe('the action restart', () => {
  test('restarts one Process after the other, each once, for each request', async () => {
    const world = await startFour()
    const seen = await follow(world)
    for (const number of [2, 3]) {
      await world.sets.act('web', 'restart')
      await world.plane.advance(10_000)
      await world.sets.until('web', isComplete)
      expect((await world.processes.list()).map(({ status }) => status?.run?.number)).toEqual([
        number,
        number,
        number,
        number,
      ])
    }
    expect(seen).toMatchObject({ leastReady: 4, leastRunning: 4, most: 5 })
    expect((await world.processes.get('web-0')).status?.run?.cause).toBe('a restart was requested by evenkeel-admin')
  })
})

describe('what waits for a ProcessSet', () => {
  test('until Ready waits for all replicas of the current generation', async () => {
    const world = await startOwners()
    await world.processes.create('proxy', { command: ['serve'], dependsOn: [{ kind: 'ProcessSet', name: 'web' }] })
    await world.sets.create('web', { replicas: 3, template: templateOf('missing') })
    await world.plane.advance(5000)
    const waiting = await world.processes.get('proxy')
    expect(waiting.status?.phase).toBe('Waiting')
    expect(waiting.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'waits for ProcessSet web',
    )
    await world.sets.patch('web', { template: serves })
    await world.plane.advance(10_000)
    await world.processes.until('proxy', ({ status }) => status?.phase === 'Running')
  })

  test('W14: a cycle of a ProcessSet and a Process is reported by both', async () => {
    const world = await startOwners()
    await world.processes.create('db', { command: ['serve'], dependsOn: [{ kind: 'ProcessSet', name: 'web' }] })
    await world.sets.create('web', { template: { spec: { command: ['serve'], dependsOn: [{ name: 'db' }] } } })
    await world.processes.until('db', (one) => reasonOf(one, 'Ready') === 'Cycle')
    await world.sets.until('web', (one) => reasonOf(one, 'Ready') === 'Cycle')
    await world.plane.advance(5000)
    expect(world.programs()).toEqual([])
  })
})

test('a ProcessSet is refused with the path of the field and what to write instead', async () => {
  const { sets } = await startOwners()
  const bad: readonly (readonly [spec: object, message: RegExp])[] = [
    [{ replicas: 1e9, template: serves }, /spec\.replicas.*at most 1000/],
    [{ replicas: -1, template: serves }, /spec\.replicas/],
    [{ template: { spec: { command: ['a'], shell: 'b' } } }, /spec\.template\.spec.*write either/],
  ]
  for (const [spec, message] of bad) await expect(sets.create('bad', spec)).rejects.toThrow(message)
})
