import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leaking, scenario } from './boxes.fixture.ts'
import { exploreModule } from './explore-module.ts'
import { explore, type Explored } from './explore.ts'
import { writeReplayFiles, type Replayed } from './replay.ts'

const [runner = '', program = '', boxes = ''] = [
  '../../../../tools/run.mjs',
  './other-process.fixture.ts',
  './boxes.fixture.ts',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))

/** Runs the program of the fixture in another process. */
async function elsewhere<T>(...parameters: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [runner, program, ...parameters], { maxBuffer: 1e8 })
  return JSON.parse(stdout) as T
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replays-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe('several processes', () => {
  test('find the same failures as one process, in the same order', { timeout: 300_000 }, async () => {
    const [one, two] = [
      await elsewhere<Explored>('explore', `${boxes}#leaking`, '1', '2'),
      await elsewhere<Explored>('explore', `${boxes}#leaking`, '2', '2'),
    ]
    expect([one.cores, two.cores, two.whyOneCore]).toEqual([1, 2, undefined])
    expect(one.failures.length).toBeGreaterThan(0)
    expect({ ...two, cores: 1 }).toEqual(one)
  })

  test('are not used for functions, and the result says why', async () => {
    const explored = await explore({ controllers: leaking, scenario, tier: 1, schedulesMax: 1, cores: 2, stories: 0 })
    expect([explored.cores, explored.whyOneCore]).toEqual([
      1,
      'functions cannot be sent to worker processes: pass `module`',
    ])
  })
})

describe('exploreModule', () => {
  test('explains a missing module, a missing export, and a module without a scenario', async () => {
    await expect(exploreModule(`${boxes}x`)).rejects.toThrow(/^module .*boxes\.fixture\.tsx does not exist$/)
    await expect(exploreModule(`${boxes}#nobody`)).rejects.toThrow(/ has no export nobody; its exports are: /)
    await expect(exploreModule(`${boxes}#scenario`)).rejects.toThrow(
      / has no scenario to explore: export controllers and scenario/,
    )
  })
})

describe('a replay file', () => {
  test('from this process reproduces in another one, by the module that it names', { timeout: 120_000 }, async () => {
    const explored = await explore({ controllers: leaking, scenario, until: ({ rule }) => rule === 'cleanup' })
    const [path] = await writeReplayFiles(explored, { directory: folder, module: `${boxes}#leaking` })
    if (path === undefined) throw new Error('expected a replay file of the first failure')
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      format: 2,
      scenario: 'boxes',
      expected: { rule: explored.failures[0]?.rule },
      module: expect.stringMatching(/boxes\.fixture\.ts#leaking$/) as string,
    })
    const { isFound, isSame, hash } = await elsewhere<Replayed>('replay', path)
    expect({ isFound, isSame, hash }).toEqual({ isFound: true, isSame: true, hash: explored.failures[0]?.hash })
  })
})
