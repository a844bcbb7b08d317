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
import type { ProcessHost, ProcessIdentity, SignalName } from './process-host.ts'
import { Process } from './process-kind.ts'
import { Container } from './containers/container-kind.ts'
import { Service } from './services/service-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { SimulatedHost } from './simulated-host.ts'
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

/**
 * A machine on which every pid is given to another program as soon as a kernel can: when no group or session has its number.
 */
class ReusingHost extends SimulatedHost {
  strangersSignalled = 0

  override exit(pid: number, end: Parameters<SimulatedHost['exit']>[1]): void {
    const ended = this.processes().find((one) => one.pid === pid)
    if (ended?.command === 'stranger') this.strangersSignalled++
    super.exit(pid, end)
    for (const free of new Set([pid, ended?.groupId ?? pid]))
      if (this.processes().every((one) => ![one.pid, one.groupId, one.sessionId].includes(free))) this.takePid(free)
  }
}

type Declaration = Workloads['controllers'][0]

/** A mistake that is made on purpose. */
interface Mistake extends MachineMistake {
  /** On a machine whose pids are reused at once. @default false */
  readonly reusesPids?: boolean
  readonly declaration?: (declaration: Declaration) => Partial<Declaration>
}

const scenarioOf = (steps: readonly UserStep[], mistake: Mistake = {}): Scenario<Machine> => ({
  name: 'processes',
  steps,
  ...simulatedMachine,
  external: (world) => ({
    ...simulatedMachine.external(world),
    ...(mistake.reusesPids && { host: new ReusingHost(world) }),
  }),
  // Not there, but watched: a Process may wait for them.
  kinds: [Task, ProcessSet, Service, Container],
  controllers: (process) => {
    const [declaration] = exploredWorkloads(process, mistake).controllers
    return [withoutHistory({ ...declaration, ...mistake.declaration?.(declaration) })]
  },
  expects: ({ external: { host, disk }, list }) => {
    const programs = programsOf(host)
      .filter((name) => name !== 'stranger')
      .join(', ')
    const watchdogs = disk.watchdogs.running.size
    if (watchdogs > 1 || (watchdogs < 1 && programs !== ''))
      return `${watchdogs} watchdogs for ${programs || 'nothing'}`
    if (host instanceof ReusingHost && host.strangersSignalled > 0) return 'a process of another program was signalled'
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

/** A machine that knows processes by their pids alone: start times are all the same. */
const byPidAlone = (host: ProcessHost): object => {
  const list = async () => (await host.listProcesses(0)).map((entry) => ({ ...entry, startTicks: 0 }))
  const current = async (identity: ProcessIdentity): Promise<ProcessIdentity> => {
    const { startTicks = 0 } = (await host.listProcesses(0)).find(({ pid }) => pid === identity.pid) ?? {}
    return { ...identity, startTicks }
  }
  return {
    listProcesses: list,
    findProcess: async (identity: ProcessIdentity) => host.findProcess(await current(identity)),
    signalProcess: async (identity: ProcessIdentity, ...rest: [SignalName, object?]) =>
      host.signalProcess(await current(identity), ...rest),
  }
}

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
  ['no identity check: a pid is enough', { reusesPids: true, host: byPidAlone }],
  ['no watchdog', { watchdogs: () => ({ start: () => undefined }) }],
  [
    'a leaked watchdog: it goes on when the program that started it has ended',
    { watchdogs: () => ({ endAll: () => undefined }) },
  ],
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

  test('finds nothing where every pid is reused at once', async () => {
    const explored = await exploreWith([create, remove], { reusesPids: true })
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
