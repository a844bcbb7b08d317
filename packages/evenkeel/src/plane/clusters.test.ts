import { expect, test } from 'vitest'
import { SeededRandom } from '#base'
import { ClusterManagers } from '#manager'
import { SelfSignedCertificates, Webhooks } from '#webhook'
import { Note, World } from './world.fixture.ts'

test('ClusterManagers runs the same controllers on every cluster, with its name in every key, and one failure stops all', async () => {
  const [east, west] = [await World.start(), await World.start()]
  const { clock, log } = east
  const seen: string[] = []
  const hooks = new Webhooks({ clock, log })
  hooks.addValidating(Note, () => undefined)
  const urls: string[] = []
  const webhooks = {
    webhooks: hooks,
    certificates: new SelfSignedCertificates({ names: ['localhost'] }),
    port: 0,
    onListening: (url: string) => {
      urls.push(url)
    },
  }
  const both = new ClusterManagers({
    name: 'both',
    clusters: { east: { transport: east.transport }, west: { transport: west.transport } },
    clock,
    log,
    random: new SeededRandom(1),
    leaderElection: {},
    webhooks,
  })
  both.addController({
    for: Note,
    reconcile(note, { key, status }) {
      seen.push(`${key.cluster} ${note.metadata.name}`)
      status.set({ text: `${key.cluster} ${note.spec.text ?? ''}` })
    },
  })
  let end: { error?: unknown } | undefined
  void both.run(new AbortController().signal).then(
    () => {
      end = {}
    },
    (error: unknown) => {
      end = { error }
    },
  )
  // The other server has a clock of its own, which has to move as well.
  const until = (isSo: () => boolean | Promise<boolean>): Promise<void> =>
    east.until(async () => {
      await west.clock.advance(10)
      return await isSo()
    })
  const writing = [east.write('a', 'one'), west.write('a', 'two')]
  await until(() => [...both.managers.values()].every((manager) => manager.isLeading))
  await Promise.all(writing)
  const read = async (world: World): Promise<string | undefined> => {
    const found = world.read('a')
    await world.clock.advance(0)
    return await found
  }
  await until(async () => (await read(east)) === 'east one' && (await read(west)) === 'west two')
  const shown = both.managers.get('east')?.metrics.render() ?? ''
  for (const cluster of ['east', 'west']) {
    expect(shown).toMatch(
      new RegExp(
        `^controller_runtime_reconcile_total\\{cluster="${cluster}",controller="note",result="success"\\} [1-9]`,
        'm',
      ),
    )
    expect(shown).toContain(`evenkeel_cache_objects{cluster="${cluster}",group="test.dev",kind="Note"} 1\n`)
    expect(shown).toContain(`leader_election_master_status{cluster="${cluster}",name="both"} 1\n`)
    expect(shown).toContain(`workqueue_adds_total{cluster="${cluster}",name="note",controller="note"}`)
  }
  // One listener for both.
  expect(urls).toEqual([expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/)])
  expect(new Set(seen)).toEqual(new Set(['east a', 'west a']))
  expect(() => new ClusterManagers({ name: 'none', clusters: {} })).toThrow('needs at least one cluster')
  both.managers.get('west')?.add(() => Promise.reject(new Error('the west failed')))
  await until(() => end !== undefined)
  expect(end).toEqual({ error: new Error('the west failed') })
})

test('ClusterManagers serves the health and the runs of all clusters once, and ends when all managers have stopped', async () => {
  const world = await World.start()
  const { clock, log, transport } = world
  let url = ''
  const both = new ClusterManagers({
    name: 'both',
    clusters: { east: { transport }, west: { transport } },
    clock,
    log,
    random: new SeededRandom(1),
    endpoints: {
      onListening: (at) => {
        url = at
      },
    },
  })
  both.addController({ for: Note, reconcile: () => undefined })
  const stopping = new AbortController()
  let isOver = false
  const run = both.run(stopping.signal).then(() => {
    isOver = true
  })
  await world.until(() => [...both.managers.values()].every(({ checks }) => checks.ready.length > 0) && url !== '')
  await world.clock.advance(1000)
  const shown = (await (await fetch(`${url}/debug/reconciles`)).json()) as Record<string, { controllers: unknown[] }>
  expect(Object.entries(shown).map(([cluster, { controllers }]) => [cluster, controllers.length])).toEqual([
    ['east', 1],
    ['west', 1],
  ])
  const text = await (await fetch(`${url}/readyz?verbose`)).text()
  expect(text).toContain('[+]east-controller-note ok\n[+]west-controller-note ok\n')
  stopping.abort(new Error('enough'))
  await world.until(() => isOver)
  await run
  for (const manager of both.managers.values())
    expect(() => manager.addController({ for: Note, name: 'late', reconcile: () => undefined })).toThrow('has stopped')
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
})
