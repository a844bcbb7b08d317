/** `spec.watch` of Processes, on a simulated machine. */
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs, startSimulated, type SimulatedPlane } from '../plane.fixture.ts'

const watching = { command: ['serve'], watch: { paths: ['src'] } }

const untilRun = (world: SimulatedPlane, name: string, run: number) =>
  world.until(name, (object) => isReady(object) && object.status?.run?.number === run)

describe('spec.watch', () => {
  test('W25: 1,000 writes are one restart, whose cause names the file', async () => {
    const world = await startSimulated()
    await world.create('web', watching)
    await untilRun(world, 'web', 1)
    for (let index = 0; index < 1000; index++) {
      world.watcher.change(`/app/src/file-${index % 7}.ts`)
      await world.plane.advance(1)
    }
    const { status } = await untilRun(world, 'web', 2)
    expect(status?.run?.cause).toBe('src/file-0.ts and 6 other files changed')
    expect(status?.runs?.[0]).toMatchObject({ number: 1, reason: 'FileChanged' })
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
    expect(await world.events('web')).toContainEqual({
      reason: 'Stopping',
      note: 'run 1 is stopped: src/file-0.ts and 6 other files changed',
    })
  })

  test('W25: what is ignored, and the folder of Evenkeel, restart nothing', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['serve'], watch: { paths: ['.', '/data'], ignore: ['*.md'] } })
    await untilRun(world, 'web', 1)
    for (const path of ['/app/README.md', '/app/node_modules/a.js', '/app/.git/index', '/data/session', '/other/a.ts'])
      world.watcher.change(path)
    await world.plane.advance(10_000)
    expect((await world.get('web')).status?.run?.number).toBe(1)
    world.watcher.change('/app/a.ts')
    expect((await untilRun(world, 'web', 2)).status?.run?.cause).toBe('a.ts changed')
  })

  test('a change starts a process that waits after a crash, at once, and one that has failed for good', async () => {
    const world = await startSimulated()
    await world.create('web', { ...watching, command: ['exit', '1', '10'], restart: { policy: 'Never' } })
    await world.until('web', phaseIs('Failed'))
    world.watcher.change('/app/src/a.ts')
    const again = await world.until('web', (object) => phaseIs('Failed')(object) && object.status?.run?.number === 2)
    expect(again.status?.run?.cause).toBe('src/a.ts changed')
  })

  test('a stopped process stays stopped, and does not answer the change later', async () => {
    const world = await startSimulated()
    await world.create('web', { ...watching, running: false })
    await world.until('web', phaseIs('Stopped'))
    world.watcher.change('/app/src/a.ts')
    await world.plane.advance(10_000)
    await world.patch('web', { running: true })
    await untilRun(world, 'web', 1)
    await world.plane.advance(10_000)
    expect((await world.get('web')).status?.run?.number).toBe(1)
  })

  test('a file that is newer than the run counts: it changed while no Evenkeel ran', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['serve'] })
    await untilRun(world, 'web', 1)
    await world.plane.advance(1000)
    world.watcher.change('/app/src/a.ts')
    await world.plane.advance(1000)
    await world.patch('web', { watch: { paths: ['src'] } })
    expect((await untilRun(world, 'web', 2)).status?.run?.cause).toBe('src/a.ts changed')
  })

  test('W25: cascade restarts what depends on it, in dependency order, each once', async () => {
    const world = await startSimulated()
    const after = (...names: string[]) => ({ command: ['serve'], dependsOn: names.map((name) => ({ name })) })
    await world.create('api', { ...watching, watch: { paths: ['src'], cascade: true } })
    await world.create('web', after('api'))
    await world.create('worker', after('api'))
    await world.create('proxy', after('web', 'worker'))
    await world.create('other', { command: ['serve'] })
    for (const name of ['api', 'web', 'worker', 'proxy', 'other']) await untilRun(world, name, 1)
    await world.plane.advance(1000)
    world.watcher.change('/app/src/a.ts')
    const started: number[] = []
    for (const name of ['api', 'web', 'worker', 'proxy']) {
      const { status } = await untilRun(world, name, 2)
      started.push(world.host.processes().find(({ pid }) => pid === status?.run?.pid)?.startTicks ?? 0)
      if (name !== 'api') expect(status?.run?.cause).toBe('Process api was restarted because src/a.ts changed')
    }
    const [api = 0, web = 0, worker = 0, proxy = 0] = started
    expect(api).toBeLessThanOrEqual(Math.min(web, worker))
    expect(Math.max(web, worker)).toBeLessThanOrEqual(proxy)
    await world.plane.advance(60_000)
    for (const name of ['api', 'web', 'worker', 'proxy'])
      expect((await world.get(name)).status?.run?.number, name).toBe(2)
    expect((await world.get('other')).status?.run?.number).toBe(1)
  })

  test('W25: a system that cannot watch is reported in a condition', async () => {
    const world = await startSimulated()
    world.watcher.problem = 'the limit of watches is reached'
    await world.create('web', watching)
    const object = await world.until('web', (one) => conditionOf(one, 'FilesWatched') !== undefined)
    expect(conditionOf(object, 'FilesWatched')).toMatchObject({ status: 'False', reason: 'Polling' })
  })

  test('no watch is left when the spec has none, the process is stopped, or the object is gone', async () => {
    const world = await startSimulated()
    await world.create('web', watching)
    await untilRun(world, 'web', 1)
    expect(world.watcher.watchCount).toBe(1)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    expect(world.watcher.watchCount).toBe(0)
    await world.patch('web', { running: true })
    await untilRun(world, 'web', 2)
    await world.remove('web')
    await world.untilGone('web')
    expect(world.watcher.watchCount).toBe(0)
  })
})
