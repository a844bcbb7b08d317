/** The Explorer on the controller of Processes, with a simulated machine: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import { explore, formatReport, type Scenario, type UserStep } from 'evenkeel/testing'
import type { Client } from 'evenkeel'
import {
  exploredWorkloads,
  programsOf,
  simulatedMachine,
  withoutHistory,
  type Machine,
  type MachineMistake,
} from './explored.fixture.ts'
import type { Files } from './files.ts'
import type { ProcessHost } from './process-host.ts'
import { Process } from './process-kind.ts'
import { Container } from './containers/container-kind.ts'
import { Service } from './services/service-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { Task } from './tasks/task-kind.ts'
import type { Workloads } from './workloads.ts'

const web = { name: 'web', namespace: 'default' }

const spec = async (user: Client, change: object): Promise<unknown> =>
  user.patch(await user.get(Process, web), { spec: change } as never)

const create: UserStep = {
  name: 'creates Process web',
  run: (user) =>
    user.create(Process, { metadata: web, spec: { command: ['fork'], ports: [{ name: 'http' }] } } as never),
}
const remove: UserStep = { name: 'deletes it', run: async (user) => user.delete(await user.get(Process, web)) }
const allSteps: readonly UserStep[] = [
  create,
  { name: 'changes its command', run: (user) => spec(user, { command: ['serve'] }) },
  { name: 'stops it', run: (user) => spec(user, { running: false }) },
  { name: 'starts it', run: (user) => spec(user, { running: true }) },
  remove,
]

type Declaration = Workloads['controllers'][0]

/** A mistake that is made on purpose. */
interface Mistake extends MachineMistake {
  readonly declaration?: (declaration: Declaration) => Partial<Declaration>
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<Machine> => ({
  name: 'processes',
  steps,
  ...simulatedMachine,
  // Not there, but watched: a Process may wait for them.
  kinds: [Task, ProcessSet, Service, Container],
  controllers: (process) => {
    const [declaration] = exploredWorkloads(process, mistake).controllers
    return [withoutHistory({ ...declaration, ...mistake.declaration?.(declaration) })]
  },
  expects: ({ external: { host }, list }) => {
    const programs = programsOf(host).join(', ')
    const object = list(Process).find(({ metadata }) => metadata.name === web.name)
    const { command = [], running = true } = (object?.['spec'] ?? {}) as {
      command?: readonly string[]
      running?: boolean
    }
    const isWanted = object?.metadata.deletionTimestamp === undefined && running
    const expected = object && isWanted ? (command[0] === 'fork' ? 'child, fork' : 'serve') : ''
    return programs === expected ? undefined : `runs ${programs || 'nothing'} instead of ${expected || 'nothing'}`
  },
})

const exploreWith = (steps: readonly UserStep[], mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(steps, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** A machine whose processes have lost their marks. */
const withoutMarks = (host: ProcessHost): object => ({
  listProcesses: async () => (await host.listProcesses(0)).map(({ mark: _, ...entry }) => entry),
})
/** A session file that has no lines of this event. */
const withoutLines = (event: string) => (files: Files) => ({
  appendText: (path: string, text: string) =>
    text.startsWith(`${event} `) ? Promise.resolve() : files.appendText(path, text),
})

const mistakes: readonly (readonly [name: string, mistake: Mistake])[] = [
  [
    'children are not looked for',
    {
      host: (host) => ({
        listProcesses: async () => (await host.listProcesses(0)).filter(({ command }) => command !== 'child'),
      }),
    },
  ],
  ['marks are not read, so a run that was started and not recorded is not found', { host: withoutMarks }],
  ['the session file is not read', { files: () => ({ findText: () => Promise.resolve(undefined) }) }],
  ['no line before a start', { files: withoutLines('start') }],
  ['no line after a start, and no marks', { host: withoutMarks, files: withoutLines('started') }],
  ['processes outlive their object', { declaration: () => ({ cleanup: () => undefined }) }],
  ['exits are not events', { host: () => ({ exits: { subscribe: () => () => undefined } }) }],
]

describe('W42: the Explorer', () => {
  test('finds nothing in any single fault', async () => {
    const explored = await exploreWith(allSteps)
    expect(explored.failures, formatReport(explored)).toEqual([])
    expect(explored.left).toBe(0)
    expect(explored.schedules).toBeGreaterThan(500)
  }, 900_000)

  test('finds nothing in the scenario of the planted mistakes without one', async () => {
    const explored = await exploreWith([create, remove])
    expect(explored.failures, formatReport(explored)).toEqual([])
  }, 300_000)

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, mistake) => {
      const explored = await exploreWith([create, remove], mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
