import { AssertionError } from '#base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Version } from './version.ts'
import { Versions } from './versions.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const textOf = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString()

/** Writes and publishes at once; no value is a deletion. */
function write(versions: Versions, key: string, value?: string): Version {
  const revision = versions.published + 1
  const made = versions.apply({ key, ...(value !== undefined && { value: bytes(value) }) }, revision)
  versions.publish([made], revision)
  return made
}

function scanAll(
  versions: Versions,
  { prefix = '', revision = versions.published, from = '', visitMax = Infinity } = {},
): { keys: string[]; next: string | undefined } {
  const keys: string[] = []
  const next = versions.scan({ prefix, revision, from, visitMax }, ({ key }) => {
    keys.push(key)
  })
  return { keys, next }
}

describe('a pending version', () => {
  test('is visible to writers only until it is published', () => {
    const versions = new Versions()
    write(versions, '/a', 'old')
    const made = versions.apply({ key: '/a', value: bytes('new') }, 3)
    expect(versions.newest('/a')).toBe(made)
    expect(versions.conflict([{ key: '/a', expect: 2 }])).toEqual({ key: '/a', version: made })
    expect(textOf(versions.get('/a', versions.published)?.value)).toBe('old')
    expect(versions.history.length).toBe(1)
    versions.publish([made], 3)
    expect(textOf(versions.get('/a', 3)?.value)).toBe('new')
    expect(versions.conflict([{ key: '/a', expect: 3 }])).toBe(undefined)
  })

  test('that is undone leaves everything as it was', () => {
    const versions = new Versions()
    const old = write(versions, '/a', 'old')
    const held = versions.allocatedBytes
    const pending = [
      versions.apply({ key: '/a', value: bytes('new') }, 3),
      versions.apply({ key: '/b', value: bytes('b') }, 3),
      versions.apply({ key: '/a' }, 4),
    ]
    for (const made of pending.reverse()) versions.undo(made)
    expect([
      versions.newest('/a'),
      versions.newest('/b'),
      versions.size,
      versions.published,
      versions.allocatedBytes,
    ]).toEqual([old, undefined, 1, 2, held])
    expect(scanAll(versions).keys).toEqual(['/a'])
  })

  test('can be undone only while it is pending', () => {
    const versions = new Versions()
    const made = write(versions, '/a', 'x')
    expect(() => {
      versions.undo(made)
    }).toThrow(AssertionError)
  })

  test('undo does not restore a tombstone that was compacted meanwhile', () => {
    const versions = new Versions()
    write(versions, '/a', 'x')
    write(versions, '/a')
    const pending = [
      versions.apply({ key: '/a', value: bytes('new') }, 4),
      versions.apply({ key: '/a', value: bytes('newer') }, 5),
    ]
    versions.compact(3)
    while (versions.clean(10)) {
      /* all of it */
    }
    for (const made of pending.reverse()) versions.undo(made)
    expect([versions.size, versions.newest('/a'), versions.conflict([{ key: '/a', expect: 0 }])]).toEqual([
      0,
      undefined,
      undefined,
    ])
  })
})

describe('Versions.apply', () => {
  test('keeps the creation revision of a key until it is deleted', () => {
    const versions = new Versions()
    const created = [
      write(versions, '/a', '1'),
      write(versions, '/a', '2'),
      write(versions, '/a'),
      write(versions, '/a', '3'),
    ].map((version) => version.created)
    expect(created).toEqual([2, 2, 2, 5])
  })

  test('stamps the revision into the value', () => {
    const versions = new Versions()
    versions.publish([versions.apply({ key: '/a', value: bytes('<>'), stampAt: 1 }, 12)], 12)
    expect(textOf(versions.get('/a', 12)?.value)).toBe('<12>')
  })
})

describe('Versions.conflict', () => {
  test('names the first condition that does not hold; a tombstone is absent', () => {
    const versions = new Versions()
    const there = write(versions, '/there', 'x')
    write(versions, '/gone', 'x')
    const tombstone = write(versions, '/gone')
    const holding = [
      { key: '/there', expect: there.revision },
      { key: '/gone', expect: 0 },
      { key: '/never', expect: 0 },
    ]
    expect(versions.conflict(holding)).toBe(undefined)
    expect(versions.conflict([...holding, { key: '/there', expect: 0 }, { key: '/never', expect: 1 }])).toEqual({
      key: '/there',
      version: there,
    })
    expect(versions.conflict([{ key: '/gone', expect: tombstone.revision }])).toEqual({
      key: '/gone',
      version: tombstone,
    })
    expect(versions.conflict([{ key: '/never', expect: 1 }])).toEqual({ key: '/never', version: undefined })
  })
})

describe('Versions.scan', () => {
  test('can be taken in steps of any length, and sees one revision all the time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (visitMax) => {
        const versions = new Versions()
        for (const key of ['/a', '/b', '/c', '/d', '/e']) write(versions, key, key)
        write(versions, '/b')
        const { published: revision } = versions
        const found: string[] = []
        for (let from: string | undefined = ''; from !== undefined;) {
          const step = scanAll(versions, { prefix: '/', revision, from, visitMax })
          found.push(...step.keys)
          from = step.next
          write(versions, `/a${versions.published}`, 'new')
          write(versions, '/e')
          write(versions, '/e', 'again')
        }
        expect(found).toEqual(['/a', '/c', '/d', '/e'])
      }),
    )
  })

  test('stays below its prefix', () => {
    const versions = new Versions()
    for (const key of ['/a', '/a/1', '/a/2', '/a0', '/b']) write(versions, key, key)
    expect(scanAll(versions, { prefix: '/a/' }).keys).toEqual(['/a/1', '/a/2'])
    expect(scanAll(versions, { prefix: '/a/', from: '/a/1\u0000' }).keys).toEqual(['/a/2'])
    expect(scanAll(versions, { prefix: '/a/', from: '/' }).keys).toEqual(['/a/1', '/a/2'])
    expect(scanAll(versions, { prefix: '/a/', from: '/b' }).keys).toEqual([])
  })
})

describe('Versions.clean', () => {
  test('frees exactly the versions that the boundary has passed, in small steps', () => {
    const versions = new Versions()
    for (let round = 0; round < 10; round++) write(versions, '/a', String(round))
    write(versions, '/b', 'x')
    write(versions, '/b')
    versions.compact(6)
    expect(versions.clean(3)).toBe(true)
    expect(versions.history.length).toBe(9)
    expect(versions.clean(100)).toBe(false)
    expect(versions.history.length).toBe(7)
    for (let revision = 6; revision <= 11; revision++)
      expect(textOf(versions.get('/a', revision)?.value)).toBe(String(revision - 2))
    expect(versions.size).toBe(2)
    versions.compact(13)
    versions.clean(100)
    expect([versions.size, versions.history.length, textOf(versions.get('/a', 13)?.value)]).toEqual([1, 0, '9'])
  })

  test('keeps a key that was deleted and created again', () => {
    const versions = new Versions()
    for (const value of ['x', undefined, 'y']) write(versions, '/a', value)
    versions.compact(3)
    versions.clean(100)
    expect([versions.get('/a', 3), textOf(versions.get('/a', 4)?.value), versions.size]).toEqual([undefined, 'y', 1])
  })

  test('keeps the versions of a pin until it is released', () => {
    const versions = new Versions()
    write(versions, '/a', 'pinned')
    const pin = versions.pin()
    write(versions, '/a', 'newer')
    write(versions, '/a')
    versions.compact(4)
    versions.clean(100)
    expect([pin.revision, textOf(versions.get('/a', pin.revision)?.value)]).toEqual([2, 'pinned'])
    pin.release()
    versions.clean(100)
    expect([versions.size, versions.history.length]).toEqual([0, 0])
  })

  test('of a store that is written all the time keeps memory within bounds', () => {
    const versions = new Versions()
    for (let round = 0; round < 4_000; round++) {
      write(versions, `/${round % 10}`, 'x'.repeat(5_000))
      versions.compact(versions.published)
      versions.clean(64)
    }
    expect(versions.allocatedBytes).toBeLessThan(8 * 1024 * 1024)
    expect([versions.size, versions.history.length]).toEqual([10, 0])
  })
})

describe('Versions.compact', () => {
  test('moves the boundary forward only, and not beyond the published revision', () => {
    const versions = new Versions()
    for (let round = 0; round < 5; round++) write(versions, '/a', 'x')
    versions.compact(4)
    versions.compact(2)
    expect(versions.compacted).toBe(4)
    expect(() => {
      versions.compact(7)
    }).toThrow(AssertionError)
  })

  test('publish never goes back', () => {
    const versions = new Versions()
    versions.publish([], 10)
    expect(() => {
      versions.publish([], 9)
    }).toThrow(AssertionError)
  })
})

test('Versions.load leaves values in their buffer, and unpacks keys on access', () => {
  const versions = new Versions()
  const slab = versions.adopt(Buffer.from('onetwo'))
  let unpacked = 0
  const unpack = (): Version[] => {
    unpacked++
    return (
      [
        ['/1', 0, 3],
        ['/2', 3, 3],
        ['/3', 6, 0],
      ] as const
    ).map(([key, offset, length]) => {
      const version = new Version(key, 7, { created: 5, lease: undefined })
      version.offset = offset
      version.length = length
      if (length > 0) version.slab = slab
      return version
    })
  }
  expect(versions.load({ first: '/1', last: '/3', count: 3, unpack }, slab, 6)).toBe(true)
  expect(versions.load({ first: '/3', last: '/4', count: 2, unpack }, slab, 6), 'keys must rise').toBe(false)
  versions.publish([], 7)
  expect([unpacked, versions.size, versions.liveBytes]).toEqual([0, 3, 6])
  expect(['/1', '/2', '/3'].map((key) => textOf(versions.get(key, 7)?.value))).toEqual(['one', 'two', ''])
  expect(versions.get('/2', 7)).toMatchObject({ revision: 7, created: 5 })
  expect(unpacked).toBe(1)
})

test('evacuating a slab with packed blocks keeps all their values', () => {
  const versions = new Versions()
  const blockBytes = 1024 * 1024
  const blocks = Array.from({ length: 12 }, (_, number) => `/${String(number).padStart(2, '0')}`)
  for (const first of blocks) {
    const slab = versions.adopt(Buffer.alloc(blockBytes, first))
    const unpack = (): Version[] =>
      [0, 1].map((part) => {
        const version = new Version(`${first}/${part}`, 7, { created: 7, lease: undefined })
        version.offset = (part * blockBytes) / 2
        version.length = blockBytes / 2
        version.slab = slab
        slab.versions.push(version)
        return version
      })
    versions.load({ first: `${first}/0`, last: `${first}/1`, count: 2, unpack }, slab, blockBytes)
  }
  versions.publish([], 7)
  const gone = blocks.map((first, index) => versions.apply({ key: `${first}/0` }, 8 + index))
  versions.publish(gone, 8 + blocks.length)
  versions.compact(8 + blocks.length)
  while (versions.clean(64)) {
    /* until nothing is left to free */
  }
  expect(versions.allocatedBytes).toBeLessThan(blocks.length * blockBytes)
  for (const first of blocks) {
    const value = versions.get(`${first}/1`, versions.published)?.value
    expect(value?.length).toBe(blockBytes / 2)
    expect(value && Buffer.from(value).equals(Buffer.alloc(blockBytes, first).subarray(blockBytes / 2))).toBe(true)
  }
})

test('the worked example in the header of versions.ts holds', () => {
  const versions = new Versions()
  for (const [revision, value] of [
    [2, 'two'],
    [4, 'four'],
    [6, undefined],
    [8, 'eight'],
  ] as const) {
    const made = versions.apply({ key: 'a', ...(value !== undefined && { value: bytes(value) }) }, revision)
    versions.publish([made], revision)
  }
  const read = (revision: number): string | undefined => textOf(versions.get('a', revision)?.value)
  const chain = (): string[] => {
    const found: string[] = []
    for (let version = versions.newest('a'); version; version = version.older)
      found.push(`${version.revision}${version.deleted ? '†' : ''}`)
    return found
  }
  const compact = (revision: number): void => {
    versions.compact(revision)
    while (versions.clean(64));
  }
  expect(chain()).toEqual(['8', '6†', '4', '2'])
  expect([1, 3, 5, 7, 8].map(read)).toEqual([undefined, 'two', 'four', undefined, 'eight'])
  expect([versions.get('a', 4)?.created, versions.get('a', 8)?.created]).toEqual([2, 8])
  compact(5)
  expect([chain(), versions.history.length, read(5)]).toEqual([['8', '6†', '4'], 2, 'four'])
  compact(6)
  expect([chain(), versions.history.length, read(6)]).toEqual([['8', '6†'], 1, undefined])
  compact(8)
  expect([chain(), versions.history.length, read(8)]).toEqual([['8'], 0, 'eight'])
})
