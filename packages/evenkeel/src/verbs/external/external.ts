/**
 * `external`: syncs objects with resources of another system, in both directions.
 *
 *   object ──▶ finalizer ──▶ intent ──▶ create, update, delete ──▶ observe ──▶ status
 *   external system ──▶ sweep, watch, poll ──▶ reconcile of single objects
 *
 * The author writes a driver and declares the capabilities of the system. Guarantees: finalizer and intent are durable
 * before a create call; there is at most one resource for each UID, or the verb stops and asks; no resource is changed
 * or deleted unless ownership is proven; a deletion is complete only when it was observed; while a dependency that comes
 * before the verb is not ready, nothing is created or changed.
 */
import type { KubeObject } from '#api'
import {
  PerRun,
  StopReconcile,
  type BaseContext,
  type ClosedGate,
  type ControllerDeclaration,
  type Extension,
  type PluginRun,
  type Reconciled,
  type Verb,
  type VerbParts,
  type WatchDeclaration,
} from '#controller'
import { callsOf } from './calls.ts'
import { checkDriver, chooseStrategy, describeStrategy, isStored, type Driver, type ExternalObject } from './driver.ts'
import { ExternalRef, isRefOf, type ExternalRefObject } from './external-ref.ts'
import { ExternalSweep, sweepName } from './external-sweep.ts'
import { deleteResource } from './lifecycle.ts'
import { needsFrom, peekNeeds, resolveNeeds, type Needs, type NeedsOf, type NeedVerbs } from './needs.ts'
import { settingsOf, type ExternalOptions, type ExternalSettings } from './policy.ts'
import { RecordStores } from './record-store.ts'
import { hasExternalStatus, type OwnedRecord } from './record.ts'
import { ExternalSession, ObservationCache, type ExternalEnvironment } from './session.ts'
import { ExternalSource } from './source.ts'
import { afterFailure, reportNotSynced, setConditions } from './status.ts'
import { sweep } from './sweep.ts'
import { syncResource, type SyncResult } from './sync.ts'

/** The resource of an object, as last observed. */
interface ExternalResource<Observed> {
  readonly id: string
  readonly observed: Observed
  readonly isReady: boolean
}

interface ExternalVerb<Observed = unknown> extends Verb {
  /**
   * Syncs the resource of this run's object, once per run, and returns it.
   *
   * @throws {StopReconcile} while it is not in sync: the reconcile ends there, and the status says why.
   */
  sync(context: Pick<BaseContext, 'signal'>): Promise<ExternalResource<Observed>>
}

/**
 * Declares that each object has an external resource: a bucket, a DNS record, a repository. The driver says how to
 * observe, create, update and remove one; ownership, finalizer, drift, leaks and status follow.
 *
 * @example
 * const bucket = external(buckets, { instance: 'team-a' })
 * const controllers = [defineController({ for: Bucket, verbs: [bucket] })]
 * await run({ controllers })
 *
 * @throws {RangeError} for capabilities that contradict the driver, and for options that exclude each other.
 */
export function external<T extends KubeObject, Desired, Observed, N extends NeedVerbs = Record<never, never>>(
  driver: Driver<T, Desired, Observed, NeedsOf<N>>,
  options: ExternalOptions<T, N>,
): ExternalVerb<Observed> {
  const { needs, ...rest } = options
  checkDriver(driver as unknown as Driver)
  const settings = { ...settingsOf(rest), needs: needsFrom(driver.name, needs) }
  return new External(driver as unknown as Driver, settings) as unknown as ExternalVerb<Observed>
}

/** The verb in one controller. */
interface ExternalWiring {
  readonly environment: ExternalEnvironment
  readonly stores: RecordStores
  readonly source: ExternalSource
}

/** One run of the verb. */
interface ExternalRun extends ExternalWiring {
  readonly base: BaseContext
  readonly run: PluginRun
  /** A dependency before this verb that is not ready. */
  closed?: ClosedGate | undefined
  synced?: Promise<SyncResult>
}

class External implements ExternalVerb {
  readonly name: string
  readonly kinds: Verb['kinds'] & object
  readonly needs: readonly Verb[]
  readonly #driver: Driver
  readonly #settings: ExternalSettings & { readonly needs: Needs }
  readonly #runs: PerRun<ExternalRun>
  readonly #bySource = new WeakMap<object, ExternalWiring>()

  constructor(driver: Driver, settings: ExternalSettings & { readonly needs: Needs }) {
    this.name = `external ${driver.name}`
    this.needs = [...settings.needs.values()]
    this.#driver = driver
    this.#settings = settings
    this.#runs = new PerRun(this.name)
    this.kinds = [...(settings.checkpoint ? [] : [ExternalRef]), ...(driver.list ? [ExternalSweep] : [])]
  }

  adds(declaration: ControllerDeclaration): VerbParts {
    const { for: kind } = declaration
    const [driver, settings] = [this.#driver, this.#settings]
    if (settings.scope !== undefined && !driver.list)
      throw new RangeError(`driver ${driver.name}: use: 'exclusive' needs the function list`)
    const hasStatus = hasExternalStatus(kind)
    const strategy = strategyFor(driver, settings, hasStatus)
    const stores = new RecordStores({ driver, kind, strategy, settings, hasStatus })
    const environment: ExternalEnvironment = {
      driver,
      kind,
      strategy,
      settings,
      calls: callsOf(driver),
      observations: new ObservationCache(),
      identity: { instance: settings.instance, kind, secret: settings.secret },
      hasStatus,
    }
    const source = new ExternalSource({
      environment,
      sweepKey: sweepKeyFor(declaration, driver),
      leftoverKeys: () => stores.leftoverKeys(),
    })
    const wiring: ExternalWiring = { environment, stores, source }
    this.#bySource.set(source, wiring)
    return {
      sources: [source],
      watches: watchesFor(wiring),
      rbac: rulesFor(wiring),
      cleanup: [
        {
          finalizer: `external.evenkeel.dev/${driver.name}`,
          cleanup: (object, context) => this.#cleanUp(object as ExternalObject<KubeObject>, context),
        },
      ],
    }
  }

  extend(base: BaseContext, run: PluginRun): Extension<object> {
    const wiring = this.#wiringOf(run)
    const running = this.#runs.set(base, { ...wiring, base, run })
    const { manual } = this.#settings
    if (run.isCleanup || !run.object) return { context: {} }
    return {
      context: {},
      start: async ({ closed }) => {
        running.closed = closed
        if (manual) return undefined
        const { isSynced, result } = await this.#sync(running)
        return isSynced ? undefined : (result ?? untilChange)
      },
      ...(!manual && { finish: async () => (await this.#sync(running)).result }),
    }
  }

  async sync(context: Pick<BaseContext, 'signal'>): Promise<ExternalResource<unknown>> {
    const { observation, isSynced, isReady, result } = await this.#sync(this.#runs.get(context))
    if (!observation || !isSynced)
      throw new StopReconcile(`${this.name} is not in sync yet`, { result: result ?? untilChange })
    return { id: observation.id, observed: observation.observed, isReady }
  }

  /** Runs without an object: the sweep, under a key that no object has, and leftover records. */
  async absent(base: BaseContext, run: PluginRun): Promise<Reconciled> {
    const wiring = this.#wiringOf(run)
    const { environment, stores, source } = wiring
    const { name, namespace } = base.key
    if (name === source.sweepKey.name) {
      base.log.debug('sweeping external resources', {
        system: environment.driver.name,
        strategy: environment.strategy,
        description: describeStrategy(environment.strategy),
      })
      return await sweep({
        environment,
        base,
        run,
        enqueue: (key, note) => {
          source.enqueue(key, note)
        },
        records: (objects) => stores.all(objects, base),
        needsOf: (object) => peekNeeds(this.#settings.needs, object, run),
        onMissed: (count) => {
          source.countMissed(count)
        },
      })
    }
    return await this.#finishLeftovers(
      { ...wiring, base, run },
      { name, ...(namespace !== undefined && { namespace }) },
    )
  }

  async #sync(running: ExternalRun): Promise<SyncResult> {
    running.synced ??= this.#syncOnce(running)
    return await running.synced
  }

  async #syncOnce(running: ExternalRun): Promise<SyncResult> {
    const {
      environment,
      stores,
      base,
      run: { object, status },
    } = running
    if (!object || !isStored(object))
      throw new RangeError(`${this.name} needs an object: use reconcile instead of reconcileKey`)
    const { objects: needs, missing, result } = await resolveNeeds(this.#settings.needs, base)
    const store = stores.storeFor(object, base)
    const session = new ExternalSession({ environment, base, object, status, store, needs })
    try {
      const closed = running.closed ?? (missing === undefined ? undefined : { message: missing, result })
      if (closed) return waitForDependency(session, closed)
      const { name = '', namespace } = object.metadata
      await this.#finishLeftovers(running, { name, ...(namespace !== undefined && { namespace }) }, object.metadata.uid)
      return await syncResource(session)
    } catch (error) {
      return { isSynced: false, isReady: false, result: await afterFailure(session, error) }
    } finally {
      setConditions(session)
    }
  }

  async #cleanUp(object: ExternalObject<KubeObject>, context: BaseContext): Promise<Reconciled> {
    const {
      environment,
      stores,
      base,
      run: { status },
    } = this.#runs.get(context)
    const { objects: needs } = await resolveNeeds(this.#settings.needs, base)
    const hasNeeds = [...this.#settings.needs].every(([name, { optional }]) => optional || needs[name] !== undefined)
    const store = stores.storeFor(object, base)
    const session = new ExternalSession({ environment, base, object, status, store, needs, hasNeeds })
    try {
      return await deleteResource(session)
    } catch (error) {
      return await afterFailure(session, error)
    } finally {
      setConditions(session)
    }
  }

  /** Deletes the resources of records whose object no longer exists. */
  async #finishLeftovers(
    { environment, stores, base }: ExternalRun,
    key: { name: string; namespace?: string },
    aliveUid?: string,
  ): Promise<Reconciled> {
    let earliest: Reconciled
    for (const record of await stores.leftovers(key, { aliveUid, base })) {
      const result = await this.#finishRecord({ environment, stores, base }, record)
      if ((result?.afterMs ?? Infinity) < (earliest?.afterMs ?? Infinity)) earliest = result
    }
    return earliest
  }

  async #finishRecord(
    { environment, stores, base }: Pick<ExternalRun, 'environment' | 'stores' | 'base'>,
    { owner: { name, namespace, uid }, isOrphaned }: OwnedRecord,
  ): Promise<Reconciled> {
    const {
      settings,
      driver,
      kind: { apiVersion, kind },
    } = environment
    const key = { name, ...(namespace !== '' && { namespace }) }
    const current = (await base.client.find(environment.kind, key, { live: true, signal: base.signal })) as
      | KubeObject
      | undefined
    if (current?.metadata.uid === uid) return { afterMs: 1000 }
    if (settings.orphans === 'report') {
      base.log.warn('external resource has no owner: its object was deleted without cleanup', {
        system: driver.name,
        object: name,
        uid,
      })
      return undefined
    }
    const gone: ExternalObject<KubeObject> = { apiVersion, kind, metadata: { ...key, uid } }
    const hasNeeds = this.#settings.needs.size === 0
    const store = stores.storeFor(gone, base)
    const session = new ExternalSession({ environment, base, object: gone, status: undefined, store, hasNeeds })
    try {
      return await deleteResource(session, { isOrphaned })
    } catch (error) {
      return await afterFailure(session, error)
    }
  }

  #wiringOf({ declaration: { sources = [] } }: PluginRun): ExternalWiring {
    for (const source of sources) {
      const wiring = this.#bySource.get(source)
      if (wiring) return wiring
    }
    throw new RangeError(`${this.name} is not a verb of this controller: add it to verbs of its declaration`)
  }
}

const untilChange: Reconciled = { park: 'a change of the object or of its external resource' }

/** Without a dependency nothing is created, and an existing resource stays as it is. */
function waitForDependency(session: ExternalSession, { message, result }: ClosedGate): SyncResult {
  reportNotSynced(session, { reason: 'DependencyMissing', message })
  return { isSynced: false, isReady: false, result }
}

/** S3 needs a durable token. Without `status.external` a record is needed, and a record alone suffices (S4, S5). */
function strategyFor(
  driver: Driver,
  { checkpoint }: ExternalSettings,
  hasStatus: boolean,
): ExternalEnvironment['strategy'] {
  const strategy = chooseStrategy(driver, { hasCheckpoint: checkpoint !== undefined })
  return strategy === 'S3' && !hasStatus ? (checkpoint ? 'S5' : 'S4') : strategy
}

/** No object can have this name. */
function sweepKeyFor(
  { namespaces, for: { scope } }: ControllerDeclaration,
  { name }: Driver,
): { name: string; namespace?: string } {
  const [namespace] = namespaces ?? []
  return { name: `(sweep of ${name})`, ...(scope === 'Namespaced' && namespace !== undefined && { namespace }) }
}

function watchesFor({
  environment: {
    driver,
    kind,
    settings: { instance },
  },
  stores,
  source: { sweepKey },
}: ExternalWiring): readonly WatchDeclaration[] {
  const refs: WatchDeclaration = {
    kind: ExternalRef,
    map: (object) => {
      const ref = object as ExternalRefObject
      const { owner } = ref.spec
      return isRefOf(ref, { system: driver.name, instance, kind })
        ? [{ name: owner.name, ...(owner.namespace !== undefined && { namespace: owner.namespace }) }]
        : []
    },
    // We write its spec ourselves. Only its creation and deletion matter.
    predicates: [
      ({ type, old, object }) =>
        type !== 'update' || old?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp,
    ],
  }
  const name = sweepName({ system: driver.name, instance, kind: kind.kind })
  const confirmations: WatchDeclaration = {
    kind: ExternalSweep,
    map: (object) => (object.metadata.name === name ? [sweepKey] : []),
    predicates: [
      ({ type, old, object }) =>
        type === 'update' && JSON.stringify(old?.metadata.annotations) !== JSON.stringify(object.metadata.annotations),
    ],
  }
  return [...(stores.usesRefs ? [refs] : []), ...(driver.list ? [confirmations] : [])]
}

function rulesFor({ environment: { driver }, stores }: ExternalWiring): NonNullable<VerbParts['rbac']> {
  const { group, plural } = ExternalRef
  return [
    ...(stores.usesRefs
      ? [
          { apiGroups: [group], resources: [plural], verbs: ['create', 'patch', 'update', 'delete'] },
          { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
        ]
      : []),
    ...(driver.list ? [{ apiGroups: [group], resources: [ExternalSweep.plural], verbs: ['create', 'patch'] }] : []),
  ]
}
