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
import { labelOf } from './container-labels.ts'
import { logOfContainer, type ContainerLogOptions } from './container-log.ts'
import { ContainerRunner } from './container-runner.ts'
import type { ContainerRuntime } from './container-runtime.ts'
import { findRunning, withinHurry, type EndingContainer } from './container-shutdown.ts'
import { NetworkController } from './network-controller.ts'
import type { FoundRuntime } from './os-runtime.ts'
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

export function containers(options: ContainersOptions): Containers {
  const parts = partsOf(options)
  const { runner, controller, shared } = parts
  return {
    controllers: [
      new NetworkController(shared).declaration(),
      new VolumeController(shared).declaration(),
      controller.declaration(),
    ],
    async endLeftovers(client, { signal }) {
      if (!(await runner.isUsed())) return
      const lists = await Promise.all(
        [Container, ContainerNetwork, ContainerVolume].map((kind) => client.list(kind, { signal })),
      )
      const uids = new Set(lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid ?? '')))
      await runner.removeAll({ isKept: (labels) => uids.has(labels[labelOf.uid] ?? '') })
    },
    findRunning: ({ hurry }) => withinHurry(findEnding(parts), { ...options, hurry }).catch(() => []),
    close({ hurry } = {}) {
      controller.close()
      return withinHurry(runner.close(), { ...options, hurry })
    },
    log: (object, query) => logOfContainer(object, { ...query, findRuntime: () => runner.findRuntime() }),
    findRuntime: () => runner.findRuntime(),
  }
}

/** The controllers, and what they share. */
function partsOf(options: ContainersOptions) {
  const runner = new ContainerRunner(options)
  const { monitor } = runner
  const shared = { session: options.session, monitor, beforeCreate: () => runner.beforeCreate() }
  const controller = new ContainerController({ ...options, ...shared })
  return { ...options, runner, shared, controller }
}

type Parts = ReturnType<typeof partsOf>

/** The containers that run, when the last start is over. */
async function findEnding(parts: Parts): Promise<readonly EndingContainer[]> {
  const { session, clock, runner, controller } = parts
  await controller.settled()
  if (!runner.monitor.live && !(await runner.isUsed())) return []
  const onEnd = (uid: string): void => {
    controller.noteClosing(uid)
  }
  return findRunning(session.name, { runtime: await runner.findRuntime(), clock, onEnd })
}
