import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Slabs, Version } from './version.ts'

const mebibyte = 1024 * 1024
/** How large the first slab is. */
const firstBytes = mebibyte / 16
const version = (): Version => new Version('/a', 1, { created: 1, lease: undefined })
const filled = (length: number, seed: number): Uint8Array => new Uint8Array(length).fill(seed % 256)

function place(slabs: Slabs, value: Uint8Array): Version {
  const made = version()
  slabs.store(made, value)
  return made
}

describe('Slabs.place', () => {
  test('copies the bytes, so that the writer may use its buffer again', () => {
    const [slabs, value] = [new Slabs(), filled(10, 1)]
    const made = place(slabs, value)
    value.fill(9)
    expect([...made.value]).toEqual(new Array(10).fill(1))
    expect([slabs.liveBytes, slabs.allocatedBytes]).toEqual([10, firstBytes])
  })

  test('inserts a stamp at the given offset', () => {
    const slabs = new Slabs()
    const stamped = [0, 2, 4].map((stampAt) => {
      const made = version()
      slabs.store(made, Buffer.from('abcd'), { stampAt, stamp: '123' })
      return Buffer.from(made.value).toString()
    })
    expect(stamped).toEqual(['123abcd', 'ab123cd', 'abcd123'])
    expect(slabs.liveBytes).toBe(21)
  })

  test('gives a large value a buffer of its own, which is dropped with it', () => {
    const slabs = new Slabs()
    const small = place(slabs, filled(10, 1))
    const large = place(slabs, filled(3 * mebibyte, 2))
    expect(slabs.allocatedBytes).toBe(firstBytes + 3 * mebibyte)
    slabs.release(large)
    expect([slabs.allocatedBytes, slabs.liveBytes, small.value.length]).toEqual([firstBytes, 10, 10])
  })

  test('keeps an empty value as one, for nothing', () => {
    const slabs = new Slabs()
    const made = place(slabs, new Uint8Array(0))
    expect([made.deleted, made.value.length, slabs.liveBytes]).toEqual([false, 0, 0])
    slabs.release(made)
    expect(slabs.allocatedBytes).toBeGreaterThanOrEqual(0)
  })
})

describe('Slabs.release', () => {
  test('drops a slab without live bytes, except the current one', () => {
    const slabs = new Slabs()
    const first = Array.from({ length: 8 }, (_, index) => place(slabs, filled(mebibyte / 8, index)))
    const second = place(slabs, filled(100, 1))
    expect(slabs.allocatedBytes).toBe(2 * mebibyte)
    for (const made of first) slabs.release(made)
    expect(slabs.allocatedBytes).toBe(mebibyte)
    slabs.release(second)
    expect([slabs.allocatedBytes, slabs.liveBytes]).toEqual([mebibyte, 0])
  })

  test('counts every slab once, however many empty values lay in it', () => {
    const slabs = new Slabs()
    const made = Array.from({ length: 40 }, (_, index) =>
      place(slabs, filled(index % 2 === 0 ? 0 : mebibyte / 8, index)),
    )
    for (const one of [...made].reverse()) slabs.release(one)
    for (const one of made) slabs.release(one)
    expect(slabs.liveBytes).toBe(0)
    expect([0, mebibyte]).toContain(slabs.allocatedBytes)
  })

  test('of empty values that come and go leaves nothing behind', () => {
    const slabs = new Slabs()
    place(slabs, filled(1, 1))
    const slab = slabs.adopt(Buffer.alloc(10))
    for (let round = 0; round < 1_000; round++) {
      const made = version()
      made.length = 0
      slabs.attach(made, slab)
      slabs.release(made)
    }
    expect([slab.versions.length, slabs.liveBytes, slabs.allocatedBytes]).toEqual([0, 1, firstBytes + 10])
  })
})

describe('Slabs.tidy', () => {
  test('evacuates slabs with mostly dead bytes, keeps all values and bounds the memory', () => {
    const slabs = new Slabs()
    const kept: { made: Version; value: Uint8Array }[] = []
    for (let index = 0; index < 3_000; index++) {
      const value = filled(10_000, index)
      const made = place(slabs, value)
      if (index % 10 === 0) kept.push({ made, value })
      else slabs.release(made)
    }
    while (slabs.tidy()) {
      /* until it is tidy */
    }
    for (const { made, value } of kept) expect(Buffer.from(made.value).equals(value)).toBe(true)
    expect(slabs.liveBytes).toBe(kept.length * 10_000)
    expect(slabs.allocatedBytes).toBeLessThan(slabs.liveBytes * 1.5 + 6 * mebibyte)
    expect(slabs.allocatedBytes, 'live values lie in slabs that count').toBeGreaterThanOrEqual(slabs.liveBytes)
  })

  test('leaves views that readers hold as they were', () => {
    const slabs = new Slabs()
    const made = Array.from({ length: 2_000 }, (_, index) => place(slabs, filled(5_000, index)))
    const held = made
      .filter((_, index) => index % 50 === 0)
      .map((one, index) => ({ view: one.value, seed: index * 50 }))
    for (const [index, one] of made.entries()) if (index % 50 !== 0) slabs.release(one)
    let emptied = 0
    while (slabs.tidy()) emptied++
    expect(emptied).toBeGreaterThan(0)
    for (let index = 0; index < 500; index++) place(slabs, filled(5_000, 255))
    for (const { view, seed } of held) expect(Buffer.from(view).equals(filled(5_000, seed))).toBe(true)
  })

  test('does nothing while little is dead', () => {
    const slabs = new Slabs()
    const made = Array.from({ length: 300 }, (_, index) => place(slabs, filled(100_000, index)))
    for (const one of made.slice(0, 20)) slabs.release(one)
    expect(slabs.tidy()).toBe(false)
  })

  test('unpacks the blocks of a slab before it drops the slab', () => {
    const [one, unpacked] = [version(), [] as string[]]
    const slabs: Slabs = new Slabs((key) => {
      unpacked.push(key)
      Object.assign(one, { slab, offset: 100, length: 10 })
      slab.versions.push(one)
    })
    const slab = slabs.adopt(Buffer.alloc(8 * mebibyte, 5))
    slabs.attachPacked(slab, { key: '/a', bytes: 10 })
    expect(slabs.tidy()).toBe(true)
    expect(unpacked).toEqual(['/a'])
    expect([...one.value]).toEqual(new Array(10).fill(5))
    expect([slabs.liveBytes, slabs.allocatedBytes]).toEqual([10, firstBytes])
  })

  test('copes with values that were adopted', () => {
    const slabs = new Slabs()
    const bytes = Buffer.from(Uint8Array.from({ length: 8 * mebibyte }, (_, index) => index % 251))
    const slab = slabs.adopt(bytes)
    const made = Array.from({ length: 800 }, (_, index) => {
      const one = version()
      one.offset = index * 10_000
      one.length = 10_000
      slabs.attach(one, slab)
      return one
    })
    for (const [index, one] of made.entries()) if (index % 20 !== 0) slabs.release(one)
    while (slabs.tidy()) {
      /* until it is tidy */
    }
    expect(slabs.allocatedBytes).toBeLessThan(2 * mebibyte)
    for (const [index, one] of made.entries()) {
      if (index % 20 === 0)
        expect(Buffer.from(one.value).equals(bytes.subarray(index * 10_000, index * 10_000 + 10_000))).toBe(true)
    }
  })
})

const step = fc.record({
  length: fc.constantFrom(0, 0, 1, 100, 60_000, 262_144, 262_145, 400_000),
  drop: fc.nat(),
  isTidy: fc.boolean(),
})

test('Slabs keep the bytes of all live versions over any sequence of stores and releases', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const slabs = new Slabs()
      let living: { made: Version; length: number; seed: number }[] = []
      for (const [index, { length, drop, isTidy }] of steps.entries()) {
        living.push({ made: place(slabs, filled(length, index)), length, seed: index })
        if (drop % 3 > 0) {
          const gone = living[drop % living.length]
          if (gone) slabs.release(gone.made)
          living = living.filter((one) => one !== gone)
        }
        if (isTidy) slabs.tidy()
        const live = living.reduce((sum, one) => sum + one.length, 0)
        expect(slabs.liveBytes).toBe(live)
        expect(slabs.allocatedBytes).toBeGreaterThanOrEqual(live)
      }
      for (const { made, length, seed } of living)
        expect(Buffer.from(made.value).equals(filled(length, seed))).toBe(true)
      for (const { made } of living) slabs.release(made)
      expect(slabs.liveBytes).toBe(0)
      expect(slabs.allocatedBytes).toBeLessThanOrEqual(mebibyte)
    }),
    { numRuns: 40 },
  )
})
