/**
 * `evenkeel down`: deletes what `evenkeel run` has applied, consumers before providers, and ends the run in the background.
 *
 *   objects of the inventory ─▶ deleted in order, each waited for until it is gone ─▶ SIGTERM to the run ─▶ it is gone
 *                                └ the time is over: SIGTERM twice, which kills everything
 *
 * A persistent process is ended as well, unless `--keep` leaves it: then the next run finds it.
 *
 * Invariant: no code of the working directory runs, and its `run.json` chooses a namespace only on the server of this directory.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { sleep } from 'evenkeel/unstable/base'
import type { StoppableNode } from '@evenkeel/workloads'
import type { Command, Invocation } from '../command.ts'
import { configFor } from '../connection.ts'
import { Failure } from '../failure.ts'
import { localKubeconfigPath } from '../local-folder.ts'
import { loadOwnWorkloads, type WorkloadsPackage } from '../modules.ts'
import { durationOf } from '../parse.ts'
import { forgetApplied, isOurs, readInventory, untilGone, type AppliedObject } from '../run/inventory.ts'
import { activeRun, copyNameOf, dataFolderOf, isAlive, type RunRecord } from '../run/run-record.ts'
import { workloadNamespace, workloadOptions } from '../run/workload-lookup.ts'

export const down: Command = {
  name: 'down',
  about: 'stop an application and remove its objects',
  options: {
    ...workloadOptions,
    keep: { type: 'boolean', about: 'leave persistent processes and their objects' },
    'shutdown-timeout': { type: 'string', value: 'TIME', about: 'kill what is left after this time (default: 30s)' },
  },
  details: 'Exit code 0: everything is gone, which was verified.',
  examples: ['evenkeel down', 'evenkeel down --keep', 'evenkeel down --copy blue'],
  async run(call) {
    const { values, io } = call
    const timeoutMs = durationOf('shutdown-timeout', values.text('shutdown-timeout') ?? '30s')
    const workloads = await loadOwnWorkloads({
      hint: 'npx evenkeel down: the command of the project; or npm install --global @evenkeel/workloads',
    })
    const active = await activeRun(dataFolderOf(values, io.cwd), workloads)
    const deletion = new Deletion(call, workloads)
    const { hasRemoved, hasKept } = await deletion.run({ timeoutMs, active })
    if (active) await endRun(active, { call, workloads, isLate: !hasRemoved })
    if (!call.json)
      io.stdout.write(hasRemoved ? `Everything ${hasKept ? 'else ' : ''}is gone.\n` : 'Killed what was left.\n')
    return hasRemoved ? 0 : 1
  },
}

interface DeletionOptions {
  readonly timeoutMs: number
  readonly active: RunRecord | undefined
}

interface DeletedNode extends StoppableNode {
  readonly object: KubeObject
}

interface Persisting {
  readonly spec?: { readonly lifetime?: string }
}

class Deletion {
  readonly #call: Invocation
  readonly #workloads: WorkloadsPackage

  constructor(call: Invocation, workloads: WorkloadsPackage) {
    this.#call = call
    this.#workloads = workloads
  }

  /** Whether everything was removed in time. @throws {Failure} `no-server`, when nothing runs */
  async run({
    timeoutMs,
    active,
  }: DeletionOptions): Promise<{ readonly hasRemoved: boolean; readonly hasKept: boolean }> {
    const { io } = this.#call
    const client = await this.#call.connect()
    const namespace = (await this.#recordedNamespace(active)) ?? workloadNamespace(this.#call, client)
    const limit = new AbortController()
    const cancel = io.clock.after(timeoutMs, () => {
      limit.abort(new Error('the time is over'))
    })
    const signal = AbortSignal.any([io.signal, limit.signal])
    try {
      const applied = await readInventory(client, { namespace, signal })
      const { nodes, kept } = await this.#nodes(client, applied, signal)
      await this.#workloads.stopInOrder(nodes, async ({ object }) => {
        await this.#remove(client, object, signal)
      })
      await forgetApplied(client, kept, { namespace, signal })
      for (const { kind, name } of kept) this.#print(kind, name, 'goes on: its lifetime is Persistent')
      return { hasRemoved: true, hasKept: kept.length > 0 }
    } catch (error) {
      if (!limit.signal.aborted || io.signal.aborted) throw error
      return { hasRemoved: false, hasKept: false }
    } finally {
      cancel()
    }
  }

  /** The namespace of a run, if commands go to its server. */
  async #recordedNamespace(active: RunRecord | undefined): Promise<string | undefined> {
    const { values, io } = this.#call
    if (!active) return undefined
    const { path } = await configFor(values, io)
    return path === localKubeconfigPath(io.cwd, copyNameOf(values)) ? active.namespace : undefined
  }

  async #nodes(
    client: Client,
    applied: readonly AppliedObject[],
    signal: AbortSignal,
  ): Promise<{ readonly nodes: readonly DeletedNode[]; readonly kept: readonly AppliedObject[] }> {
    const keepsPersistent = this.#call.values.flag('keep')
    const kept: AppliedObject[] = []
    const nodes: DeletedNode[] = []
    for (const one of applied) {
      const { apiVersion, kind, ...key } = one
      const found = await client.find({ apiVersion, kind }, key, { signal })
      if (!found || !isOurs(found as KubeObject)) continue
      const { spec } = found as Persisting
      const object = { ...found, apiVersion, kind } as KubeObject
      if (keepsPersistent && spec?.lifetime === 'Persistent') kept.push(one)
      else nodes.push({ object, key: this.#workloads.workloadKey(kind, one), providers: this.#providersOf(one, spec) })
    }
    return { nodes, kept }
  }

  #providersOf({ namespace }: AppliedObject, spec: Persisting['spec']): readonly string[] {
    return this.#workloads
      .dependenciesIn(spec)
      .flatMap(({ kind = 'Process', name }) =>
        name === undefined ? [] : this.#workloads.workloadKey(kind, { namespace, name }),
      )
  }

  /** Deletes an object and waits until it is gone. */
  async #remove(client: Client, object: KubeObject, signal: AbortSignal): Promise<void> {
    const { kind, metadata } = object
    const { name = '' } = metadata
    const begunMs = this.#call.io.clock.monotonic()
    await client.delete(object, { ignoreNotFound: true, signal })
    await untilGone(client, object, { signal, clock: this.#call.io.clock })
    this.#print(kind, name, `gone after ${Math.round(this.#call.io.clock.monotonic() - begunMs)} ms`)
  }

  #print(kind: string, name: string, text: string): void {
    const { io, json } = this.#call
    io.stdout.write(
      json ? `${JSON.stringify({ kind, name, message: text })}\n` : `${kind.toLowerCase()}/${name} ${text}\n`,
    )
  }
}

interface EndOptions {
  readonly call: Invocation
  readonly workloads: WorkloadsPackage
  /** The objects are not gone in time: a second signal kills everything. */
  readonly isLate: boolean
}

const lookMs = 20
/** Two signals that come together are one. */
const signalGapMs = 500
const endMs = 60_000

/** Ends the run in the background. @throws {Failure} `timeout` when it does not end */
async function endRun(active: RunRecord, { call, workloads, isLate }: EndOptions): Promise<void> {
  const { clock, signal } = call.io
  process.kill(active.pid, 'SIGTERM')
  if (isLate) {
    await sleep(clock, signalGapMs, { signal })
    if (isAlive(active, workloads)) process.kill(active.pid, 'SIGTERM')
  }
  const untilMs = clock.monotonic() + endMs
  while (isAlive(active, workloads)) {
    if (clock.monotonic() > untilMs)
      throw new Failure('timeout', `evenkeel run with pid ${active.pid} does not end`, {
        hint: `kill -9 ${active.pid}`,
      })
    await sleep(clock, lookMs, { signal })
  }
}
