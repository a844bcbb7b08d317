/**
 * Owner processes: a Process with `lifetime: Owner` runs only while another process of this machine does.
 *
 *   spec.owner           compared with                                        the Process
 *   pid and startTicks   the process with this pid, if it started then        runs while there is one
 *   pid alone            the process that had this pid at the first look      the same; status.ownerIdentity is what was seen
 *
 * A pid is given to another process after its owner has ended: that one has another start time and is not the owner. Only a parent
 * is told about an exit, so owners are looked for once a second, as long as a Process has one.
 *
 * Invariant: a Process whose owner is gone stays ended, whatever gets the pid, until its spec names another owner.
 */
import type { ReconcileContext } from 'evenkeel'
import type { Clock } from 'evenkeel/unstable/base'
import { formatIdentity, parseIdentity, type ProcessHost, type ProcessIdentity } from './process-host.ts'
import type { Process, ProcessObject } from './process-kind.ts'
import type { RunOwner } from './runs.ts'

interface OwnerWatchOptions {
  readonly host: Pick<ProcessHost, 'findProcess' | 'listProcesses' | 'findBootId'>
  readonly clock: Clock
  /** An owner has ended. */
  readonly onChange: (owner: RunOwner, note: string) => void
}

const lookMs = 1000

export class OwnerWatch {
  readonly #options: OwnerWatchOptions
  /** By the uid of the object. */
  readonly #watched = new Map<string, { readonly object: RunOwner; readonly identity: ProcessIdentity }>()
  #stopLooking: (() => void) | undefined

  constructor(options: OwnerWatchOptions) {
    this.#options = options
  }

  /** Why a Process must not run; undefined without an owner, or while it is alive. */
  async look(process: ProcessObject, status: ReconcileContext<typeof Process>['status']): Promise<string | undefined> {
    const { metadata, spec } = process
    const { uid, name, namespace = 'default' } = metadata
    this.forget(uid)
    if (spec.lifetime !== 'Owner' || !spec.owner) {
      status.set({ ownerIdentity: undefined })
      return undefined
    }
    const { pid } = spec.owner
    const identity = await this.#identityOf(process)
    status.set({ ownerIdentity: identity ? formatIdentity(identity) : `${pid}-gone` })
    if (!identity || !(await this.#isAlive(identity)))
      return `its owner, process ${pid}, is gone: it has ended, or another process has its pid now`
    this.#watched.set(uid, { object: { uid, name, namespace }, identity })
    this.#lookLater()
    return undefined
  }

  forget(uid: string): void {
    this.#watched.delete(uid)
  }

  close(): void {
    this.#watched.clear()
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  async #identityOf({ spec, status }: ProcessObject): Promise<ProcessIdentity | undefined> {
    const { host } = this.#options
    const { pid = 0, startTicks } = spec.owner ?? {}
    const bootId = await host.findBootId()
    if (startTicks !== undefined) return { pid, startTicks, bootId }
    if (status?.ownerIdentity?.startsWith(`${pid}-`) === true) return parseIdentity(status.ownerIdentity)
    const found = (await host.listProcesses(0)).find((one) => one.pid === pid)
    return found && { pid, startTicks: found.startTicks, bootId }
  }

  async #isAlive(identity: ProcessIdentity): Promise<boolean> {
    const { host } = this.#options
    return identity.bootId === (await host.findBootId()) && (await host.findProcess(identity)) !== undefined
  }

  #lookLater(): void {
    this.#stopLooking ??= this.#options.clock.after(lookMs, () => {
      this.#stopLooking = undefined
      void this.#lookAtAll()
    })
  }

  async #lookAtAll(): Promise<void> {
    for (const [uid, { object, identity }] of [...this.#watched]) {
      // A look that fails is repeated with the next one.
      const isAlive = await this.#isAlive(identity).catch(() => true)
      if (isAlive || this.#watched.get(uid)?.identity !== identity) continue
      this.#watched.delete(uid)
      this.#options.onChange(object, `its owner, process ${identity.pid}, is gone`)
    }
    if (this.#watched.size > 0) this.#lookLater()
  }
}
