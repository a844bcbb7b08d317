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

/** An external service. */
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

interface External {
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

type Making = (process: ProcessContext<External>) => Pick<BoxController, 'reconcile' | 'cleanup'>

function subject(make: Making): {
  controllers: (process: ProcessContext<External>) => ControllerDeclaration[]
  scenario: { name: string; steps: readonly UserStep[]; external: () => External }
} {
  return {
    controllers: (process) => [{ for: Box, ...make(process) } as unknown as ControllerDeclaration],
    scenario: { name: 'boxes', steps, external: () => ({ shelf: new Shelf() as unknown as External['shelf'] }) },
  }
}

const right: Making = ({ external: { shelf } }) => ({
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
  test('a correct controller has no failure in any schedule', async () => {
    const explored = await explore(subject(right))
    expect(explored.failures).toEqual([])
    expect(explored.schedules).toBeGreaterThan(80)
    expect(explored.left).toBe(0)
    expect(formatReport(explored)).toContain('No failure in ')
  })

  test('an external resource without a finalizer remains, and the report says so', async () => {
    const explored = await explore(
      subject(({ external: { shelf } }) => ({
        reconcile: async (box) => {
          await shelf.put(box.metadata.name, box.spec.size ?? 0)
        },
      })),
    )
    expect(rules(explored)).toContain('cleanup')
    const report = formatReport(explored)
    expect(report).toContain('RULE 5 cleanup: shelf places a remains although the object it was created for is deleted')
    expect(report).toContain('the user deletes Box a')
    expect(report).toMatch(/seen in \d+ of \d+ schedules/)
  })

  test('an id that only the reply contains is created twice when the reply is lost', async () => {
    const explored = await explore(
      subject(({ external: { shelf } }) => ({
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

  test('state in a module variable is detected: the second run of the same schedule differs', async () => {
    let runs = 0
    const explored = await explore({
      ...subject(({ external: { shelf } }) => ({
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
    const broken = subject(({ external: { shelf } }) => ({
      reconcile: async (box) => {
        await shelf.put(box.metadata.name, box.spec.size ?? 0)
      },
    }))
    const { failures } = await explore(broken)
    const [failure] = failures
    if (!failure?.hash) throw new Error('there must be a failure with a trace')
    const { rule, about, deviations, hash } = failure
    const file = {
      format: 2,
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
      'the replay file belongs to scenario other, not to boxes',
    )
  })

  test('a scenario whose own step fails is refused with the step and the reason', async () => {
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
      /scenario boxes: the step "deletes nothing" fails without a fault: .*not found/,
    )
  })

  test('an exception suppresses its finding', async () => {
    const made = subject(({ external: { shelf } }) => ({
      reconcile: async (box) => {
        await shelf.put(box.metadata.name, box.spec.size ?? 0)
      },
    }))
    const scenario = {
      ...made.scenario,
      exceptions: [{ rule: 'cleanup', about: 'shelf', because: 'another program empties the shelves' }],
    }
    expect(rules(await explore({ ...made, scenario, tier: 0 }))).not.toContain('cleanup')
  })
})
