/**
 * What explorations of Tasks, ProcessSets and Schedules share: each kind together with that of Processes on a simulated machine, and mistakes that
 * are made on purpose.
 */
import type { Client, ControllerDeclaration, Kind, KubeObject } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { explore, type Scenario, type UserStep, type WorldView } from 'evenkeel/testing'
import { Container } from './containers/container-kind.ts'
import {
  exploredWorkloads,
  historyOfProcess,
  replaced,
  simulatedMachine,
  without,
  withStatus,
  type Machine,
} from './explored.fixture.ts'
import { Service } from './services/service-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { Task } from './tasks/task-kind.ts'

type Declaration = ControllerDeclaration<Kind, ManagedContext>
type Context = Parameters<NonNullable<Declaration['reconcile']>>[1]
/** The controller with a mistake that is made on purpose. */
export type Mistake = (declaration: Declaration) => Declaration

export const key = { name: 'it', namespace: 'default' }

export const createOf = (kind: Kind, spec: object): UserStep => ({
  name: `creates a ${kind.kind}`,
  run: (user) => user.create(kind, { metadata: key, spec } as never),
})
export const changeOf = (kind: Kind, name: string, patch: object): UserStep => ({
  name,
  run: async (user: Client) => user.patch((await user.get(kind, key)) as never, patch as never),
})
export const removalOf = (kind: Kind): UserStep => ({
  name: 'deletes it',
  run: async (user: Client) => user.delete((await user.get(kind, key)) as never),
})

export interface Explored {
  readonly kind: Kind
  /** The controllers beside that of Processes, by kind; the first one has the mistake. */
  readonly kinds: readonly string[]
  /** Its status, without what tells of the past. */
  readonly timeless: Parameters<typeof withStatus>[1]
  readonly steps: readonly UserStep[]
  readonly expects: (world: WorldView<Machine>) => string | undefined
  readonly quietMs?: number
  readonly objects?: readonly KubeObject[]
  readonly exceptions?: Scenario<Machine>['exceptions']
}

function scenarioOf(explored: Explored, mistake?: Mistake): Scenario<Machine> {
  const { kind, kinds, timeless, steps, expects, quietMs, objects = [], exceptions = [] } = explored
  return {
    ...simulatedMachine,
    exceptions: [
      ...(simulatedMachine.exceptions ?? []),
      {
        rule: 'deletion-first',
        about: 'host.launch',
        because: 'a Process is started for itself: that its owner is being deleted is followed by its own deletion',
      },
      ...exceptions,
    ],
    name: kind.kind,
    objects,
    steps,
    expects,
    ...(quietMs !== undefined && { quietMs }),
    // Not all of them have a controller here, but all are watched.
    kinds: [Task, ProcessSet, Service, Container],
    controllers: (process) => {
      const { external } = process
      // Faults of log files are those of explored-files.test.ts.
      const machine = { ...external, logFiles: external.disk.logFiles }
      const [processes, ...owners] = exploredWorkloads({ ...process, external: machine }).controllers
      const chosen = (owners as unknown as readonly Declaration[]).filter((one) => kinds.includes(one.for.kind))
      return [
        withStatus(processes, without(historyOfProcess)) as unknown as Declaration,
        ...chosen.map((one) => {
          const made = mistake && one.for.kind === kind.kind ? mistake(one) : one
          return withStatus(made, one.for.kind === kind.kind ? timeless : timelessTask)
        }),
      ]
    },
  }
}

/**
 * How many schedules of each scenario are explored, in the order of the Explorer: crashes, lost answers and refused calls come
 * first. All single faults of all of them take ten minutes: EVENKEEL_EXPLORE=all has them.
 */
const isWhole = process.env['EVENKEEL_EXPLORE'] === 'all'
const schedulesMax = 200
export const single: ExploreLimits = isWhole ? {} : { schedulesMax }

interface ExploreLimits {
  readonly schedulesMax?: number
}

/** Whether nothing was left out, but for the limit. */
export const isExplored = ({ left, schedules }: { readonly left: number; readonly schedules: number }): boolean =>
  left === 0 || (!isWhole && schedules >= schedulesMax)

export const exploreWith = (explored: Explored, mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(explored, mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

/** The status of a Task without what tells of the past. */
export const timelessTask: Parameters<typeof withStatus>[1] = ({ executions: _, ...fields }) => ({
  ...fields,
  ...(fields['execution'] !== undefined && { execution: { ...(fields['execution'] as object), durationSeconds: 0 } }),
})

/** The first object of a kind, as plain data. */
export const found = ({ list }: WorldView<Machine>, kind: Kind) =>
  list(kind).find(
    ({ metadata: { name, deletionTimestamp } }) => name === key.name && deletionTimestamp === undefined,
  ) as
    | {
        readonly spec: Record<string, unknown>
        readonly status?: Record<string, unknown>
        readonly metadata: { deletionTimestamp?: string }
      }
    | undefined

export const unlike = (what: string, actual: unknown, expected: unknown): string | undefined =>
  JSON.stringify(actual) === JSON.stringify(expected)
    ? undefined
    : `${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`

export const template = (...command: string[]) => ({ spec: { command } })

/** One of the name that is not ours is not touched; one that another client keeps in deletion is waited for. */
export const isHeld = ({ metadata }: KubeObject): boolean =>
  metadata.ownerReferences === undefined || metadata.deletionTimestamp !== undefined

/* Mistakes. */

/** A controller that sees another object, or works with another context. */
export const wrapped =
  (
    change: (object: StoredLike, context: Context) => { readonly object?: StoredLike; readonly context?: Context },
  ): Mistake =>
  (declaration) => ({
    ...declaration,
    reconcile: (object, context) => {
      const changed = change(object as StoredLike, context)
      return declaration.reconcile?.((changed.object ?? object) as never, changed.context ?? context)
    },
  })

interface StoredLike {
  readonly status?: { readonly execution?: { readonly number: number; readonly finishedAt?: string } }
}

export const withPart = (context: Context, name: 'children' | 'client', methods: object): Context =>
  Object.create(context, { [name]: { value: replaced<object>(context[name], methods) } }) as Context

/** `children.once` with another spec or key. */
export const once = (
  change: (desired: Child, context: Context) => { readonly desired?: object; readonly key?: string },
): Mistake =>
  wrapped((_, context) => ({
    context: withPart(context, 'children', {
      once: (kind: Kind, desired: Child, options: { readonly key: string }) => {
        const changed = change(desired, context)
        const key = `${options.key}${changed.key ?? ''}`
        return context.children.once(kind, (changed.desired ?? desired) as never, { ...options, key })
      },
    }),
  }))

interface Child {
  readonly spec: { readonly restart?: object }
}

export const keepsAll: Mistake = wrapped((_, context) => ({
  context: withPart(context, 'client', { delete: () => Promise.resolve(undefined) }),
}))
