/**
 * The inventory: compares a list of external resources with the objects: missing, changed, duplicate, orphaned, foreign.
 *
 * A pure function that decides nothing: each difference leads to a reconcile of the single object, which observes again.
 *
 * Example with the objects a (UID 1, record shape-1) and b (UID 2, record shape-2):
 *
 *   listed: shape-1 with UID 1, shape-7 with UID 1, shape-9 with UID 3, shape-0 without labels
 *   result: duplicates { 1: [shape-1, shape-7] }, changed [a], missing [b], orphans [shape-9], foreign [shape-0]
 */
import { deepEqual, parseTime, type KubeObject } from '#api'
import type { Observation } from './driver.ts'
import type { NeededObjects } from './needs.ts'
import {
  checkOwnership,
  namePrefix,
  readOwnershipLabels,
  resourceNameFor,
  type OwnershipLabels,
} from './ownership-labels.ts'
import { driftOf, policyFor, type ExternalPolicy } from './policy.ts'
import { externalStatusOf, type ResourceRecord } from './record.ts'
import type { ExternalEnvironment } from './session.ts'

/** A resource of ours whose object does not exist. */
export interface Orphan {
  readonly observation: Observation<unknown>
  /** Undefined if only the derived name shows that it is ours. */
  readonly labels: OwnershipLabels | undefined
}

export interface Inventory {
  /** How many resources should exist. */
  readonly expected: number
  /** Objects whose resource is not listed. */
  readonly missing: readonly KubeObject[]
  /** Objects whose resource differs from the desired state, or has duplicates. */
  readonly changed: readonly KubeObject[]
  /** Objects in sync whose status is about to exceed `maxAgeMs`. */
  readonly stale: readonly KubeObject[]
  /** UIDs of objects in sync. */
  readonly inSync: readonly string[]
  readonly duplicates: ReadonlyMap<string, readonly string[]>
  readonly orphans: readonly Orphan[]
  /** Ids of resources with our ownership labels and an invalid seal. */
  readonly suspicious: readonly string[]
  /** Resources without our ownership labels. */
  readonly foreign: readonly Observation<unknown>[]
}

interface InventoryOptions {
  readonly environment: ExternalEnvironment
  readonly objects: readonly KubeObject[]
  readonly records: ReadonlyMap<string, ResourceRecord>
  readonly nowMs: number
  /** The objects that an object needs; undefined if one is missing. @default none are needed */
  readonly needsOf?: (object: KubeObject) => NeededObjects | undefined
}

export function takeInventory(
  observations: readonly Observation<unknown>[],
  { environment, objects, records, nowMs, needsOf = () => ({}) }: InventoryOptions,
): Inventory {
  const uids = new Map(objects.map((object) => [object.metadata.uid ?? '', object]))
  const { byUid, ...others } = sortObservations(observations, {
    environment,
    uids,
    known: new Set([...records.values()].flatMap(({ id }) => id ?? [])),
  })
  const inventory = {
    expected: 0,
    missing: [] as KubeObject[],
    changed: [] as KubeObject[],
    stale: [] as KubeObject[],
    inSync: [] as string[],
    duplicates: new Map<string, readonly string[]>(),
  }
  for (const [uid, object] of uids) {
    if (object.metadata.deletionTimestamp !== undefined) continue
    const policy = policyOf(object, environment)
    const record = records.get(uid) ?? {}
    const mine = (byUid.get(uid) ?? []).sort((a, b) => (a.id < b.id ? -1 : 1))
    const isExpected = record.id !== undefined && record.observedGeneration !== undefined
    if (isExpected) inventory.expected++
    const observation = mine.find(({ id }) => id === record.id) ?? mine[0]
    if (mine.length > 1)
      inventory.duplicates.set(
        uid,
        mine.map(({ id }) => id),
      )
    if (!policy) continue
    if (!observation) {
      if (isExpected) inventory.missing.push(object)
    } else if (
      mine.length > 1 ||
      (isExpected && isChanged(object, observation, { environment, policy, needs: needsOf(object) }))
    )
      inventory.changed.push(object)
    else if (isExpected) {
      inventory.inSync.push(uid)
      if (isStale(object, environment, { policy, nowMs })) inventory.stale.push(object)
    }
  }
  return { ...inventory, ...others }
}

interface SortOptions {
  readonly environment: ExternalEnvironment
  readonly uids: ReadonlyMap<string, KubeObject>
  /** Ids in the records of existing objects, whatever their labels say. */
  readonly known: ReadonlySet<string>
}

interface SortedObservations extends Pick<Inventory, 'orphans' | 'suspicious' | 'foreign'> {
  readonly byUid: ReadonlyMap<string, Observation<unknown>[]>
}

function sortObservations(
  observations: readonly Observation<unknown>[],
  { environment, uids, known }: SortOptions,
): SortedObservations {
  const byUid = new Map<string, Observation<unknown>[]>()
  const sorted = { orphans: [] as Orphan[], suspicious: [] as string[], foreign: [] as Observation<unknown>[] }
  const byName = new Map([...uids.keys()].map((uid) => [resourceNameFor(environment.identity, uid), uid]))
  for (const observation of [...observations].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { uid, ownership, labels } = ownerOf(observation, environment, byName)
    if (ownership === 'mine' && uid !== undefined && uids.has(uid))
      byUid.set(uid, [...(byUid.get(uid) ?? []), observation])
    else if (known.has(observation.id)) continue
    else if (ownership === 'mine') sorted.orphans.push({ observation, labels })
    else if (ownership === 'forged') sorted.suspicious.push(observation.id)
    else sorted.foreign.push(observation)
  }
  return { byUid, ...sorted }
}

function ownerOf(
  observation: Observation<unknown>,
  { driver, identity }: ExternalEnvironment,
  byName: ReadonlyMap<string, string>,
): { uid?: string | undefined; ownership: 'mine' | 'forged' | 'foreign'; labels: OwnershipLabels | undefined } {
  if ((driver.capabilities.labels ?? 'none') === 'none') {
    const isNamed =
      observation.id.startsWith(namePrefix(identity)) && !driver.identify && driver.capabilities.ids === 'deterministic'
    return { uid: byName.get(observation.id), ownership: isNamed ? 'mine' : 'foreign', labels: undefined }
  }
  const labels = readOwnershipLabels(observation.labels)
  const ownership = checkOwnership(observation.labels, identity, labels?.uid ?? '')
  return {
    uid: labels?.uid,
    ownership: ownership === 'ours' ? 'mine' : ownership === 'forged' ? 'forged' : 'foreign',
    labels,
  }
}

/** Undefined for an object with an invalid policy: its own reconcile reports that. */
function policyOf(object: KubeObject, { settings }: ExternalEnvironment): ExternalPolicy | undefined {
  try {
    return policyFor(object as never, settings.policy)
  } catch {
    return undefined
  }
}

function isChanged(
  object: KubeObject,
  observation: Observation<unknown>,
  {
    environment: { driver },
    policy,
    needs,
  }: { environment: ExternalEnvironment; policy: ExternalPolicy; needs: NeededObjects | undefined },
): boolean {
  // Without its needs the resource stays as it is; the reconcile of the object reports that.
  if (!needs) return false
  const drift = driftOf(driver.desired(object as never, needs), observation.observed, { driver, policy })
  // A drift that is already in the status needs no reconcile.
  return drift.revert.length > 0 || !deepEqual(drift.report.slice(0, 20), externalStatusOf(object).drift?.paths ?? [])
}

function isStale(
  object: KubeObject,
  { hasStatus, settings: { maxAgeMs } }: ExternalEnvironment,
  { policy: { pollIntervalMs }, nowMs }: { policy: ExternalPolicy; nowMs: number },
): boolean {
  return (
    hasStatus &&
    nowMs - (parseTime(externalStatusOf(object).lastObservedTime ?? '') ?? -Infinity) >= maxAgeMs - pollIntervalMs
  )
}
