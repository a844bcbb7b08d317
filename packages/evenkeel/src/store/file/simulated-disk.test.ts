import { expect, test } from 'vitest'
import { SeededRandom } from '#base'
import { SimulatedDisk } from './simulated-disk.ts'

const sector = 512

/** What is left of a file after each of many power cuts, as text. */
function leftOf(disk: SimulatedDisk, name: string): string[] {
  const random = new SeededRandom('cuts')
  return Array.from({ length: 200 }, () => disk.cut(random).get(name)?.toString() ?? 'gone')
}

async function diskWith(text: string): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk()
  const file = await disk.open('a', 'create')
  await file.write(0, Buffer.from(text))
  await file.sync()
  await disk.syncFolder()
  return disk
}

test('SimulatedDisk.cut leaves what was synced', async () => {
  const disk = await diskWith('x'.repeat(3 * sector))
  expect(new Set(leftOf(disk, 'a'))).toEqual(new Set(['x'.repeat(3 * sector)]))
})

test('SimulatedDisk.cut leaves an unsynced sector old, new or torn, each on its own', async () => {
  const [old, next] = ['x'.repeat(sector), 'y'.repeat(sector)]
  const disk = await diskWith(old + old)
  const file = await disk.open('a', 'write')
  await file.write(0, Buffer.from(next + next))
  const left = leftOf(disk, 'a')
  for (const state of [old + old, next + next, old + next, next + old]) expect(left).toContain(state)
  expect(left.some((text) => /^y+x+$/.test(text.slice(0, sector)))).toBe(true)
  expect(left.every((text) => /^(y*x*)$/.test(text.slice(0, sector)) && text.length === 2 * sector)).toBe(true)
})

test('SimulatedDisk.cut leaves any length between the synced and the current one', async () => {
  const disk = await diskWith('x'.repeat(10))
  const file = await disk.open('a', 'write')
  await file.write(10, Buffer.from('y'.repeat(10)))
  const lengths = new Set(leftOf(disk, 'a').map(({ length }) => length))
  expect([lengths.has(10), lengths.has(20), lengths.size > 2]).toEqual([true, true, true])
  expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([10, 20])
})

test('SimulatedDisk.cut keeps unsynced changes of names in order', async () => {
  const disk = await diskWith('x')
  await disk.rename('a', 'b')
  await disk.remove('b')
  const random = new SeededRandom('names')
  const states = new Set(Array.from({ length: 50 }, () => [...disk.cut(random).keys()].join()))
  expect(states).toEqual(new Set(['a', 'b', '']))
})

test('SimulatedDisk.open creates an empty file', async () => {
  const file = await new SimulatedDisk().open('a', 'create')
  expect([await file.size(), await file.read(0, Buffer.alloc(1))]).toEqual([0, 0])
})

test('SimulatedDisk.cut never tears a sector beyond its end', async () => {
  const [old, next] = ['x'.repeat(sector), 'y'.repeat(sector)]
  const disk = await diskWith(old + old)
  const file = await disk.open('a', 'write')
  await file.write(0, Buffer.from(next + next))
  // The names and the length; then the first sector torn after more bytes than it has, and the second one old.
  const draws = [0, 0, 0, sector + 1, 2, 0, 0]
  expect(
    disk
      .cut({ uint32: () => draws.shift() ?? 0 })
      .get('a')
      ?.toString(),
  ).toBe(old + old)
})
