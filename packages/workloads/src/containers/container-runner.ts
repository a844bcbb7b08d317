/**
 * What runs containers, without our kinds: for controllers of any group. Container and its controllers use it like others.
 *
 *   controller ──▶ ContainerRunner ──▶ monitor   the runtime while it answers, and what happens in it
 *                          ├─────────▶ record    FOLDER/containers: how the watchdog reaches the runtime after `kill -9`
 *                          └─────────▶ labels    what is of this session, and ends with it
 *
 * Invariants: the record is written before anything is made that ends with the session, and goes when all of that is gone; what
 * has not the label of the session is never removed; after `close` nothing is made.
 */
import type { Clock, Logger } from 'evenkeel/unstable/base'
import type { Files } from '../files.ts'
import type { Lifetime } from '../journal.ts'
import type { RunOwner } from '../runs.ts'
import type { Session } from '../session.ts'
import { labelOf, ownerLabels, parseRunLabel } from './container-labels.ts'
import { isRuntimeError, RuntimeError, type ContainerRuntime, type Labels } from './container-runtime.ts'
import type { FoundRuntime } from './os-runtime.ts'
import { RuntimeMonitor } from './runtime-monitor.ts'

export interface ContainerRunnerOptions {
  readonly session: Session
  /** Of the session file; an absolute path. */
  readonly folder: string
  readonly files: Files
  readonly clock: Clock
  /** @throws a RuntimeError `Unavailable` */
  readonly findRuntime: () => Promise<FoundRuntime>
  /** @default none */
  readonly log?: Logger
}

interface Removal {
  /** What stays. @default nothing */
  readonly isKept?: (labels: Labels) => boolean
  /** @default that of each container */
  readonly graceMs?: number
}

const graceSeconds = 10

/**
 * Runs containers for controllers of any kind. One program has one.
 *
 * @example
 * const boxes = new ContainerRunner({ session, folder, files, clock, findRuntime: () => findRuntime({ env, clock }) })
 * const live = await boxes.monitor.acquire(owner, onChange)
 * // … the controllers run …
 * await boxes.close()
 */
export class ContainerRunner {
  readonly monitor: RuntimeMonitor
  readonly #options: ContainerRunnerOptions
  readonly #record: RuntimeRecord
  readonly #underway = new Set<Promise<void>>()
  #isClosing = false

  constructor(options: ContainerRunnerOptions) {
    const { clock, files, folder, log } = options
    this.#options = options
    this.#record = new RuntimeRecord({ files, path: `${folder}/containers` })
    this.monitor = new RuntimeMonitor({
      clock,
      ...(log && { log }),
      findRuntime: async () => {
        const { runtime, endpoint } = await options.findRuntime()
        this.#record.endpoint = endpoint
        return runtime
      },
    })
  }

  /** Before the first thing is made that ends with this program. */
  beforeCreate(): Promise<void> {
    return this.#record.write()
  }

  /** Makes something in the runtime, unless the program ends: the end waits for it. */
  async make(call: () => Promise<void>): Promise<void> {
    if (this.#isClosing) throw new RuntimeError('Failed', 'the program is stopping: nothing is made any more')
    const making = this.beforeCreate().then(call)
    this.#underway.add(making)
    try {
      await making
    } finally {
      this.#underway.delete(making)
    }
  }

  /** By these something is ours. */
  labelsFor(owner: RunOwner, lifetime: Lifetime): Labels {
    return ownerLabels(owner, { session: this.#options.session.name, lifetime })
  }

  /** What is made for one object has this label. */
  labelOfObject({ uid }: Pick<RunOwner, 'uid'>): Labels {
    return { [labelOf.uid]: uid }
  }

  isMadeFor({ uid }: Pick<RunOwner, 'uid'>, labels: Labels): boolean {
    return labels[labelOf.uid] === uid
  }

  /** Whether there may be something of this session in a runtime. */
  isUsed(): Promise<boolean> {
    return this.#record.isWritten()
  }

  /** The runtime that is used, or the first that answers. @throws a RuntimeError `Unavailable` */
  async findRuntime(): Promise<ContainerRuntime> {
    return this.monitor.live?.runtime ?? (await this.#options.findRuntime()).runtime
  }

  /** Stops and removes what ends with this session. Returns the names of what is left. */
  async removeAll(removal: Removal = {}, runtime?: ContainerRuntime): Promise<readonly string[]> {
    const labels = { [labelOf.session]: this.#options.session.name, [labelOf.lifetime]: 'session' }
    return removeAll(runtime ?? (await this.findRuntime()), { ...removal, labels })
  }

  /** Removes everything that ends with this session; what still runs has had its time. @throws with the names of what could not be removed */
  async close(): Promise<void> {
    const live = this.monitor.live?.runtime
    this.#isClosing = true
    this.monitor.close()
    await Promise.allSettled(this.#underway)
    if (!(await this.isUsed())) return
    const left = await this.removeAll({ graceMs: 0 }, live)
    if (left.length > 0) throw new Error(`these could not be removed from the container runtime: ${left.join(', ')}`)
    await this.#record.remove()
  }
}

async function removeAll(
  runtime: ContainerRuntime,
  { labels, isKept = () => false, graceMs }: Removal & { readonly labels: Labels },
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
