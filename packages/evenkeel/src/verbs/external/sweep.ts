/**
 * The sweep: lists all external resources, and enqueues every object whose resource differs.
 *
 * Invariants: an absence alone never causes a deletion; an orphan is deleted only after it was observed again and the
 * server confirmed that its object does not exist; when too many resources are missing or orphaned at once, the list or
 * the server may be wrong, and a person must confirm.
 */
import { isNotFound, type KubeObject } from '#api'
import type { CacheKey } from '#cache'
import type { BaseContext, PluginRun, Reconciled } from '#controller'
import { failureOf, isProviderUnavailable, messageOf, type Observation } from './driver.ts'
import {
  ExternalSweep,
  isConfirmed,
  makeQuestion,
  sweepName,
  writeSweep,
  type ExternalSweepObject,
  type SweepQuestion,
} from './external-sweep.ts'
import { takeInventory, type Inventory, type Orphan } from './inventory.ts'
import type { NeededObjects } from './needs.ts'
import { checkOwnership, kindLabel, readOwnershipLabels } from './ownership-labels.ts'
import { policyFor } from './policy.ts'
import type { ResourceRecord } from './record.ts'
import type { ExternalEnvironment } from './session.ts'

interface SweepRun {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly run: PluginRun
  /** Enqueues a reconcile of one object. */
  readonly enqueue: (key: CacheKey, note: string) => void
  /** The records of these objects, by UID. */
  readonly records: (objects: readonly KubeObject[]) => Promise<ReadonlyMap<string, ResourceRecord>>
  /** The objects that an object needs; undefined if one is missing. */
  readonly needsOf: (object: KubeObject) => NeededObjects | undefined
  /** Counts changes that the watch of the driver has missed. */
  readonly onMissed: (count: number) => void
}

const resourcesMax = 1_000_000
/** More orphans are left to the next sweep. */
const orphansMax = 1000
/** Up to this number, the percentage limit does not apply. */
const fewMax = 2

export async function sweep(sweepRun: SweepRun): Promise<Reconciled> {
  const { environment, base, run } = sweepRun
  const observations = await listObservations(sweepRun).catch((error: unknown) => listFailed(sweepRun, error))
  if (!observations) return undefined
  environment.observations.noteSwept(
    new Set(observations.flatMap(({ labels }) => readOwnershipLabels(labels)?.uid ?? [])),
  )
  const objects = run.cache.list(environment.kind) as readonly KubeObject[]
  const inventory = takeInventory(observations, {
    environment,
    objects,
    records: await sweepRun.records(objects),
    nowMs: base.clock.now(),
    needsOf: sweepRun.needsOf,
  })
  const name = sweepName({
    system: environment.driver.name,
    instance: environment.settings.instance,
    kind: environment.kind.kind,
  })
  const known = (await base.client.find(ExternalSweep, { name }, { signal: base.signal })) as
    | ExternalSweepObject
    | undefined
  enqueueObjects(sweepRun, inventory)
  const orphans = await confirmedOrphans(sweepRun, inventory)
  const questions = [
    ...checkMissing(sweepRun, inventory, known),
    ...(await clearOrphans(sweepRun, { ...inventory, orphans }, known)),
    ...(await clearForeign(sweepRun, { ...inventory, orphans }, known)),
  ]
  const isReportOnly = environment.settings.scope === undefined && !deletesOrphans(environment)
  const report = {
    system: environment.driver.name,
    instance: environment.settings.instance,
    questions,
    orphans: isReportOnly ? orphans.map(({ observation }) => observation.id) : [],
    suspicious: inventory.suspicious,
  }
  await writeSweep(known, { name, report }, base)
  return undefined
}

async function listObservations({
  environment: {
    driver,
    calls,
    settings: { callTimeoutMs, scope, instance },
    identity,
  },
  base: { signal, clock, random },
}: SweepRun): Promise<Observation<unknown>[] | undefined> {
  const { list } = driver
  if (!list) return undefined
  const labels = scope === undefined ? { instance, kind: kindLabel(identity) } : {}
  return await calls.collect(
    { signal, clock, random, timeoutMs: callTimeoutMs, connection: undefined },
    {
      open: (call) => list.call(driver, { labels, ...(scope !== undefined && { scope }) }, call),
      itemsMax: resourcesMax,
    },
  )
}

/** Enqueues objects that were not observed for two intervals: each reports the failed observation itself. */
function listFailed(
  {
    base: { log, signal, clock },
    run,
    environment: {
      driver,
      kind,
      observations,
      settings: { sweepMs },
    },
    enqueue,
  }: SweepRun,
  error: unknown,
): undefined {
  if (signal.aborted) throw error
  for (const object of run.cache.list(kind) as readonly KubeObject[]) {
    const { lastSeenMs = -Infinity } = observations.of(object.metadata.uid ?? '')
    if (clock.monotonic() - lastSeenMs > 2 * sweepMs) enqueue(keyOf(object), 'observation is overdue')
  }
  log.warn('cannot list external resources', {
    system: driver.name,
    error: messageOf(error),
    ...(isProviderUnavailable(error) && { retryAfterMs: error.retryAfterMs }),
  })
  return undefined
}

function enqueueObjects(
  { environment: { observations, driver }, base: { clock, log }, enqueue, onMissed }: SweepRun,
  { inSync, changed, stale, duplicates }: Inventory,
): void {
  for (const uid of inSync) observations.of(uid).lastSeenMs = clock.monotonic()
  for (const [uid, ids] of duplicates) observations.of(uid).duplicates = ids
  for (const object of changed) enqueue(keyOf(object), 'differs from the desired state')
  for (const object of stale) enqueue(keyOf(object), 'status is about to be outdated')
  if (changed.length === 0 || !driver.watch) return
  onMissed(changed.length)
  log.warn('watch missed changes of external resources', { system: driver.name, count: changed.length })
}

function checkMissing(
  {
    environment: {
      settings: { missingPercentMax },
      driver,
    },
    base: { log },
    enqueue,
    onMissed,
  }: SweepRun,
  { missing, expected }: Inventory,
  known: ExternalSweepObject | undefined,
): SweepQuestion[] {
  const ids = missing.map(({ metadata: { namespace = '', name = '' } }) => `${namespace}/${name}`)
  const question = makeQuestion(
    'recreateMissing',
    `${missing.length} of ${expected} external resources are missing in the list of ${driver.name}. Confirm to create them again, if the list is right`,
    ids,
  )
  const isTooMany = missing.length > fewMax && missing.length * 100 > expected * missingPercentMax
  if (isTooMany && !isConfirmed(known, question)) {
    log.error('too many external resources are missing: waiting for confirmation', {
      system: driver.name,
      missing: missing.length,
      expected,
      confirm: question.hash,
    })
    return [question]
  }
  for (const object of missing) enqueue(keyOf(object), 'missing in the list')
  if (missing.length > 0 && driver.watch) onMissed(missing.length)
  return []
}

/** By option; without it only if the labels are sealed, so that ownership is certain. */
function deletesOrphans({ settings: { orphans, secret } }: ExternalEnvironment): boolean {
  return (orphans ?? (secret === undefined ? 'report' : 'delete')) === 'delete'
}

async function clearOrphans(
  sweepRun: SweepRun,
  { orphans, expected }: Inventory,
  known: ExternalSweepObject | undefined,
): Promise<SweepQuestion[]> {
  const {
    environment,
    base: { log },
  } = sweepRun
  if (orphans.length === 0 || environment.settings.scope !== undefined) return []
  const ids = orphans.map(({ observation }) => observation.id)
  if (!deletesOrphans(environment)) {
    log.warn('external resources have our ownership labels but no object (leaked or forged)', {
      system: environment.driver.name,
      ids: ids.slice(0, 20),
      count: ids.length,
    })
    return []
  }
  const question = makeQuestion(
    'deleteOrphans',
    `${ids.length} external resources have no object, and only ${expected} have one. Confirm to delete them, if this is the right cluster`,
    ids,
  )
  const isTooMany =
    ids.length > fewMax && ids.length * 100 > (ids.length + expected) * environment.settings.missingPercentMax
  if (isTooMany && !isConfirmed(known, question)) return [question]
  for (const { observation } of orphans) await removeOrphan(sweepRun, observation)
  return []
}

/** Exclusive use: deletes every resource that no object declares, after a person has confirmed this list. */
async function clearForeign(
  sweepRun: SweepRun,
  { foreign, orphans, suspicious }: Inventory,
  known: ExternalSweepObject | undefined,
): Promise<SweepQuestion[]> {
  const { scope } = sweepRun.environment.settings
  const undeclared = [
    ...foreign.map(({ id }) => id),
    ...orphans.map(({ observation }) => observation.id),
    ...suspicious,
  ]
  if (scope === undefined || undeclared.length === 0) return []
  const question = makeQuestion(
    'deleteForeign',
    `${undeclared.length} external resources in ${scope} belong to no object. Confirm to delete them`,
    undeclared,
  )
  if (!isConfirmed(known, question)) return [question]
  for (const id of undeclared.sort()) await removeOrphan(sweepRun, { id, observed: undefined })
  return []
}

/** The orphans whose object does not exist on the server either: the cache may lag behind, or be filtered. */
async function confirmedOrphans(sweepRun: SweepRun, { orphans }: Inventory): Promise<readonly Orphan[]> {
  const confirmed: Orphan[] = []
  for (const orphan of orphans.slice(0, orphansMax)) if (await hasNoObject(sweepRun, orphan)) confirmed.push(orphan)
  return confirmed
}

async function hasNoObject(
  { environment, base: { client, signal }, enqueue }: SweepRun,
  { observation, labels }: Orphan,
): Promise<boolean> {
  if (!labels) return await hasNoDerivedOwner({ environment, client, signal }, observation)
  const { name, namespace } = labels
  const key = { name, ...(namespace !== '' && { namespace }) }
  const object = (await client.find(environment.kind, key, { live: true, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })) as KubeObject | undefined
  if (!object) return true
  if (object.metadata.uid === labels.uid) return false
  if (policyFor(object as never, environment.settings.policy).adoption !== 'ifLabelled') return true
  enqueue(key, 'a resource of its predecessor can be adopted')
  return false
}

async function hasNoDerivedOwner(
  { environment, client, signal }: { environment: ExternalEnvironment } & Pick<BaseContext, 'client' | 'signal'>,
  observation: Observation<unknown>,
): Promise<boolean> {
  const { items } = await client.list(environment.kind, { live: true, signal })
  const again = takeInventory([observation], {
    environment,
    objects: items as readonly KubeObject[],
    records: new Map(),
    nowMs: 0,
  })
  return again.orphans.length === 1
}

/** Observes the resource once more before the delete call: the list may be outdated. */
async function removeOrphan(
  { environment: { driver, calls, settings, identity }, base: { signal, clock, random, log } }: SweepRun,
  { id, labels }: Observation<unknown>,
): Promise<void> {
  const context = { signal, clock, random, timeoutMs: settings.callTimeoutMs, connection: undefined }
  try {
    const current = await calls.make(context, (call) => driver.observe(id, call))
    if (!current) return
    const uid = (labels as { readonly uid?: string } | undefined)?.uid ?? ''
    if (
      settings.scope === undefined &&
      (driver.capabilities.labels ?? 'none') !== 'none' &&
      checkOwnership(current.labels, identity, uid) !== 'ours'
    )
      return
    await calls.make(context, (call) => driver.remove(id, call))
    log.info('orphaned external resource deleted', { system: driver.name, id })
  } catch (error) {
    if (failureOf(error) !== 'absent') throw error
  }
}

function keyOf({ metadata: { name = '', namespace } }: KubeObject): CacheKey {
  return { name, ...(namespace !== undefined && { namespace }) }
}
