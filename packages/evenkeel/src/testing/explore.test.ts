import { describe, expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { explore, type Explored } from './explore.ts'
import { replay } from './replay.ts'
import { formatReport } from './report/text.ts'
import type { ProcessContext, UserStep } from './scenario.ts'

const Box = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Box',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { stored: { type: 'string' } } },
})
type BoxController = ControllerDeclaration<typeof Box>

/** A shelf in the world outside. */
class Shelf {
  readonly places = new Map<string, number>()
  #last = 0

  put(name: string, size: number): void {
    this.places.set(name, size)
  }

  putAnywhere(size: number): string {
    const place = `place-${++this.#last}`
    this.places.set(place, size)
    return place
  }

  clear(name: string): void {
    this.places.delete(name)
  }
}

interface Outside {
  readonly shelf: {
    put(name: string, size: number): Promise<void>
    putAnywhere(size: number): Promise<string>
    clear(name: string): Promise<void>
  }
}

const place = { name: 'a', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Box a', run: (user) => user.create(Box, { metadata: place, spec: { size: 1 } }) },
  { name: 'makes Box a bigger', run: async (user) => user.patch(await user.get(Box, place), { spec: { size: 2 } }) },
  { name: 'deletes Box a', run: async (user) => user.delete(await user.get(Box, place)) },
]

type Making = (process: ProcessContext<Outside>) => Pick<BoxController, 'reconcile' | 'cleanup'>

function subject(make: Making): {
  controllers: (process: ProcessContext<Outside>) => ControllerDeclaration[]
  scenario: { name: string; steps: readonly UserStep[]; outside: () => Outside }
} {
  return {
    controllers: (process) => [{ for: Box, ...make(process) } as unknown as ControllerDeclaration],
    scenario: { name: 'boxes', steps, outside: () => ({ shelf: new Shelf() as unknown as Outside['shelf'] }) },
  }
}

const right: Making = ({ outside: { shelf } }) => ({
  async reconcile(box, { status }) {
    await shelf.put(box.metadata.name, box.spec.size ?? 0)
    status.set({ stored: String(box.spec.size) })
  },
  async cleanup(box) {
    await shelf.clear(box.metadata.name)
  },
})

function rules({ failures }: Explored): string[] {
  return [...new Set(failures.map(({ rule }) => rule))].sort()
}

describe('explore', () => {
  test('a right controller is silent in every schedule', async () => {
    const explored = await explore(subject(right))
    expect(explored.failures).toEqual([])
    expect(explored.schedules).toBeGreaterThan(80)
    expect(explored.left).toBe(0)
    expect(formatReport(explored)).toContain('Nothing found in ')
  })

  test('what is made outside without a finalizer is left behind, and the story says so', async () => {
    const explored = await explore(
      subject(({ outside: { shelf } }) => ({
        reconcile: async (box) => {
          await shelf.put(box.metadata.name, box.spec.size ?? 0)
        },
      })),
    )
    expect(rules(explored)).toContain('cleanup')
    const report = formatReport(explored)
    expect(report).toContain('RULE 5 cleanup: shelf places a is left behind although what it was made for is gone')
    expect(report).toContain('the user deletes Box a')
    expect(report).toMatch(/seen in \d+ of \d+ schedules/)
  })

  test('a place that only the answer names is taken twice when the answer gets lost', async () => {
    const explored = await explore(
      subject(({ outside: { shelf } }) => ({
        async reconcile(box, { status }) {
          if (box.status?.stored === undefined) status.set({ stored: await shelf.putAnywhere(box.spec.size ?? 0) })
        },
        cleanup: async (box) => {
          if (box.status?.stored !== undefined) await shelf.clear(box.status.stored)
        },
      })),
    )
    expect(rules(explored)).toEqual(expect.arrayContaining(['idempotent']))
    const [failure] = explored.failures.filter(({ rule }) => rule === 'idempotent')
    expect(failure?.when).toEqual([expect.stringMatching(/^(?:before|after) effect \d+: (?:crash|lose)$/)])
  })

  test('a variable of a module that decides is noticed: the same schedule goes differently the second time', async () => {
    let runs = 0
    const explored = await explore({
      ...subject(({ outside: { shelf } }) => ({
        reconcile: async (box) => {
          await shelf.put(box.metadata.name, ++runs > 2 ? 7 : 8)
        },
        cleanup: async (box) => {
          await shelf.clear(box.metadata.name)
        },
      })),
      tier: 0,
    })
    expect(rules(explored)).toContain('stateless')
  })

  test('a failure can be replayed: the same rule, the same trace', async () => {
    const broken = subject(({ outside: { shelf } }) => ({
      reconcile: async (box) => {
        await shelf.put(box.metadata.name, box.spec.size ?? 0)
      },
    }))
    const { failures } = await explore(broken)
    const [failure] = failures
    if (!failure?.hash) throw new Error('there must be a failure with a trace')
    const { rule, about, deviations, hash } = failure
    const file = {
      format: 1,
      scenario: 'boxes',
      profile: 'evenkeel',
      seed: '1',
      deviations,
      expected: { rule, about },
      hash,
    } as const
    expect(await replay(file, broken)).toMatchObject({ isFound: true, isSame: true })
    expect(await replay(file, subject(right))).toMatchObject({ isFound: false, isSame: false })
    await expect(replay({ ...file, scenario: 'other' }, broken)).rejects.toThrow(
      'this replay file is about the scenario other, not boxes',
    )
  })

  test('a scenario whose own steps fail is refused with the step and the reason', async () => {
    const scenario = {
      ...subject(right).scenario,
      steps: [
        {
          name: 'deletes nothing',
          run: async (user: Parameters<UserStep['run']>[0]) => user.delete(await user.get(Box, place)),
        },
      ],
    }
    await expect(explore({ ...subject(right), scenario })).rejects.toThrow(
      /the scenario boxes cannot be played: "deletes nothing" fails although nobody is in the way: .*not found/,
    )
  })

  test('what is meant is not told', async () => {
    const made = subject(({ outside: { shelf } }) => ({
      reconcile: async (box) => {
        await shelf.put(box.metadata.name, box.spec.size ?? 0)
      },
    }))
    const scenario = {
      ...made.scenario,
      exceptions: [{ rule: 'cleanup', about: 'shelf', because: 'shelves are emptied by somebody else' }],
    }
    expect(rules(await explore({ ...made, scenario, tier: 0 }))).not.toContain('cleanup')
  })
})
