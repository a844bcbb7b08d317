/** The Explorer on the controller of ProcessSets, together with that of Processes: every single fault, and planted mistakes. */
import { isConditionTrue, type KubeObject } from 'evenkeel'
import { formatReport, type WorldView } from 'evenkeel/testing'
import { describe, expect, test } from 'vitest'
import {
  changeOf,
  createOf,
  exploreWith,
  found,
  isExplored,
  isHeld,
  keepsAll,
  single,
  template,
  unlike,
  withPart,
  wrapped,
  type Explored,
  type Mistake,
} from './explored-owners.fixture.ts'
import { programsOf, without, type Machine } from './explored.fixture.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'

const programOf = (made: unknown): string | undefined =>
  (made as { readonly spec?: { readonly command?: readonly string[] } } | undefined)?.spec?.command?.[0]
/** One replica of a program, as the machine shows it: during a roll there are two. */
const running: Readonly<Record<string, readonly string[]>> = {
  serve: ['serve'],
  fork: ['child', 'fork'],
}

const readyByHost = new WeakMap<object, Set<string>>()

/** The uids of the Processes that were ready in an earlier quiet state of this schedule. Notes those that are now. */
function readyBefore({ list, external: { host } }: WorldView<Machine>): ReadonlySet<string> {
  const before = readyByHost.get(host) ?? new Set()
  const ready = list(Process).filter(({ status }) =>
    isConditionTrue((status as ProcessObject['status'] | undefined)?.conditions, 'Ready'),
  )
  readyByHost.set(host, new Set([...before, ...ready.map(({ metadata }) => metadata.uid ?? '')]))
  return before
}

const sets: Explored = {
  kind: ProcessSet,
  kinds: ['ProcessSet'],
  timeless: without(['revisions', 'currentRevision']),
  steps: [
    createOf(ProcessSet, { replicas: 1, template: template('serve') }),
    changeOf(ProcessSet, 'gives it another program', { spec: { template: template('fork') } }),
  ],
  expects: (world) => {
    const command = programOf(found(world, ProcessSet)?.spec['template'])
    const processes = world.list(Process)
    if (processes.some(isHeld)) return undefined
    const wereReady = readyBefore(world)
    if (command !== 'missing')
      return unlike('programs', programsOf(world.external.host), command === undefined ? [] : running[command])
    // What cannot run takes the place of nothing that was ready.
    const replaced = processes.filter(
      ({ metadata, spec }) => wereReady.has(metadata.uid ?? '') && programOf({ spec }) === 'missing',
    )
    return replaced.length > 0 ? `${replaced.length} were replaced` : undefined
  },
  exceptions: ['cleanup', 'idempotent'].map((rule) => ({
    rule,
    about: 'default/it',
    because: 'a roll waits, with its spare, while another client keeps a Process in deletion',
  })),
}

/** A roll that stops at the spare. */
const blocked: Explored = {
  ...sets,
  steps: [
    createOf(ProcessSet, { replicas: 1, template: template('serve') }),
    changeOf(ProcessSet, 'gives it a program that does not exist', { spec: { template: template('missing') } }),
  ],
  exceptions: [
    ...(sets.exceptions ?? []),
    ...['state', 'failure', 'repeat'].map((rule) => ({
      rule,
      because: 'what is ready is kept: a set that was made with this template, or was not ready, has nothing to keep',
    })),
    { rule: 'identity', because: 'a Process that another client makes again has the new template' },
  ],
}

const looksReady = (process: KubeObject): object => ({
  ...process,
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    observedGeneration: process.metadata.generation,
  },
})

describe('W42: the Explorer finds nothing in any single fault of', () => {
  test.each([
    ['ProcessSets', sets],
    ['ProcessSets with a template that does not work', blocked],
  ])(
    '%s',
    async (_, explored) => {
      const result = await exploreWith(explored, undefined, single)
      expect(result.failures.length, formatReport(result)).toBe(0)
      expect(isExplored(result)).toBe(true)
    },
    900_000,
  )
})

/* Planted mistakes. */

const mistakes: readonly (readonly [name: string, explored: Explored, mistake: Mistake])[] = [
  [
    'an old Process is replaced before the new one is ready',
    blocked,
    wrapped((_, context) => ({
      context: withPart(context, 'children', { list: () => context.children.list().map(looksReady) }),
    })),
  ],
  ['the spare stays', sets, keepsAll],
]

test.each(mistakes)(
  'W42: the Explorer finds a planted mistake: %s',
  async (_, explored, mistake) => {
    const result = await exploreWith(explored, mistake, { until: () => true, stories: 0 })
    expect(result.failures.length).toBeGreaterThan(0)
  },
  300_000,
)
