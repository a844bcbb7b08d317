import { expect, test } from 'vitest'
import { changeOf, entryOf, Slabs, Version, versionAt } from './version.ts'

const slabs = new Slabs()

/** Versions of one key, oldest first; a text is a value, nothing is a deletion. */
function chain(...writes: readonly (readonly [number, string | undefined])[]): Version[] {
  const versions: Version[] = []
  for (const [revision, value] of writes) {
    const older = versions.at(-1)
    const version = new Version('/a', revision, {
      created: older && !older.deleted ? older.created : revision,
      lease: undefined,
    })
    if (value !== undefined) slabs.store(version, Buffer.from(value))
    version.older = older
    versions.push(version)
  }
  return versions
}

test('versionAt finds the version visible at a revision', () => {
  const newest = chain([2, 'one'], [4, undefined], [7, 'two'], [9, 'three']).at(-1)
  const seen = [1, 2, 3, 4, 6, 7, 8, 9, 100].map((revision) => versionAt(newest, revision)?.revision)
  expect(seen).toEqual([undefined, 2, 2, undefined, undefined, 7, 7, 9, 9])
  expect(versionAt(undefined, 5)).toBe(undefined)
})

test('entryOf names a lease only if there is one', () => {
  const [bare] = chain([2, 'x']) as [Version]
  expect(Object.keys(entryOf(bare))).toEqual(['key', 'value', 'revision', 'created'])
  const leased = new Version('/a', 2, { created: 2, lease: '7' })
  slabs.store(leased, Buffer.from('x'))
  expect(entryOf(leased).lease).toBe('7')
})

test('changeOf describes a create, an update, a delete and a second create', () => {
  const changes = chain([2, 'one'], [4, 'two'], [7, undefined], [9, 'three']).map(changeOf)
  expect(changes.map(({ entry, previous }) => [previous?.revision, entry?.revision, entry?.created])).toEqual([
    [undefined, 2, 2],
    [2, 4, 2],
    [4, undefined, undefined],
    [undefined, 9, 9],
  ])
  expect(changes.map((change) => Object.keys(change).sort().join())).toEqual([
    'entry,key,revision',
    'entry,key,previous,revision',
    'key,previous,revision',
    'entry,key,revision',
  ])
})
