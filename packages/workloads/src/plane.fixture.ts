/**
 * Test planes with Processes: on a simulated machine in simulated time, or on this machine.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Client, ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { startTestPlane, type TestPlane } from 'evenkeel/testing'
import { SeededRandom, SimulatedClock, type Clock } from 'evenkeel/unstable/base'
import type { Commands } from './commands.ts'
import { Process, type ProcessObject } from './process-kind.ts'
import type { ProbeCheck, ProbeChecks, ProbeOutcome } from './prober.ts'
import type { ProcessIdentity } from './process-host.ts'
import { SimulatedNetwork } from './services/simulated-network.ts'
import { SimulatedLogFiles } from './logs/simulated-log-files.ts'
import type { ProcessOwnersOptions } from './process-owners.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
import { SimulatedFileWatcher } from './watch/simulated-file-watcher.ts'
import { ScriptTerminals } from './terminal.ts'
import { workloads, type Workloads } from './workloads.ts'

type AnyDeclaration = ControllerDeclaration<Kind, ManagedContext>

const keyOf = (name: string) => ({ name, namespace: 'default' })

/** The clock of a plane, for parts that are made before it. */
class RelayClock implements Clock {
  target: Clock = new SimulatedClock()
  now = (): number => this.target.now()
  monotonic = (): number => this.target.monotonic()
  after = (delayMs: number, callback: () => void) => this.target.after(delayMs, callback)
  soon = (callback: () => void): void => {
    this.target.soon(callback)
  }
}

/** Probes that answer what a test says. */
export class ScriptedProbes implements ProbeChecks {
  readonly checks: ProbeCheck[] = []
  answer: (check: ProbeCheck) => ProbeOutcome = () => ({ isOk: true, output: 'fine' })

  findHealth(check: ProbeCheck): Promise<ProbeOutcome> {
    this.checks.push(check)
    return Promise.resolve(this.answer(check))
  }
}

interface ProcessPlane {
  readonly plane: TestPlane
  readonly client: Client
  readonly work: Workloads
  create(name: string, spec: object): Promise<unknown>
  get(name: string): Promise<ProcessObject>
  patch(name: string, spec: object): Promise<void>
  remove(name: string): Promise<void>
  /** Requests an action, as `evenkeel do` does. */
  act(name: string, action: string): Promise<unknown>
  /** Waits until the object is so. */
  until(name: string, condition: (object: ProcessObject) => boolean): Promise<ProcessObject>
  /** Waits until the object is gone. */
  untilGone(name: string): Promise<void>
  /** The notes of its events, by reason. */
  events(name: string): Promise<readonly { readonly reason: string; readonly note: string }[]>
}

export interface SimulatedPlane extends ProcessPlane {
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly network: SimulatedNetwork
  readonly logFiles: SimulatedLogFiles
  readonly watcher: SimulatedFileWatcher
  readonly probes: ScriptedProbes
  /** The identity of the current run. */
  identityOf(name: string): Promise<ProcessIdentity>
}

export async function startSimulated(
  given: ProcessOwnersOptions & {
    readonly host?: SimulatedHost
    readonly files?: SimulatedFiles
    readonly clock?: RelayClock
    readonly commands?: Commands
    readonly router?: { readonly port: number }
    /** Controllers of a user in the same program. */
    readonly beside?: readonly AnyDeclaration[]
  } = {},
): Promise<SimulatedPlane> {
  const clock = given.clock ?? new RelayClock()
  const host = given.host ?? new SimulatedHost({ clock })
  const files = given.files ?? new SimulatedFiles()
  const network = new SimulatedNetwork()
  const probes = new ScriptedProbes()
  const logFiles = new SimulatedLogFiles({ clock })
  const watcher = new SimulatedFileWatcher({ clock })
  const random = new SeededRandom('processes')
  const work = workloads({
    folder: '/data',
    cwd: '/app',
    env: { PATH: '/bin', HOME: '/root' },
    host,
    files,
    network,
    logFiles,
    watcher,
    checks: probes,
    ...(given.commands && { commands: given.commands }),
    clock,
    random,
    ...(given.router && { router: given.router }),
    ...(given.maxReplicas !== undefined && { maxReplicas: given.maxReplicas }),
    ...(given.timeZone !== undefined && { timeZone: given.timeZone }),
  })
  const { controllers, customResources } = work
  const all = [...(controllers as readonly unknown[] as readonly AnyDeclaration[]), ...(given.beside ?? [])]
  const plane = await startTestPlane({ controllers: all, customResources, simulated: true })
  clock.target = plane.clock
  onTestFinished(() => plane.stop())
  const base = basicsOf(plane, work)
  return {
    ...base,
    host,
    files,
    network,
    logFiles,
    watcher,
    probes,
    async identityOf(name) {
      const { status } = await base.get(name)
      const [pid, startTicks, ...bootId] = (status?.run?.identity ?? '').split('-')
      return { pid: Number(pid), startTicks: Number(startTicks), bootId: bootId.join('-') }
    },
  }
}

/** On this machine, in a folder of its own. Every process ends with the test. */
export async function startReal(
  given: { readonly terminals?: { readonly program: string } } = {},
): Promise<ProcessPlane & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-workloads-'))
  const work = workloads({
    folder,
    cwd: folder,
    ...(given.terminals && { terminals: new ScriptTerminals(given.terminals) }),
  })
  const { controllers, customResources } = work
  const plane = await startTestPlane({ controllers, customResources })
  onTestFinished(async () => {
    await work.stop()
    await plane.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...basicsOf(plane, work), folder }
}

interface EventObject {
  readonly reason?: string
  readonly note?: string
  readonly regarding?: { readonly name?: string }
}

const patienceMs = 60_000

function basicsOf(plane: TestPlane, work: Workloads): ProcessPlane {
  const { client } = plane
  const get = async (name: string): Promise<ProcessObject> => (await client.get(Process, keyOf(name))) as ProcessObject
  return {
    plane,
    client,
    work,
    get,
    create: (name, spec) => client.create(Process, { metadata: keyOf(name), spec } as never),
    async patch(name, spec) {
      await client.patch(await client.get(Process, keyOf(name)), { spec } as never)
    },
    async remove(name) {
      await client.delete(await client.get(Process, keyOf(name)))
    },
    act: (name, action) =>
      client.raw({
        method: 'POST',
        path: `/apis/workloads.evenkeel.dev/v1/namespaces/default/processes/${name}/${action}`,
        body: {},
      }),
    async until(name, condition) {
      let last: ProcessObject | undefined
      try {
        await plane.until(async () => condition((last = await get(name))), { timeoutMs: patienceMs })
      } catch (error) {
        throw new Error(`${name} did not get so; its status is ${JSON.stringify(last?.status, undefined, 1)}`, {
          cause: error,
        })
      }
      return last as ProcessObject
    },
    async untilGone(name) {
      await plane.until(async () => (await client.find(Process, keyOf(name))) === undefined, { timeoutMs: patienceMs })
    },
    async events(name) {
      const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace: 'default' })
      return (items as readonly EventObject[]).flatMap(({ reason = '', note = '', regarding }) =>
        regarding?.name === name ? [{ reason, note }] : [],
      )
    },
  }
}

export const phaseIs =
  (phase: string) =>
  ({ status }: ProcessObject): boolean =>
    status?.phase === phase

export const conditionOf = ({ status }: ProcessObject, type: string) =>
  status?.conditions?.find((one) => one.type === type)

export const isReady = (object: ProcessObject): boolean => conditionOf(object, 'Ready')?.status === 'True'
