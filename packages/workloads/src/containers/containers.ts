/**
 * Containers as parts of a program: three controllers, what ends with the program, and what an earlier one left.
 *
 *   first create ──▶ FOLDER/containers says how the runtime is reached ──▶ the watchdog can remove what is ours
 *   the program stops ──▶ containers, networks, volumes of the session go, but those that are persistent ──▶ the file goes
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
import { ContainerController } from './container-controller.ts'
import { Container, ContainerNetwork, ContainerVolume, type ContainerObject } from './container-kind.ts'
import { labelOf, parseRunLabel } from './container-labels.ts'
import { logOfContainer, type ContainerLogOptions } from './container-log.ts'
import { isRuntimeError, type ContainerRuntime, type Labels } from './container-runtime.ts'
import { NetworkController } from './network-controller.ts'
import type { FoundRuntime } from './os-runtime.ts'
import { RuntimeMonitor } from './runtime-monitor.ts'
import { VolumeController } from './volume-controller.ts'

interface ContainersOptions {
  readonly session: Session
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
  /** Removes everything that does not outlive this program. @throws with the names of what could not be removed */
  close(): Promise<void>
  /** The log of the last run of a Container. */
  log(object: ContainerObject, options?: ContainerLogOptions): AsyncIterable<Uint8Array>
  /** The runtime: the one that is used, or the first that answers. @throws a RuntimeError `Unavailable` */
  findRuntime(): Promise<ContainerRuntime>
}

const graceSeconds = 10

export function containers(options: ContainersOptions): Containers {
  const { session, ports, files, checks, clock, cwd, folder, log } = options
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
  const controller = new ContainerController({ ...shared, ports, files, checks, clock, cwd })
  const findRuntime = async (): Promise<ContainerRuntime> =>
    monitor.live?.runtime ?? (await options.findRuntime()).runtime
  const ofSession = (): Labels => ({ [labelOf.session]: session.name, [labelOf.lifetime]: 'session' })
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
      await removeAll(runtime, { labels: ofSession(), isKept: (labels) => uids.has(labels[labelOf.uid] ?? '') })
    },
    async close() {
      const live = monitor.live?.runtime
      controller.close()
      monitor.close()
      if (!(await record.isWritten())) return
      const runtime = live ?? (await findRuntime())
      const left = await removeAll(runtime, { labels: ofSession(), isKept: () => false })
      if (left.length > 0) throw new Error(`these could not be removed from the container runtime: ${left.join(', ')}`)
      await record.remove()
    },
    log: (object, query) => logOfContainer(object, { ...query, findRuntime }),
    findRuntime,
  }
}

/** Stops and removes what has these labels. Returns the names of what is left. */
async function removeAll(
  runtime: ContainerRuntime,
  { labels, isKept }: { readonly labels: Labels; readonly isKept: (labels: Labels) => boolean },
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
          await runtime.stopContainer(id, { graceMs: 1000 * (parseRunLabel(own)?.graceSeconds ?? graceSeconds) })
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
