/** Test planes with Containers on a runtime in memory, in simulated time. */
import { onTestFinished } from 'vitest'
import type { Client, Kind } from 'evenkeel'
import { startTestPlane, type TestPlane } from 'evenkeel/testing'
import { SeededRandom, SimulatedClock, type Clock } from 'evenkeel/unstable/base'
import { ScriptedProbes } from '../plane.fixture.ts'
import { SimulatedFiles, SimulatedHost } from '../simulated-host.ts'
import { SimulatedNetwork } from '../services/simulated-network.ts'
import { workloads, type Workloads } from '../workloads.ts'
import { Container, type ContainerObject } from './container-kind.ts'
import { SimulatedRuntime } from './simulated-runtime.ts'

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

export interface ContainerBasics {
  readonly plane: TestPlane
  readonly client: Client
  readonly work: Workloads
  create(name: string, spec: object, kind?: Kind): Promise<unknown>
  get(name: string): Promise<ContainerObject>
  patch(name: string, spec: object): Promise<void>
  remove(name: string, kind?: Kind): Promise<void>
  act(name: string, action: string): Promise<unknown>
  until(name: string, condition: (object: ContainerObject) => boolean): Promise<ContainerObject>
  untilGone(name: string, kind?: Kind): Promise<void>
  events(name: string): Promise<readonly { readonly reason: string; readonly note: string }[]>
}

export interface ContainerPlane extends ContainerBasics {
  readonly runtime: SimulatedRuntime
  readonly host: SimulatedHost
  readonly files: SimulatedFiles
  readonly probes: ScriptedProbes
  readonly network: SimulatedNetwork
}

const keyOf = (name: string) => ({ name, namespace: 'default' })

interface EventObject {
  readonly reason?: string
  readonly note?: string
  readonly regarding?: { readonly name?: string }
}

/** A later Evenkeel continues with the machine, the files and the clock of an earlier one. */
export async function startContainers(
  given: Partial<Pick<ContainerPlane, 'runtime' | 'files'>> & { readonly clock?: RelayClock } = {},
): Promise<ContainerPlane & { readonly clock: RelayClock }> {
  const clock = given.clock ?? new RelayClock()
  const runtime = given.runtime ?? new SimulatedRuntime({ clock, images: ['app:1'] })
  const host = new SimulatedHost({ clock })
  const files = given.files ?? new SimulatedFiles()
  const probes = new ScriptedProbes()
  const network = new SimulatedNetwork()
  const work = workloads({
    folder: '/data',
    cwd: '/app',
    env: { PATH: '/bin' },
    host,
    containerRuntime: runtime,
    files,
    checks: probes,
    network,
    clock,
    random: new SeededRandom('containers'),
  })
  const plane = await startTestPlane({ ...serverPartsOf(work), simulated: true })
  clock.target = plane.clock
  onTestFinished(() => plane.stop())
  return { ...basicsOf(plane), plane, work, runtime, host, files, probes, network, clock }
}

/** What a test plane runs and serves. */
export function serverPartsOf({ controllers, customResources }: Workloads) {
  return { controllers, customResources }
}

/** What tests do with objects. */
export function basicsOf(plane: TestPlane): Omit<ContainerBasics, 'plane' | 'work'> {
  const { client } = plane
  const get = async (name: string): Promise<ContainerObject> =>
    (await client.get(Container, keyOf(name))) as ContainerObject
  return {
    client,
    get,
    create: (name: string, spec: object, kind: Kind = Container) =>
      client.create(kind as typeof Container, { metadata: keyOf(name), spec } as never),
    async patch(name: string, spec: object) {
      await client.patch(await client.get(Container, keyOf(name)), { spec } as never)
    },
    async remove(name: string, kind: Kind = Container) {
      await client.delete(await client.get(kind as typeof Container, keyOf(name)))
    },
    act: (name: string, action: string) =>
      client.raw({
        method: 'POST',
        path: `/apis/workloads.evenkeel.dev/v1/namespaces/default/containers/${name}/${action}`,
        body: {},
      }),
    async until(name: string, condition: (object: ContainerObject) => boolean) {
      let last: ContainerObject | undefined
      try {
        await plane.until(async () => condition((last = await get(name))), { timeoutMs: 60_000 })
      } catch (error) {
        throw new Error(`${name} did not get so; its status is ${JSON.stringify(last?.status, undefined, 1)}`, {
          cause: error,
        })
      }
      return last as ContainerObject
    },
    async untilGone(name: string, kind: Kind = Container) {
      await plane.until(async () => (await client.find(kind as typeof Container, keyOf(name))) === undefined, {
        timeoutMs: 60_000,
      })
    },
    async events(name: string) {
      const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace: 'default' })
      return (items as readonly EventObject[]).flatMap(({ reason = '', note = '', regarding }) =>
        regarding?.name === name ? [{ reason, note }] : [],
      )
    },
  }
}

export const phaseIs =
  (phase: string) =>
  ({ status }: ContainerObject): boolean =>
    status?.phase === phase

export const conditionOf = ({ status }: Pick<ContainerObject, 'status'>, type: string) =>
  status?.conditions?.find((one) => one.type === type)

export const isReady = (object: ContainerObject): boolean => conditionOf(object, 'Ready')?.status === 'True'

export const reasonIs =
  (reason: string) =>
  (object: ContainerObject): boolean =>
    conditionOf(object, 'Ready')?.reason === reason

export const isRun =
  (number: number) =>
  (object: ContainerObject): boolean =>
    isReady(object) && object.status?.run?.number === number
