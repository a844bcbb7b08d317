import { expect, test } from 'vitest'
import { SeededRandom } from '#base'
import { ClusterManagers } from '#manager'
import { Note, World } from './world.fixture.ts'

test('ClusterManagers runs the same controllers on every cluster, with its name in every key, and one failure stops all', async () => {
  const [east, west] = [await World.start(), await World.start()]
  const { clock, log } = east
  const seen: string[] = []
  const both = new ClusterManagers({ name: 'both', clusters: { east: { transport: east.transport }, west: { transport: west.transport } }, clock, log, random: new SeededRandom(1), leaderElection: {} })
  both.addController({
    for: Note,
    reconcile(note, { key, status }) {
      seen.push(`${key.cluster} ${note.metadata.name}`)
      status.set({ text: `${key.cluster} ${note.spec.text ?? ''}` })
    },
  })
  let end: { error?: unknown } | undefined
  void both.run(new AbortController().signal).then(() => { end = {} }, (error: unknown) => { end = { error } })
  // The other server has a clock of its own, which has to move as well.
  const until = (isSo: () => boolean | Promise<boolean>): Promise<void> => east.until(async () => {
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
  await until(async () => await read(east) === 'east one' && await read(west) === 'west two')
  expect(new Set(seen)).toEqual(new Set(['east a', 'west a']))
  expect(() => new ClusterManagers({ name: 'none', clusters: {} })).toThrow('there are no clusters')
  both.managers.get('west')?.add(() => Promise.reject(new Error('the west failed')))
  await until(() => end !== undefined)
  expect(end).toEqual({ error: new Error('the west failed') })
})
