/**
 * One run of a manager: starts everything in order, and stops it in the opposite order.
 *
 *   events ─▶ endpoints ─▶ webhooks ─▶ caches ─▶ runnables of every replica ─▶ warm-up (controllers watch) ─▶ election
 *                                                                         leader: controllers reconcile, leader runnables
 *
 * Webhooks start before the caches, because the first list may need a conversion webhook. Controllers watch on every
 * replica and reconcile on the leader, so a standby takes over at once. When the lease is lost they stop reconciling and
 * keep watching.
 *
 * Invariants: a task uses only tasks that started before it, so nothing loses what it needs while it runs; the work of
 * the leader ends before the lease is released; the first failure stops everything, and `run` rejects with it.
 */
import {
  deadline as startDeadline,
  deferred,
  LightAbortController,
  nativeSignal,
  onAbort,
  type Clock,
  type Logger,
} from '#base'
import { lowPriority, RunAborted, type Controller } from '#controller'
import { runWebhookListener } from '#webhook'
import type { Cluster } from './cluster.ts'
import { LeaseLostError, makeElection, type LeaderElection } from './election/leader-election.ts'
import { endpointTask } from './endpoints.ts'
import type { EventRecorder } from './event-recorder.ts'
import { activeRuns, type HealthChecks } from './health.ts'
import type { ManagerOptions, RunFunction, WebhookSettings } from './manager.ts'
import { RunGroup, stopGroups, type Task } from './run-group.ts'
import { watchdogTask } from './watchdog.ts'

export interface RunnableEntry {
  readonly name: string
  readonly needsLeader: boolean
  readonly run: RunFunction
}

/** What to run; controllers, runnables and recorders may be added later. */
interface ManagerRunOptions {
  readonly cluster: Cluster
  readonly options: ManagerOptions
  readonly runnables: readonly RunnableEntry[]
  readonly recorders: ReadonlyMap<string, EventRecorder>
  readonly checks: () => HealthChecks
  readonly describe: () => object
}

const groupNames = ['events', 'endpoints', 'webhooks', 'caches', 'replica', 'warm-up', 'leader'] as const
type GroupName = (typeof groupNames)[number]

/** After this time the election starts with unsynced caches: a missing kind must not block the other controllers. */
const warmUpMs = 10_000

export class ManagerRun {
  readonly #options: ManagerRunOptions
  readonly #groups: Readonly<Record<GroupName, RunGroup>>
  readonly #stopping = new LightAbortController()
  readonly #forcing = new LightAbortController()
  #started = new Set<GroupName>()
  #failure: { readonly error: unknown } | undefined
  #term: RunGroup | undefined
  #terms = 0
  #election: LeaderElection | undefined

  constructor(options: ManagerRunOptions) {
    this.#options = options
    const { log } = options.cluster
    const onFailure = (error: unknown, task: string): void => {
      log.error('task failed: stopping the manager', { task, error })
      this.#failure ??= { error }
      this.#stopping.abort(error)
    }
    this.#groups = Object.fromEntries(
      groupNames.map((name) => [name, new RunGroup(name, { log, onFailure })]),
    ) as Record<GroupName, RunGroup>
  }

  get election(): LeaderElection | undefined {
    return this.#election
  }

  /** @throws what failed first, or a {@link GraceExceededError}. */
  async run(signal: AbortSignal): Promise<void> {
    const {
      cluster: { clock, log },
      options: { gracePeriodMs = 30_000 },
    } = this.#options
    const stopListening = onAbort(signal, (reason) => {
      this.#stopping.abort(reason)
    })
    await this.#startAll()
    await new Promise<void>((resolve) => {
      onAbort(this.#stopping.signal, () => {
        resolve()
      })
    })
    stopListening()
    log.info('stopping')
    const exceeded = await stopGroups(groupNames.map((name) => this.#groups[name]).reverse(), {
      reason: this.#stopping.signal.reason,
      graceMs: gracePeriodMs,
      clock,
      onGraceOver: () => {
        this.#forcing.abort()
      },
    })
    if (exceeded) log.error('some tasks did not stop in time', { graceMs: gracePeriodMs, tasks: exceeded.tasks })
    if (this.#failure) throw this.#failure.error
    if (exceeded) throw exceeded
    log.info('stopped')
  }

  // Additions while it runs

  addRunnable(entry: RunnableEntry): void {
    if (entry.needsLeader) void this.#term?.start(this.#runnableTask(entry))
    else if (this.#started.has('replica')) void this.#groups.replica.start(this.#runnableTask(entry))
  }

  addController(controller: Controller, { needsLeader }: { needsLeader: boolean }): void {
    const group = needsLeader ? 'warm-up' : 'replica'
    if (!this.#started.has(group)) return
    void this.#groups[group].start(needsLeader ? this.#watchTask(controller) : this.#replicaTask(controller))
    if (needsLeader) void this.#term?.start(this.#workTask(controller))
  }

  addRecorder(name: string, recorder: EventRecorder): void {
    if (this.#started.has('events')) void this.#groups.events.start(recorderTask(name, recorder))
  }

  // Starting

  async #startAll(): Promise<void> {
    const {
      cluster,
      runnables,
      recorders,
      options: { webhooks, watchdog: isWatched = true },
    } = this.#options
    const { clock, log, ledger } = cluster
    const watchdog = watchdogTask({
      clock,
      log,
      ledger,
      controllers: () => [...cluster.replicaControllers, ...cluster.leaderControllers],
    })
    await this.#start(
      'events',
      [...(isWatched ? [watchdog] : []), ...[...recorders].map(([name, recorder]) => recorderTask(name, recorder))],
      { waits: false },
    )
    await this.#start('endpoints', this.#endpointTasks())
    await this.#start('webhooks', webhooks ? [webhookTask(webhooks, { clock, log })] : [])
    await this.#start('caches', [this.#cacheTask()])
    const replicaTasks = [
      ...runnables.filter(({ needsLeader }) => !needsLeader).map((entry) => this.#runnableTask(entry)),
      ...[...cluster.replicaControllers].map((controller) => this.#replicaTask(controller)),
    ]
    await this.#start('replica', replicaTasks, { waits: false })
    await this.#start(
      'warm-up',
      [...cluster.leaderControllers].map((controller) => this.#watchTask(controller)),
      { waits: false },
    )
    if (cluster.election !== false) await this.#warmUp()
    await this.#start('leader', [this.#leaderTask()], { waits: false })
  }

  async #start(group: GroupName, tasks: readonly Task[], { waits = true }: { waits?: boolean } = {}): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#started.add(group)
    const ready = tasks.map((task) => this.#groups[group].start(task))
    if (waits) await Promise.all(ready)
  }

  async #warmUp(): Promise<void> {
    const {
      cluster: { clock, leaderControllers, log },
    } = this.#options
    const limit = startDeadline(clock, warmUpMs, { signal: this.#stopping.signal })
    try {
      await Promise.all(
        [...leaderControllers].map((controller) => controller.waitForSync({ signal: limit.lightSignal })),
      )
    } catch {
      if (!this.#stopping.signal.aborted) log.warn('caches did not sync in time: starting leader election anyway')
    }
    limit.done()
  }

  // Leading

  #leaderTask(): Task {
    const { cluster, options } = this.#options
    const describe = (): string => this.#term?.running.join(', ') || 'leader election'
    const lead = (signal: AbortSignal): Promise<void> => this.#lead(signal)
    if (cluster.election === false) return { name: 'leader', describe, run: lead }
    const election = (this.#election = makeElection({
      ...cluster,
      name: options.name,
      settings: cluster.election,
      lead,
      giveUp: this.#forcing.signal,
    }))
    return { name: 'leader election', describe, run: (signal) => election.run(signal) }
  }

  /** One term as the leader: runs until the signal aborts, and resolves when all its tasks have ended. */
  async #lead(signal: AbortSignal): Promise<void> {
    const {
      cluster: { leaderControllers, log },
      runnables,
    } = this.#options
    const over = deferred<void>()
    this.#terms++
    let failure: { readonly error: unknown } | undefined
    const onFailure = (error: unknown): void => {
      failure ??= { error }
      over.resolve()
    }
    const term = (this.#term = new RunGroup('leader', { log, onFailure }))
    for (const controller of leaderControllers) void term.start(this.#workTask(controller))
    for (const entry of runnables) if (entry.needsLeader) void term.start(this.#runnableTask(entry))
    const stopListening = onAbort(signal, () => {
      over.resolve()
    })
    await over.promise
    stopListening()
    await term.stop(
      signal.reason instanceof LeaseLostError
        ? new RunAborted('lease-lost', { cause: signal.reason })
        : (failure?.error ?? signal.reason),
    )
    this.#term = undefined
    if (failure) throw failure.error
  }

  // Tasks

  #endpointTasks(): Task[] {
    const {
      cluster: { clock, log, metrics },
      options: { endpoints = false, rules },
      checks,
      describe,
    } = this.#options
    return endpoints === false ? [] : [endpointTask(endpoints, { clock, log, metrics, checks, describe, rules })]
  }

  #cacheTask(): Task {
    const {
      cluster: { cache, clock, log },
      options: { cacheSyncMs = 120_000 },
    } = this.#options
    // A stop must not wait for a server that does not answer.
    const stopping = this.#stopping.signal
    return {
      name: 'caches',
      async run(signal, ready) {
        const running = cache.run(signal)
        const limit = startDeadline(clock, cacheSyncMs, { signal: stopping })
        await cache.waitForSync({ signal: limit.lightSignal }).catch((error: unknown) => {
          if (!stopping.aborted) log.error('caches did not sync in time: continuing with partial data', { error })
        })
        limit.done()
        ready()
        await running
      },
    }
  }

  #runnableTask({ name, needsLeader, run }: RunnableEntry): Task {
    const { cache, client, leaderClient } = this.#options.cluster
    return { name, run: (signal) => run(nativeSignal(signal), { cache, client: needsLeader ? leaderClient : client }) }
  }

  #replicaTask(controller: Controller): Task {
    return { ...this.#named(controller), run: (signal) => controller.run(signal) }
  }

  #watchTask(controller: Controller): Task {
    return {
      name: `sources of controller ${controller.name}`,
      async run(signal) {
        await controller.watch(signal)
        await controller.stop()
      },
    }
  }

  #workTask(controller: Controller): Task {
    // The requeue times of the previous leader are not known here. In the first term everything is in the queue anyway.
    const isLaterTerm = this.#terms > 1
    return {
      ...this.#named(controller),
      async run(signal) {
        const working = controller.work(signal)
        if (isLaterTerm)
          controller
            .waitForSync({ signal })
            .then(() => {
              controller.reconcileAll({ priority: lowPriority, note: 'became leader again' })
            })
            .catch(() => undefined)
        await working
      },
    }
  }

  #named({ name }: Controller): Pick<Task, 'name' | 'describe'> {
    const { ledger } = this.#options.cluster
    return { name: `controller ${name}`, describe: () => activeRuns(name, ledger) }
  }
}

function recorderTask(name: string, recorder: EventRecorder): Task {
  return { name: `events of ${name}`, run: (signal) => recorder.run(signal) }
}

/** The webhook listener of one manager, or of several; ready when it listens. */
export function webhookTask(
  { webhooks, onListening, ...listener }: WebhookSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Task {
  return {
    name: 'webhooks',
    run: (signal, ready) =>
      runWebhookListener(signal, {
        ...listener,
        transport: webhooks.transport,
        clock,
        log,
        onListening(url) {
          log.info('serving webhooks', { url })
          onListening?.(url)
          ready()
        },
      }),
  }
}
