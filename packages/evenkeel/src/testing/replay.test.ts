import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leaking, scenario } from './boxes.fixture.ts'
import { explore } from './explore.ts'
import { replay, replayFile, replayFileOf, type ReplayFile, type ReplayStep } from './replay.ts'

const made: { file?: ReplayFile; folder?: string } = {}
beforeAll(async () => {
  made.folder = await mkdtemp(join(tmpdir(), 'replay-'))
  const explored = await explore({
    controllers: leaking,
    scenario,
    until: ({ rule }) => rule === 'cleanup',
    stories: 1,
  })
  const [failure] = explored.failures
  const file = failure && replayFileOf(failure, explored)
  if (file) made.file = file
})
afterAll(async () => {
  await rm(made.folder ?? '', { recursive: true, force: true })
})

function file(): ReplayFile {
  if (!made.file) throw new Error('expected a failure with a replay file')
  return made.file
}

describe('replay', () => {
  test('step by step gives the same trace, and marks the faults and where the rule is broken', async () => {
    const steps: ReplayStep[] = []
    const replayed = await replay(file(), {
      controllers: leaking,
      scenario,
      onStep: async (step) => {
        await Promise.resolve(steps.push(step))
      },
    })
    expect(replayed).toMatchObject({ isFound: true, isSame: true })
    expect(steps.filter(({ isBroken }) => isBroken)).toHaveLength(1)
    expect(steps.filter(({ isAction, actor }) => isAction && actor === 'user').map(({ what }) => what)).toContain(
      'creates Box a',
    )
    expect(steps.map(({ step }) => step)).toEqual(steps.map(({ step }) => step).sort((a, b) => a - b))
  })

  test('can be ended between two steps', async () => {
    const ending = new AbortController()
    const steps: ReplayStep[] = []
    const running = replay(file(), {
      controllers: leaking,
      scenario,
      signal: ending.signal,
      onStep: (step) => {
        if (steps.push(step) === 5) ending.abort(new Error('enough'))
      },
    })
    await expect(running).rejects.toThrow('enough')
    expect(steps.length).toBeLessThan(8)
  })
})

describe('replayFile', () => {
  test('explains a missing file, and a file without a module', async () => {
    await expect(replayFile(join(made.folder ?? '', 'none.json'))).rejects.toThrow(/cannot read replay file/)
    const path = join(made.folder ?? '', 'file.json')
    await writeFile(path, JSON.stringify(file()))
    await expect(replayFile(path)).rejects.toThrow(/names no module/)
  })
})
