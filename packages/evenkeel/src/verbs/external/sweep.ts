/**
 * A look at everything at once: finds what single looks cannot, and asks for a single look wherever something is wrong.
 *
 * Invariants: nothing is deleted because something is missing somewhere; a thing is deleted only after it was looked at
 * again and its object asked for at the server; when too much is wrong at once it is taken for a mistake of the list, or
 * of the server, and a person is asked.
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
import { checkOwnership, kindLabel, readOwnershipLabels } from './ownership-labels.ts'
import { policyFor } from './policy.ts'
import type { ResourceRecord } from './record.ts'
import type { ExternalEnvironment } from './session.ts'

interface SweepRun {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly run: PluginRun
  /** Asks for a single look. */
  readonly enqueue: (key: CacheKey, note: string) => void
  /** What is remembered for the objects there are. */
  readonly records: (objects: readonly KubeObject[]) => Promise<ReadonlyMap<string, ResourceRecord>>
  /** Counts what a watch should have told. */
  readonly onMissed: (count: number) => void
}

const resourcesMax = 1_000_000
/** More are left to the next sweep. */
const orphansMax = 1000
/** Below so many, a share says nothing. */
const fewMax = 2

export async function sweep(given: SweepRun): Promise<Reconciled> {
  const { environment: parts, base, run } = given
  const observations = await listObservations(given).catch((error: unknown) => listFailed(given, error))
  if (!observations) return undefined
  parts.observations.noteSwept(new Set(observations.flatMap(({ labels }) => readOwnershipLabels(labels)?.uid ?? [])))
  const objects = run.cache.list(parts.kind) as unknown as readonly KubeObject[]
  const census = takeInventory(observations, {
    environment: parts,
    objects,
    records: await given.records(objects),
    nowMs: base.clock.now(),
  })
  const name = sweepName({ system: parts.driver.name, instance: parts.settings.instance, kind: parts.kind.kind })
  const known = (await base.client.find(ExternalSweep, { name }, { signal: base.signal })) as
    | ExternalSweepObject
    | undefined
  enqueueObjects(given, census)
  const orphans = await abandonedOf(given, census)
  const questions = [
    ...checkMissing(given, census, known),
    ...(await clearOrphans(given, { ...census, orphans }, known)),
    ...(await clearForeign(given, { ...census, orphans }, known)),
  ]
  const isLeft = parts.settings.scope === undefined && !deletesOrphans(parts)
  const report = {
    system: parts.driver.name,
    instance: parts.settings.instance,
    questions,
    orphans: isLeft ? orphans.map(({ observation }) => observation.id) : [],
    suspicious: census.suspicious,
  }
  await writeSweep(known, { name, report }, base)
  return undefined
}

async function listObservations({
  environment: {
    driver,
    calls,
    settings: { callTimeoutMs, scope, instance },
    identity: marker,
  },
  base: { signal, clock, random },
}: SweepRun): Promise<Observation<unknown>[] | undefined> {
  const { list } = driver
  if (!list) return undefined
  const labels = scope === undefined ? { instance, kind: kindLabel(marker) } : {}
  return calls.collect(
    { signal, clock, random, timeoutMs: callTimeoutMs, connection: undefined },
    {
      open: (call) => list.call(driver, { labels, ...(scope !== undefined && { scope }) }, call),
      itemsMax: resourcesMax,
    },
  )
}

/** Nothing follows from a list that failed, but that nobody has looked for a while: each object finds out, and says so. */
function listFailed(
  {
    base: { log, signal, clock },
    run,
    environment: {
      driver,
      kind,
      observations: seen,
      settings: { sweepMs },
    },
    enqueue,
  }: SweepRun,
  error: unknown,
): undefined {
  if (signal.aborted) throw error
  for (const object of run.cache.list(kind) as unknown as readonly KubeObject[]) {
    const { lastSeenMs = -Infinity } = seen.of(object.metadata.uid ?? '')
    if (clock.monotonic() - lastSeenMs > 2 * sweepMs) enqueue(keyOf(object), 'nobody could look at it')
  }
  log.warn('things outside could not be listed', {
    system: driver.name,
    error: messageOf(error),
    ...(isProviderUnavailable(error) && { retryAfterMs: error.retryAfterMs }),
  })
  return undefined
}

function enqueueObjects(
  { environment: { observations: seen, driver }, base: { clock, log }, enqueue, onMissed }: SweepRun,
  { fine, changed, stale, duplicates }: Inventory,
): void {
  for (const uid of fine) seen.of(uid).lastSeenMs = clock.monotonic()
  for (const [uid, ids] of duplicates) seen.of(uid).duplicates = ids
  for (const object of changed) enqueue(keyOf(object), 'not as desired')
  for (const object of stale) enqueue(keyOf(object), 'not looked at for long')
  if (changed.length === 0 || !driver.watch) return
  onMissed(changed.length)
  log.warn('the watch of things outside has missed changes', { system: driver.name, count: changed.length })
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
    `${missing.length} of ${expected} things are not in the list of ${driver.name}: a mistake of the list, or are they really gone?`,
    ids,
  )
  const isTooMany = missing.length > fewMax && missing.length * 100 > expected * missingPercentMax
  if (isTooMany && !isConfirmed(known, question)) {
    log.error('too many things outside are missing: nothing is done about it until somebody agrees', {
      system: driver.name,
      missing: missing.length,
      expected,
      confirm: question.hash,
    })
    return [question]
  }
  for (const object of missing) enqueue(keyOf(object), 'not in the list')
  if (missing.length > 0 && driver.watch) onMissed(missing.length)
  return []
}

/** Certain is what is sealed; otherwise somebody must have said so. */
function deletesOrphans({ settings: { orphans, secret } }: ExternalEnvironment): boolean {
  return (orphans ?? (secret === undefined ? 'report' : 'delete')) === 'delete'
}

async function clearOrphans(
  given: SweepRun,
  { orphans, expected }: Inventory,
  known: ExternalSweepObject | undefined,
): Promise<SweepQuestion[]> {
  const {
    environment: parts,
    base: { log },
  } = given
  if (orphans.length === 0 || parts.settings.scope !== undefined) return []
  const ids = orphans.map(({ observation }) => observation.id)
  if (!deletesOrphans(parts)) {
    log.warn('things outside carry our marks and have no object: leftovers, or forged', {
      system: parts.driver.name,
      ids: ids.slice(0, 20),
      count: ids.length,
    })
    return []
  }
  const question = makeQuestion(
    'deleteOrphans',
    `${ids.length} things have no object any more, and only ${expected} have one: is this the right cluster?`,
    ids,
  )
  const isTooMany = ids.length > fewMax && ids.length * 100 > (ids.length + expected) * parts.settings.missingPercentMax
  if (isTooMany && !isConfirmed(known, question)) return [question]
  for (const { observation } of orphans) await removeOrphan(given, observation)
  return []
}

/** In exclusive use everything that no object asks for goes, after somebody has agreed to this very list. */
async function clearForeign(
  given: SweepRun,
  { foreign, orphans, suspicious }: Inventory,
  known: ExternalSweepObject | undefined,
): Promise<SweepQuestion[]> {
  const { scope } = given.environment.settings
  const doomed = [...foreign.map(({ id }) => id), ...orphans.map(({ observation }) => observation.id), ...suspicious]
  if (scope === undefined || doomed.length === 0) return []
  const question = makeQuestion(
    'deleteForeign',
    `${doomed.length} things in ${scope} are asked for by no object, and would be deleted`,
    doomed,
  )
  if (!isConfirmed(known, question)) return [question]
  for (const id of doomed.sort()) await removeOrphan(given, { id, observed: undefined })
  return []
}

/** The cache may be behind, or not hold all objects: the server says which are really gone. */
async function abandonedOf(given: SweepRun, { orphans }: Inventory): Promise<readonly Orphan[]> {
  const abandoned: Orphan[] = []
  for (const orphan of orphans.slice(0, orphansMax)) if (await isAbandoned(given, orphan)) abandoned.push(orphan)
  return abandoned
}

async function isAbandoned(
  { environment: parts, base: { client, signal }, enqueue }: SweepRun,
  { observation, labels }: Orphan,
): Promise<boolean> {
  if (!labels) return isUnnamed({ parts, client, signal }, observation)
  const { name, namespace } = labels
  const place = { name, ...(namespace !== '' && { namespace }) }
  const object = (await client.find(parts.kind, place, { live: true, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })) as KubeObject | undefined
  if (!object) return true
  if (object.metadata.uid === labels.uid) return false
  if (policyFor(object as never, parts.settings.policy).adoption !== 'ifMarked') return true
  enqueue(place, 'something of its predecessor is there')
  return false
}

async function isUnnamed(
  { parts, client, signal }: { parts: ExternalEnvironment } & Pick<BaseContext, 'client' | 'signal'>,
  observation: Observation<unknown>,
): Promise<boolean> {
  const { items } = await client.list(parts.kind, { live: true, signal })
  const again = takeInventory([observation], {
    environment: parts,
    objects: items as unknown as readonly KubeObject[],
    records: new Map(),
    nowMs: 0,
  })
  return again.orphans.length === 1
}

/** Looked at once more: what it was a moment ago proves nothing. */
async function removeOrphan(
  { environment: { driver, calls, settings, identity: marker }, base: { signal, clock, random, log } }: SweepRun,
  { id, labels }: Observation<unknown>,
): Promise<void> {
  const caller = { signal, clock, random, timeoutMs: settings.callTimeoutMs, connection: undefined }
  try {
    const now = await calls.make(caller, (call) => driver.observe(id, call))
    if (!now) return
    const uid = (labels as { readonly uid?: string } | undefined)?.uid ?? ''
    if (
      settings.scope === undefined &&
      (driver.capabilities.labels ?? 'none') !== 'none' &&
      checkOwnership(now.labels, marker, uid) !== 'ours'
    )
      return
    await calls.make(caller, (call) => driver.remove(id, call))
    log.info('removed a thing outside that has no object', { system: driver.name, id })
  } catch (error) {
    if (failureOf(error) !== 'absent') throw error
  }
}

function keyOf({ metadata: { name = '', namespace } }: KubeObject): CacheKey {
  return { name, ...(namespace !== undefined && { namespace }) }
}
