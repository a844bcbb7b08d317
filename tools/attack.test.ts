import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SeededRandom } from 'evenkeel/unstable/base'
import { bounds, growthOf, judge, severityOf, smallerOf, type Cost } from './attack/bounds.ts'
import { frame, preface } from './attack/frames.ts'
import { Meter, type Row } from './attack/meter.ts'
import { mutate } from './attack/mutations.ts'
import { search, shapeOfRecipe, worstOfEach } from './attack/search.ts'
import { bodyBytesMax, bytesOf, entries, isDocumentShape, isYaml, type Shape } from './attack/shape.ts'
import { shapes } from './attack/shapes.ts'

/** The attacks that once stopped the server, each by the shape that finds it. */
const knownAttacks = [
  'http2 tiny frames without credentials',
  'http1 chunks of one byte',
  'owner references',
  'watch that is not read, large writes',
  'http1 slow bodies without credentials',
  'defaults in a list',
  'yaml colons',
  'yaml documents',
  'bad labels',
  'finalizers',
  'labels',
  'yaml keys',
  'yaml merge keys',
  'yaml comments',
  'unknown fields, strict',
  'unknown fields, warnings',
  'table of a deep tree',
  'brackets',
  'pattern on a long text',
  'http2 rapid reset',
]

function cost(cpuMs: number, more: Partial<Cost> = {}): Cost {
  return { bytes: 1_000_000, cpuMs, peakMb: 1, stallMs: cpuMs, ...more }
}

describe('the catalogue', () => {
  test('has every known attack by name, and no name twice', () => {
    const names = shapes.map(({ name }) => name)
    expect(knownAttacks.filter((name) => !names.includes(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  test('has shapes and bounds for every entry point', () => {
    expect(Object.keys(bounds)).toEqual([...entries])
    expect(entries.filter((entry) => !shapes.some((shape) => shape.entry === entry))).toEqual([])
  })

  test('sends no body above the limit of the server, and the same one for the same seed', () => {
    for (const shape of shapes.filter(isDocumentShape)) {
      const size = bytesOf(shape.make(shape.n, new SeededRandom(1)))
      expect([shape.name, size <= bodyBytesMax]).toEqual([shape.name, true])
      expect(shape.make(20, new SeededRandom(2))).toEqual(shape.make(20, new SeededRandom(2)))
    }
  })
})

describe('the judge', () => {
  const limits = { cpuMs: 500, msPerKb: 2, peakMb: 200, stallMs: 400, growth: 3 }

  test('names every bound that is exceeded', () => {
    expect(judge({ half: cost(100), full: cost(200) }, limits)).toEqual([])
    expect(judge({ half: cost(700), full: cost(1_400, { bytes: 1_000 * 100, peakMb: 300 }) }, limits)).toEqual([
      '1400 ms of processor time, the bound is 500',
      '14 ms per kB, the bound is 2',
      '300 MB above the idle server, the bound is 200',
      '1400 ms of stall, the bound is 400',
    ])
  })

  test('says how near a cost is to a bound, whichever it is', () => {
    const near = (more: Partial<Cost>) => severityOf({ half: undefined, full: cost(50, more) }, limits)
    expect(near({})).toBeCloseTo(50 / 400)
    expect(near({ peakMb: 150 })).toBeCloseTo(0.75)
    expect(severityOf({ half: cost(100), full: cost(300) }, limits)).toBeCloseTo(1)
  })

  test('finds quadratic growth, and no growth in small times', () => {
    expect(judge({ half: cost(80), full: cost(320) }, limits)).toEqual(['4 times the cost of the half, the bound is 3'])
    expect(growthOf(cost(2), cost(20))).toBeUndefined()
    expect(growthOf(cost(10), cost(115))).toBe(2)
    expect(growthOf(undefined, cost(450))).toBeUndefined()
  })

  test('counts a stall only as far as the processor was used', () => {
    expect(judge({ half: cost(10), full: cost(20, { stallMs: 3_000 }) }, limits)).toEqual([])
  })

  test('takes the smaller of two measurements', () => {
    expect(smallerOf(cost(5, { peakMb: 9 }), cost(7, { peakMb: 3 }))).toEqual(cost(5, { peakMb: 3 }))
  })

  test('finds a quadratic server and accepts a linear one', async () => {
    expect(await growthOfServer((text) => pairs(text))).toBeGreaterThan(3)
    expect(await growthOfServer((text) => repeated(text))).toBeLessThan(3)
  })
})

/** How the processor time of a server grows with the length of a body; the best of three, because chance only adds. */
async function growthOfServer(work: (text: string) => number): Promise<number | undefined> {
  const spent: number[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      const before = process.cpuUsage()
      const result = work(text)
      const { user, system } = process.cpuUsage(before)
      spent.push((user + system) / 1000)
      response.end(String(result))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const least = async (n: number): Promise<Cost> => {
    spent.length = 0
    for (let time = 0; time < 3; time++)
      await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a'.repeat(n) })).text()
    return cost(Math.min(...spent))
  }
  try {
    await least(1_000)
    return growthOf(await least(8_000), await least(16_000))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Every pair of letters. */
function pairs(text: string): number {
  let equal = 0
  for (let one = 0; one < text.length; one++)
    for (let other = 0; other < text.length; other++) if (text.charCodeAt(one) === text.charCodeAt(other)) equal++
  return equal
}

/** Every letter, often. */
function repeated(text: string): number {
  let sum = 0
  for (let time = 0; time < 8_000; time++)
    for (let one = 0; one < text.length; one++) sum = (sum + text.charCodeAt(one)) | 0
  return sum
}

describe('changes', () => {
  const request = { method: 'POST', path: '/a', body: JSON.stringify({ kind: 'A', spec: { list: [1, 2], text: 'b' } }) }

  test('depend on the seed alone', () => {
    const seeds = Array.from({ length: 60 }, (_, index) => `s${index}`)
    const change = (seed: string) => mutate(request, seed, [() => ({ ...request, body: '{"other":1}' })])
    expect(seeds.map(change)).toEqual(seeds.map(change))
    expect(new Set(seeds.map((seed) => JSON.stringify(change(seed)))).size).toBeGreaterThan(20)
  })

  test('are made again by the name of a recipe', () => {
    const [one, other] = [shapeOfRecipe('bad labels~50~a~b'), shapeOfRecipe('bad labels~50~a~b')]
    expect(one?.make(50, new SeededRandom(1))).toEqual(other?.make(50, new SeededRandom(2)))
    expect([shapeOfRecipe('bad labels'), shapeOfRecipe('no such shape~5~a')]).toEqual([undefined, undefined])
  })
})

test('an apply whose body is no JSON counts as YAML', () => {
  const type = 'application/apply-patch+yaml'
  expect(['{"a":1}', 'a: 1', '{"a":1,}'].map((body) => isYaml({ method: 'PATCH', path: '/', type, body }))).toEqual([
    false,
    true,
    true,
  ])
  expect(isYaml({ method: 'POST', path: '/', body: 'a: 1' })).toBe(false)
})

test('frames have the form of HTTP/2', () => {
  expect([...frame('data', Buffer.from('a'), { flags: 1, stream: 3 })]).toEqual([0, 0, 1, 0, 1, 0, 0, 0, 3, 97])
  expect(
    preface([[4, 0]])
      .subarray(24)
      .toString('hex'),
  ).toBe('000006040000000000000400000000')
})

describe('the search', () => {
  /** A server whose cost of a shape is what `failuresOf` and `severityOf` say. */
  function fakeMeter(judged: (tried: number) => Pick<Row, 'severity' | 'failures'>) {
    let tried = 0
    return {
      row: ({ entry, name, n }: Pick<Shape, 'entry' | 'name' | 'n'>): Promise<Row> =>
        Promise.resolve({ ...measured, ...judged(++tried), entry, shape: name, n }),
    }
  }
  const measured: Row = {
    entry: 'json',
    shape: 'bad labels',
    n: 50,
    bytes: 100,
    status: '422',
    cpuMs: 90,
    msPerKb: 1,
    growth: undefined,
    peakMb: 10,
    stallMs: 9,
    politeMs: 9,
    severity: 0.5,
    failures: [],
  }
  const triesOf = (most: number) => {
    let tries = 0
    return { seed: '1', isOver: () => tries >= most, onTried: () => void tries++ }
  }

  test('returns everything above a bound, also what costs less than the worst', async () => {
    const meter = fakeMeter((tried) => ({
      severity: tried === 1 ? 3 : 1.2,
      failures: tried < 5 ? ['a stall'] : [],
    }))
    const found = await search(meter, [measured], triesOf(8))
    expect(found.filter(({ failures }) => failures.length > 0)).toHaveLength(4)
  })

  test('returns the worst within the bounds when it is worse than the catalogue', async () => {
    const found = await search(
      fakeMeter((tried) => ({ severity: tried / 10, failures: [] })),
      [measured],
      triesOf(8),
    )
    expect(found.map(({ severity }) => severity)).toContain(0.8)
    expect(
      await search(
        fakeMeter(() => ({ severity: 0.4, failures: [] })),
        [measured],
        triesOf(8),
      ),
    ).toEqual([])
    expect([...worstOfEach([measured, ...found]).values()].every(({ severity }) => severity >= 0.5)).toBe(true)
  })
})

describe('the known attacks', () => {
  let meter: Meter
  beforeAll(async () => {
    meter = await Meter.start()
  })
  afterAll(async () => {
    await meter.stop()
  })

  // At the size of the catalogue: at a small size most would stay within the bounds without their defence, too.
  test.each(knownAttacks)('%s stay within their bounds', async (name) => {
    const shape = shapes.find((one) => one.name === name)
    if (!shape) throw new Error(`${name} is not in the catalogue`)
    const row = await meter.row(shape, { seed: '1' })
    expect(row.failures).toEqual([])
    expect(row.bytes).toBeGreaterThan(0)
  })

  test.each([
    ['owner references', 200, '201'],
    ['yaml keys', 200, '422 yaml'],
    ['apply data', 200, '201'],
    ['selector of keys', 100, '200'],
    ['table of a deep tree', 20, '200'],
  ])('%s of a small size are answered', async (name, n, status) => {
    const shape = shapes.find((one) => one.name === name)
    if (!shape) throw new Error(`${name} is not in the catalogue`)
    const row = await meter.row(shape, { seed: '1', n })
    expect(row).toMatchObject({ entry: shape.entry, shape: name, n, status, failures: [] })
  })
})
