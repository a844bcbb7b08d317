/**
 * The same program on several clusters: one manager for each, with one lifecycle.
 *
 * Each cluster has its own connection, cache, lease and ledger. Its name is part of every key and every metric, so the
 * objects of two clusters are never confused. Each cluster elects its own leader. Endpoints and webhooks are served once
 * for all clusters.
 *
 * Invariant: when one manager fails, all stop, and `run` rejects with that failure.
 */
import type { Kind } from '#api'
import { Metrics, onAbort, silentLogger, SystemClock } from '#base'
import type { Controller, ControllerDeclaration } from '#controller'
import type { ClusterSource } from './cluster.ts'
import { endpointTask } from './endpoints.ts'
import type { EventContext } from './event-recorder.ts'
import type { HealthChecks } from './health.ts'
import { webhookTask } from './manager-run.ts'
import { Manager, type ManagerOptions } from './manager.ts'
import { RunGroup } from './run-group.ts'

export interface ClusterManagersOptions extends Omit<ManagerOptions, 'transport' | 'config' | 'host' | 'cluster'> {
  /** How to reach each cluster, by a name that becomes part of its keys. */
  readonly clusters: Readonly<Record<string, ClusterSource>>
}

export class ClusterManagers {
  readonly #options: ClusterManagersOptions
  readonly #metrics: Metrics
  readonly #managers = new Map<string, Manager>()

  constructor(options: ClusterManagersOptions) {
    const {
      clusters,
      endpoints: _,
      webhooks: _webhooks,
      log = silentLogger,
      metrics = new Metrics(),
      ...rest
    } = options
    if (Object.keys(clusters).length === 0) throw new RangeError('ClusterManagers needs at least one cluster')
    this.#options = options
    this.#metrics = metrics
    for (const [cluster, source] of Object.entries(clusters)) {
      this.#managers.set(
        cluster,
        new Manager({
          ...rest,
          ...source,
          cluster,
          metrics: metrics.labelled({ cluster }),
          log: log.child({ cluster }),
        }),
      )
    }
  }

  /** The managers, by cluster name. */
  get managers(): ReadonlyMap<string, Manager> {
    return this.#managers
  }

  /** Adds a controller on every cluster. */
  addController<K extends Kind, Extra extends object = EventContext>(
    declaration: ControllerDeclaration<K, Extra>,
  ): readonly Controller[] {
    return [...this.#managers.values()].map((manager) => manager.addController(declaration))
  }

  /** Runs all managers until the signal aborts; resolves when all have stopped. @throws the first failure. */
  async run(signal: AbortSignal): Promise<void> {
    const { endpoints = false, webhooks, clock = new SystemClock(), log = silentLogger } = this.#options
    const stopping = new AbortController()
    let failure: { readonly error: unknown } | undefined
    const onFailure = (error: unknown): void => {
      failure ??= { error }
      stopping.abort(error)
    }
    const servers = new RunGroup('servers', { log, onFailure })
    const managers = new RunGroup('clusters', { log, onFailure })
    const stopListening = onAbort(signal, (reason) => {
      stopping.abort(reason)
    })
    if (endpoints !== false)
      await servers.start(
        endpointTask(endpoints, {
          clock,
          log,
          metrics: this.#metrics,
          checks: () => this.#checks(),
          describe: () => this.#describe(),
        }),
      )
    if (webhooks) await servers.start(webhookTask(webhooks, { clock, log }))
    if (!stopping.signal.aborted)
      for (const [name, manager] of this.#managers)
        void managers.start({
          name: `cluster ${name}`,
          run: (each) =>
            manager.run(each).catch((error: unknown) => {
              onFailure(error)
            }),
        })
    await new Promise<void>((resolve) => {
      onAbort(stopping.signal, () => {
        resolve()
      })
    })
    stopListening()
    await managers.stop(stopping.signal.reason)
    await servers.stop(stopping.signal.reason)
    if (failure) throw failure.error
  }

  #checks(): HealthChecks {
    const all = [...this.#managers].map(([cluster, { checks }]) => ({ cluster, checks }))
    const named = (which: keyof HealthChecks): HealthChecks['live'] =>
      all.flatMap(({ cluster, checks }) =>
        checks[which].map((check) => ({ ...check, name: `${cluster}-${check.name}` })),
      )
    return { live: named('live'), ready: named('ready') }
  }

  #describe(): object {
    return Object.fromEntries([...this.#managers].map(([cluster, manager]) => [cluster, manager.describe()]))
  }
}
