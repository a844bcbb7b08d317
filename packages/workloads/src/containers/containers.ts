/**
 * Containers as parts of a program: three controllers, what ends with the program, and what an earlier one left.
 *
 *   first create ──▶ FOLDER/containers says how the runtime is reached ──▶ the watchdog can remove what is ours
 *   the program stops ──▶ containers end in the order of the shutdown ──▶ they, networks and volumes of the session are removed, but
 *                         those that are persistent ──▶ the file goes
 *
 * Invariants: without an object of these kinds, and without that file, the runtime is never asked; everything that is removed has
 * the label of this session.
 */
import type { Client, ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import type { Files } from '../files.ts'
import type { Ports } from '../ports.ts'
import type { ProbeChecks } from '../prober.ts'
import type { Session } from '../session.ts'
import type { ShutdownOrder } from '../shutdown-order.ts'
import { ContainerController } from './container-controller.ts'
import { Container, ContainerNetwork, ContainerVolume, type ContainerObject } from './container-kind.ts'
import { labelOf, parseRunLabel } from './container-labels.ts'
import { logOfContainer, type ContainerLogOptions } from './container-log.ts'
import { isRuntimeError, type ContainerRuntime, type Labels } from './container-runtime.ts'
import { findRunning, withinHurry, type EndingContainer } from './container-shutdown.ts'
import { NetworkController } from './network-controller.ts'
import type { FoundRuntime } from './os-runtime.ts'
import { RuntimeMonitor } from './runtime-monitor.ts'
import { VolumeController } from './volume-controller.ts'

interface ContainersOptions {
  readonly session: Session
  readonly order: ShutdownOrder
  readonly ports: Ports
  readonly files: Files
  readonly checks: ProbeChecks
  readonly clock: Clock
  /** Of the session file; an absolute path. */
  readonly folder: string
  /** Where relative paths begin. */
  readonly cwd: string
  /** @throws a RuntimeError `Unavailable` */
  readonly findRuntime: () => Promise<FoundRuntime>
  /** @default none */
  readonly log?: Logger
}

export interface Containers {
  readonly controllers: readonly [
    ControllerDeclaration<typeof ContainerNetwork, ManagedContext>,
    ControllerDeclaration<typeof ContainerVolume, ManagedContext>,
    ControllerDeclaration<typeof Container, ManagedContext>,
  ]
  /** Removes what a killed Evenkeel left and no object asks for any more. */
  endLeftovers(client: Pick<Client, 'list'>, options: { readonly signal: AbortSignal }): Promise<void>
  /**
   * The containers that run, for the shutdown: when its session is closing, after the last start. None when the runtime does not
   * answer: `close` says why.
   */
  findRunning(options: { readonly hurry: AbortSignal }): Promise<readonly EndingContainer[]>
  /**
   * Removes everything that does not outlive this program.
   *
   * @param options with `hurry` it takes five seconds at most after that has aborted
   * @throws with the names of what could not be removed
   */
  close(options?: { readonly hurry?: AbortSignal | undefined }): Promise<void>
  /** The log of the last run of a Container. */
  log(object: ContainerObject, options?: ContainerLogOptions): AsyncIterable<Uint8Array>
  /** The runtime: the one that is used, or the first that answers. @throws a RuntimeError `Unavailable` */
  findRuntime(): Promise<ContainerRuntime>
}

const graceSeconds = 10

export function containers(options: ContainersOptions): Containers {
  const parts = partsOf(options)
  const { monitor, record, controller, shared, findRuntime } = parts
  return {
    controllers: [
      new NetworkController(shared).declaration(),
      new VolumeController(shared).declaration(),
      controller.declaration(),
    ],
    async endLeftovers(client, { signal }) {
      if (!(await record.isWritten())) return
      const { runtime } = await options.findRuntime()
      const lists = await Promise.all(
        [Container, ContainerNetwork, ContainerVolume].map((kind) => client.list(kind, { signal })),
      )
      const uids = new Set(lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid ?? '')))
      const isKept = (labels: Labels): boolean => uids.has(labels[labelOf.uid] ?? '')
      await removeAll(runtime, { labels: ofSession(options), isKept })
    },
    findRunning: ({ hurry }) => withinHurry(findEnding(parts), { ...options, hurry }).catch(() => []),
    close({ hurry } = {}) {
      const live = monitor.live?.runtime
      controller.close()
      monitor.close()
      return withinHurry(removeLeft(parts, live), { ...options, hurry })
    },
    log: (object, query) => logOfContainer(object, { ...query, findRuntime }),
    findRuntime,
  }
}

/** The controllers, and what they share. */
function partsOf(options: ContainersOptions) {
  const { session, clock, files, folder, log } = options
  const record = new RuntimeRecord({ files, path: `${folder}/containers` })
  const monitor = new RuntimeMonitor({
    clock,
    ...(log && { log }),
    findRuntime: async () => {
      const { runtime, endpoint } = await options.findRuntime()
      record.endpoint = endpoint
      return runtime
    },
  })
  const shared = { session, monitor, beforeCreate: () => record.write() }
  const controller = new ContainerController({ ...options, ...shared })
  const findRuntime = async (): Promise<ContainerRuntime> =>
    monitor.live?.runtime ?? (await options.findRuntime()).runtime
  return { ...options, record, monitor, shared, controller, findRuntime }
}

type Parts = ReturnType<typeof partsOf>

function ofSession({ session }: Pick<ContainersOptions, 'session'>): Labels {
  return { [labelOf.session]: session.name, [labelOf.lifetime]: 'session' }
}

/** The containers that run, when the last start is over. */
async function findEnding(parts: Parts): Promise<readonly EndingContainer[]> {
  const { session, clock, monitor, record, controller, findRuntime } = parts
  await controller.settled()
  if (!monitor.live && !(await record.isWritten())) return []
  const onEnd = (uid: string): void => {
    controller.noteClosing(uid)
  }
  return findRunning(session.name, { runtime: await findRuntime(), clock, onEnd })
}

/** @throws with the names of what could not be removed */
async function removeLeft(parts: Parts, live: ContainerRuntime | undefined): Promise<void> {
  const { record, findRuntime } = parts
  if (!(await record.isWritten())) return
  // What still runs has had its time.
  const left = await removeAll(live ?? (await findRuntime()), {
    labels: ofSession(parts),
    isKept: () => false,
    graceMs: 0,
  })
  if (left.length > 0) throw new Error(`these could not be removed from the container runtime: ${left.join(', ')}`)
  await record.remove()
}

/** Stops and removes what has these labels. Returns the names of what is left. */
async function removeAll(
  runtime: ContainerRuntime,
  {
    labels,
    isKept,
    graceMs,
  }: {
    readonly labels: Labels
    readonly isKept: (labels: Labels) => boolean
    /** @default that of each container */
    readonly graceMs?: number
  },
): Promise<readonly string[]> {
  const left: string[] = []
  const remove = async (name: string, calls: () => Promise<void>): Promise<void> => {
    try {
      await calls()
    } catch (error) {
      if (!isRuntimeError(error, 'NotFound'))
        left.push(`${name} (${error instanceof Error ? error.message : String(error)})`)
    }
  }
  const wanted = <T extends { readonly labels: Labels }>(found: readonly T[]): readonly T[] =>
    found.filter((one) => !isKept(one.labels))
  await Promise.all(
    wanted(await runtime.listContainers(labels)).map(({ id, name, state, labels: own }) =>
      remove(`container ${name}`, async () => {
        if (state !== 'exited' && state !== 'created')
          await runtime.stopContainer(id, {
            graceMs: graceMs ?? 1000 * (parseRunLabel(own)?.graceSeconds ?? graceSeconds),
          })
        await runtime.removeContainer(id)
      }),
    ),
  )
  for (const { name } of wanted(await runtime.listNetworks(labels)))
    await remove(`network ${name}`, () => runtime.removeNetwork(name))
  for (const { name } of wanted(await runtime.listVolumes(labels)))
    await remove(`volume ${name}`, () => runtime.removeVolume(name))
  return left
}

/** The file that says how the runtime is reached, while there may be something of ours in it. */
class RuntimeRecord {
  readonly #files: Files
  readonly #path: string
  #writing: Promise<void> | undefined
  endpoint = ''

  constructor({ files, path }: { readonly files: Files; readonly path: string }) {
    this.#files = files
    this.#path = path
  }

  /** Before anything is made. */
  write(): Promise<void> {
    this.#writing ??= this.#files.replaceText(this.#path, `${this.endpoint}\n`).catch((error: unknown) => {
      this.#writing = undefined
      throw error
    })
    return this.#writing
  }

  async isWritten(): Promise<boolean> {
    return this.#writing !== undefined || (await this.#files.findText(this.#path)) !== undefined
  }

  async remove(): Promise<void> {
    await this.#files.removeFile(this.#path)
    this.#writing = undefined
  }
}
