/**
 * `external`: objects whose real thing is in another system, kept in step in both directions.
 *
 *   object ──▶ finalizer ──▶ intent ──▶ make, change, remove ──▶ look again ──▶ status
 *   outside ──▶ sweep, watch, poll ──▶ single looks
 *
 * The author writes a driver and a sheet on what the system can do; the rest follows. Guarantees: the finalizer and the
 * intent are durable before anything is made; at most one thing for each uid, or the engine stops and asks; nothing is
 * changed or deleted that cannot be proven to be ours; a removal is believed when it is seen.
 */
import type { KubeObject } from '#api'
import {
  PerRun,
  StopReconcile,
  type BaseContext,
  type ControllerDeclaration,
  type PluginRun,
  type Reconciled,
  type Verb,
  type VerbParts,
  type WatchDeclaration,
} from '#controller'
import { callsOf } from './calls.ts'
import { checkDriver, chooseStrategy, describeStrategy, type Driver } from './driver.ts'
import { ExternalRef, isRefOf, type ExternalRefObject } from './external-ref.ts'
import { ExternalSweep, sweepName } from './external-sweep.ts'
import { deleteResource } from './lifecycle.ts'
import { settingsOf, type ExternalOptions, type ExternalSettings } from './policy.ts'
import { RecordStores } from './record-store.ts'
import { hasExternalStatus, type OwnedRecord } from './record.ts'
import { ExternalSession, ObservationCache, type ExternalEnvironment } from './session.ts'
import { ExternalSource } from './source.ts'
import { afterFailure, setConditions } from './status.ts'
import { sweep } from './sweep.ts'
import { syncResource, type SyncResult } from './sync.ts'

/** The thing of an object, as it was last seen. */
export interface ExternalResource<Observed> {
  readonly id: string
  readonly observed: Observed
  readonly isReady: boolean
}

export interface ExternalVerb<Observed = unknown> extends Verb {
  /**
   * The thing of the object of this run, brought to what the object says; done once in a run. While it is not so the
   * reconcile ends here, and the status says why.
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
export function external<T extends KubeObject, Desired, Observed>(
  driver: Driver<T, Desired, Observed>,
  options: ExternalOptions<T>,
): ExternalVerb<Observed> {
  checkDriver(driver as unknown as Driver)
  return new External(driver as unknown as Driver, settingsOf(options)) as unknown as ExternalVerb<Observed>
}

/** A verb in one controller, with what it needs there. */
interface ExternalWiring {
  readonly environment: ExternalEnvironment
  readonly stores: RecordStores
  readonly source: ExternalSource
}

/** One run of it. */
interface ExternalRun extends ExternalWiring {
  readonly base: BaseContext
  readonly run: PluginRun
  synced?: Promise<SyncResult>
}

class External implements ExternalVerb {
  readonly name: string
  readonly kinds: Verb['kinds'] & object
  readonly #driver: Driver
  readonly #settings: ExternalSettings
  readonly #runs: PerRun<ExternalRun>
  readonly #bySource = new WeakMap<object, ExternalWiring>()

  constructor(driver: Driver, settings: ExternalSettings) {
    this.name = `external ${driver.name}`
    this.#driver = driver
    this.#settings = settings
    this.#runs = new PerRun(this.name)
    this.kinds = [...(settings.checkpoint ? [] : [ExternalRef]), ...(driver.list ? [ExternalSweep] : [])]
  }

  adds(declaration: ControllerDeclaration): VerbParts {
    const { for: kind } = declaration
    const [driver, settings] = [this.#driver, this.#settings]
    if (settings.scope !== undefined && !driver.list)
      throw new RangeError(`the driver ${driver.name}: exclusive use needs a list`)
    const room = hasExternalStatus(kind)
    const strategy = strategyFor(driver, settings, room)
    const remembering = new RecordStores({ driver, kind, strategy, settings, hasStatus: room })
    const marker = { instance: settings.instance, kind, secret: settings.secret }
    const parts: ExternalEnvironment = {
      driver,
      kind,
      strategy,
      settings,
      calls: callsOf(driver),
      observations: new ObservationCache(),
      identity: marker,
      hasStatus: room,
    }
    const source = new ExternalSource({
      environment: parts,
      sweepKey: sweepKeyFor(declaration, driver),
      leftoverKeys: () => remembering.leftoverKeys(),
    })
    const wiring: ExternalWiring = { environment: parts, stores: remembering, source }
    this.#bySource.set(source, wiring)
    return {
      sources: [source],
      watches: watchesFor(wiring),
      rbac: rulesFor(wiring),
      cleanup: [
        {
          finalizer: `external.evenkeel.dev/${driver.name}`,
          cleanup: (object, context) => this.#cleanUp(object as KubeObject, context),
        },
      ],
    }
  }

  extend(
    base: BaseContext,
    run: PluginRun,
  ): { context: object; start?: () => Promise<Reconciled>; finish?: () => Promise<Reconciled> } {
    const wiring = this.#wiringOf(run)
    const running = this.#runs.set(base, { ...wiring, base, run })
    if (this.#settings.manual || run.isCleanup || !run.object) return { context: {} }
    return {
      context: {},
      start: async () => {
        const { isSynced, result } = await this.#sync(running)
        return isSynced ? undefined : (result ?? untilChange)
      },
      finish: async () => (await this.#sync(running)).result,
    }
  }

  async sync(context: Pick<BaseContext, 'signal'>): Promise<ExternalResource<unknown>> {
    const { observation, isSynced, isReady, result } = await this.#sync(this.#runs.get(context))
    if (!observation || !isSynced)
      throw new StopReconcile(`${this.name} is not in sync yet`, { result: result ?? untilChange })
    return { id: observation.id, observed: observation.observed, isReady }
  }

  /** Also the way sweeps run: under a key that no object has. */
  async absent(base: BaseContext, run: PluginRun): Promise<Reconciled> {
    const wiring = this.#wiringOf(run)
    const { environment: parts, stores: remembering, source } = wiring
    const { name, namespace } = base.key
    if (name === source.sweepKey.name) {
      base.log.debug('sweep', {
        system: parts.driver.name,
        strategy: parts.strategy,
        because: describeStrategy(parts.strategy),
      })
      return sweep({
        environment: parts,
        base,
        run,
        enqueue: (key, note) => {
          source.enqueue(key, note)
        },
        records: (objects) => remembering.all(objects, base),
        onMissed: (count) => {
          source.countMissed(count)
        },
      })
    }
    return this.#finishLeft({ ...wiring, base, run }, { name, ...(namespace !== undefined && { namespace }) })
  }

  async #sync(running: ExternalRun): Promise<SyncResult> {
    running.synced ??= this.#syncOnce(running)
    return running.synced
  }

  async #syncOnce(running: ExternalRun): Promise<SyncResult> {
    const {
      environment: parts,
      stores: remembering,
      base,
      run: { object, status },
    } = running
    if (!object) throw new RangeError(`${this.name} works for objects, not for keys alone`)
    const session = new ExternalSession({
      environment: parts,
      base,
      object,
      status,
      store: remembering.storeFor(object, base),
    })
    try {
      const { name = '', namespace } = object.metadata
      await this.#finishLeft(running, { name, ...(namespace !== undefined && { namespace }) }, object.metadata.uid)
      return await syncResource(session)
    } catch (error) {
      return { isSynced: false, isReady: false, result: await afterFailure(session, error) }
    } finally {
      setConditions(session)
    }
  }

  async #cleanUp(object: KubeObject, context: BaseContext): Promise<Reconciled> {
    const {
      environment: parts,
      stores: remembering,
      base,
      run: { status },
    } = this.#runs.get(context)
    const session = new ExternalSession({
      environment: parts,
      base,
      object,
      status,
      store: remembering.storeFor(object, base),
    })
    try {
      return await deleteResource(session)
    } catch (error) {
      return await afterFailure(session, error)
    } finally {
      setConditions(session)
    }
  }

  /** Records that have outlived their objects: their things are ours, and nobody asks for them any more. */
  async #finishLeft(
    { environment: parts, stores: remembering, base }: ExternalRun,
    key: { name: string; namespace?: string },
    aliveUid?: string,
  ): Promise<Reconciled> {
    let soonest: Reconciled
    for (const record of await remembering.leftovers(key, { aliveUid, base })) {
      const result = await this.#finishRecord({ environment: parts, stores: remembering, base }, record)
      if ((result?.afterMs ?? Infinity) < (soonest?.afterMs ?? Infinity)) soonest = result
    }
    return soonest
  }

  async #finishRecord(
    { environment: parts, stores: remembering, base }: Pick<ExternalRun, 'environment' | 'stores' | 'base'>,
    { owner: { name, namespace, uid }, isLetGo }: OwnedRecord,
  ): Promise<Reconciled> {
    const {
      settings,
      driver,
      kind: { apiVersion, kind },
    } = parts
    const place = { name, ...(namespace !== '' && { namespace }) }
    const alive = (await base.client.find(parts.kind, place, { live: true, signal: base.signal })) as
      | KubeObject
      | undefined
    if (alive?.metadata.uid === uid) return { afterMs: 1000 }
    if (settings.orphans === 'report') {
      base.log.warn('a thing outside has outlived its object', { system: driver.name, object: name, uid })
      return undefined
    }
    const gone: KubeObject = { apiVersion, kind, metadata: { ...place, uid } }
    const session = new ExternalSession({
      environment: parts,
      base,
      object: gone,
      status: undefined,
      store: remembering.storeFor(gone, base),
    })
    try {
      return await deleteResource(session, { isOrphaned: isLetGo })
    } catch (error) {
      return await afterFailure(session, error)
    }
  }

  #wiringOf({ declaration: { sources = [] } }: PluginRun): ExternalWiring {
    for (const source of sources) {
      const wiring = this.#bySource.get(source)
      if (wiring) return wiring
    }
    throw new RangeError(`${this.name} is not among the verbs of this controller: add it to verbs of its declaration`)
  }
}

/** What a list shows is looked at when it changes. */
const untilChange: Reconciled = { park: 'a change of the object, or of its thing' }

/** A token is only as good as the memory of it: without room in the status there are records, which need none. */
function strategyFor(driver: Driver, { checkpoint }: ExternalSettings, room: boolean): ExternalEnvironment['strategy'] {
  const strategy = chooseStrategy(driver, { hasCheckpoint: checkpoint !== undefined })
  return strategy === 'S3' && !room ? (checkpoint ? 'S5' : 'S4') : strategy
}

/** No object can be called so. */
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
  stores: remembering,
  source: { sweepKey },
}: ExternalWiring): readonly WatchDeclaration[] {
  const refs: WatchDeclaration = {
    kind: ExternalRef,
    map: (object) => {
      const {
        spec: { owner },
      } = object as unknown as ExternalRefObject
      return isRefOf(object as unknown as ExternalRefObject, { system: driver.name, instance, kind })
        ? [{ name: owner.name, ...(owner.namespace !== undefined && { namespace: owner.namespace }) }]
        : []
    },
    // Its contents are our own words; what matters is that it is there, or about to go.
    predicates: [
      ({ type, old, object }) =>
        type !== 'update' || old?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp,
    ],
  }
  const name = sweepName({ system: driver.name, instance, kind: kind.kind })
  const answers: WatchDeclaration = {
    kind: ExternalSweep,
    map: (object) => (object.metadata.name === name ? [sweepKey] : []),
    predicates: [
      ({ type, old, object }) =>
        type === 'update' && JSON.stringify(old?.metadata.annotations) !== JSON.stringify(object.metadata.annotations),
    ],
  }
  return [...(remembering.usesRefs ? [refs] : []), ...(driver.list ? [answers] : [])]
}

function rulesFor({ environment: { driver }, stores: remembering }: ExternalWiring): NonNullable<VerbParts['rbac']> {
  const { group, plural } = ExternalRef
  return [
    ...(remembering.usesRefs
      ? [
          { apiGroups: [group], resources: [plural], verbs: ['create', 'patch', 'update', 'delete'] },
          { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
        ]
      : []),
    ...(driver.list ? [{ apiGroups: [group], resources: [ExternalSweep.plural], verbs: ['create', 'patch'] }] : []),
  ]
}
