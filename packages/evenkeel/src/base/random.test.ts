import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomFraction, randomInt, randomUuid, SeededRandom, SystemRandom } from './random.ts'
import type { Random } from './random.ts'

const scripted = (...numbers: number[]): Random => ({ uint32: () => numbers.shift() ?? 0 })

describe('SeededRandom', () => {
  test.each([
    [0, [2092708241, 2112333208, 775673669, 3171760875]],
    [1, [4075597018, 3633560547, 1652717741, 2957211431]],
    ['evenkeel', [768948571, 142603765, 3515060810, 2971048912]],
    ['', [2779018736, 1829361934, 682718877, 2000586364]],
  ])('gives for the seed %j the numbers it always gave', (seed, numbers) => {
    const random = new SeededRandom(seed)
    expect(numbers.map(() => random.uint32())).toEqual(numbers)
  })

  test('derived values never change between releases', () => {
    const random = new SeededRandom('golden')
    expect([randomUuid(random), randomInt(random, 6), randomInt(random, 1000), randomFraction(random)]).toEqual([
      'c26ca325-76ee-4e94-85f3-7560087ab03b',
      4,
      76,
      0.3200003112958175,
    ])
  })

  test('returns the same numbers for the same seed, and others for similar seeds', () => {
    const first = (seed: number | string): string =>
      Array.from(
        { length: 4 },
        (
          (random) => () =>
            random.uint32()
        )(new SeededRandom(seed)),
      ).join()
    const seeds = Array.from({ length: 500 }, (_, index) => index)
    expect(new Set(seeds.map(first)).size).toBe(500)
    expect(first(7)).toBe(first('7'))
  })

  test('sets each of its 32 bits about half of the time', () => {
    const random = new SeededRandom('bits')
    const counts = new Array<number>(32).fill(0)
    for (let draw = 0; draw < 20_000; draw++) {
      const drawn = random.uint32()
      for (let bit = 0; bit < 32; bit++) counts[bit] = (counts[bit] ?? 0) + ((drawn >>> bit) & 1)
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })
})

test('SystemRandom gives 32 bits, and does not repeat itself', () => {
  const [one, two] = [new SystemRandom(), new SystemRandom()]
  const drawn = Array.from({ length: 1_000 }, () => [one.uint32(), two.uint32()]).flat()
  expect(drawn.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 32)).toBe(true)
  expect(new Set(drawn).size).toBeGreaterThan(1_990)
})

describe('randomInt', () => {
  test('gives whole numbers below the bound, whatever is drawn', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }), (below, drawn) => {
        const number = randomInt(scripted(drawn, 0), below)
        expect(Number.isInteger(number) && number >= 0 && number < below).toBe(true)
      }),
    )
  })

  test('gives each number about as often', () => {
    const random = new SeededRandom('dice')
    const counts = new Array<number>(7).fill(0)
    for (let draw = 0; draw < 70_000; draw++) {
      const drawn = randomInt(random, 7)
      counts[drawn] = (counts[drawn] ?? 0) + 1
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })

  test('redraws values that would bias the result', () => {
    const below = 3 * 2 ** 30
    expect(randomInt(scripted(2 ** 32 - 1, below, 5), below)).toBe(5)
    expect(randomInt(scripted(below - 1), below)).toBe(below - 1)
    expect(randomInt(scripted(2 ** 32 - 1), 2 ** 32)).toBe(2 ** 32 - 1)
  })

  test.each([0, -1, 1.5, NaN, 2 ** 32 + 1, Infinity])('refuses the bound %d', (below) => {
    expect(() => randomInt(scripted(), below)).toThrow(RangeError)
  })
})

test('randomFraction reaches from 0 to just below 1', () => {
  expect(randomFraction(scripted(0, 0))).toBe(0)
  expect(randomFraction(scripted(2 ** 32 - 1, 2 ** 32 - 1))).toBe(1 - 2 ** -53)
  expect(randomFraction(scripted(2 ** 31, 0))).toBe(0.5)
})

test('randomUuid has the shape of a random UUID, whatever is drawn', () => {
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 4, maxLength: 4 }), (numbers) => {
      expect(randomUuid(scripted(...numbers))).toMatch(shape)
    }),
  )
  const random = new SeededRandom(1)
  expect(new Set(Array.from({ length: 1_000 }, () => randomUuid(random))).size).toBe(1_000)
})
