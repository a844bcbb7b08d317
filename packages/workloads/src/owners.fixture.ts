/**
 * Tasks, Schedules and ProcessSets in the test planes of plane.fixture.ts.
 */
import type { Kind, ObjectOf, Stored } from 'evenkeel'
import type { SimulatedClock } from 'evenkeel/unstable/base'
import type { ProcessObject } from './process-kind.ts'
import { Process } from './process-kind.ts'
import type { ProcessOwnersOptions } from './process-owners.ts'
import { startSimulated, type SimulatedPlane } from './plane.fixture.ts'
import { Schedule, type ScheduleObject } from './schedules/schedule-kind.ts'
import { ProcessSet, type ProcessSetObject } from './sets/set-kind.ts'
import { Task, type TaskObject } from './tasks/task-kind.ts'

/** The objects of one kind in the namespace `default`. */
interface Objects<T> {
  create(name: string, spec: object): Promise<unknown>
  get(name: string): Promise<T>
  list(): Promise<readonly T[]>
  patch(name: string, spec: object): Promise<void>
  remove(name: string): Promise<void>
  /** Requests an action, as `evenkeel do` does. */
  act(name: string, action: string): Promise<unknown>
  /** Waits until the object is so. */
  until(name: string, condition: (object: T) => boolean): Promise<T>
  untilGone(name: string): Promise<void>
}

interface OwnersPlane extends Pick<SimulatedPlane, 'host' | 'plane' | 'client' | 'events' | 'files'> {
  readonly clock: SimulatedClock
  readonly tasks: Objects<TaskObject>
  readonly schedules: Objects<ScheduleObject>
  readonly sets: Objects<ProcessSetObject>
  readonly processes: Objects<ProcessObject>
  /** The programs that run. */
  programs(): readonly string[]
}

const patienceMs = 60_000

export async function startOwners(options: ProcessOwnersOptions = {}): Promise<OwnersPlane> {
  const world = await startSimulated(options)
  const { host, plane, client, events, files } = world
  return {
    host,
    plane,
    client,
    events,
    files,
    clock: plane.clock as SimulatedClock,
    tasks: objectsOf(world, Task),
    schedules: objectsOf(world, Schedule),
    sets: objectsOf(world, ProcessSet),
    processes: objectsOf(world, Process),
    programs: () =>
      host
        .processes()
        .map(({ command }) => command)
        .sort(),
  }
}

function objectsOf<K extends Kind>(
  { client, plane }: Pick<SimulatedPlane, 'client' | 'plane'>,
  kind: K,
): Objects<Stored<ObjectOf<K>>> {
  type T = Stored<ObjectOf<K>>
  const keyOf = (name: string) => ({ name, namespace: 'default' })
  const get = async (name: string): Promise<T> => (await client.get(kind, keyOf(name))) as unknown as T
  return {
    get,
    create: (name, spec) => client.create(kind, { metadata: keyOf(name), spec } as never),
    list: async () => (await client.list(kind, { namespace: 'default' })).items as unknown as readonly T[],
    async patch(name, spec) {
      await client.patch(await get(name), { spec } as never)
    },
    async remove(name) {
      await client.delete(await get(name))
    },
    act: (name, action) =>
      client.raw({
        method: 'POST',
        path: `/apis/workloads.evenkeel.dev/v1/namespaces/default/${kind.plural}/${name}/${action}`,
        body: {},
      }),
    async until(name, condition) {
      let last: T | undefined
      try {
        await plane.until(async () => condition((last = await get(name))), { timeoutMs: patienceMs })
      } catch (error) {
        const { status } = (last ?? {}) as { status?: unknown }
        throw new Error(`${kind.kind} ${name} did not get so; its status is ${JSON.stringify(status, undefined, 1)}`, {
          cause: error,
        })
      }
      return last as T
    },
    async untilGone(name) {
      await plane.until(async () => (await client.find(kind, keyOf(name))) === undefined, { timeoutMs: patienceMs })
    },
  }
}

/** The reason of a condition; undefined while it is not there. */
export function reasonOf(
  { status }: { readonly status?: { readonly conditions?: readonly { type: string; reason: string }[] } | undefined },
  type: string,
): string | undefined {
  return status?.conditions?.find((one) => one.type === type)?.reason
}
