/**
 * A list of things beside a list of objects: what is missing, what differs, and what belongs to nobody.
 *
 * A pure function. Nothing is decided here: whatever looks wrong is looked at again, one by one, before anything is done.
 */
import { deepEqual, parseTime, type KubeObject } from '#api'
import type { Observation } from './driver.ts'
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

/** A thing of ours whose object is not there. */
export interface Orphan {
  readonly observation: Observation<unknown>
  /** Undefined for those that only have a name of ours. */
  readonly labels: OwnershipLabels | undefined
}

export interface Inventory {
  /** How many things there should be. */
  readonly expected: number
  readonly missing: readonly KubeObject[]
  /** Things that are not as desired, or not where they were. */
  readonly changed: readonly KubeObject[]
  /** Nothing is wrong with them, but it is time to say so. */
  readonly stale: readonly KubeObject[]
  /** Those that were seen and are as they should be. */
  readonly fine: readonly string[]
  readonly duplicates: ReadonlyMap<string, readonly string[]>
  readonly orphans: readonly Orphan[]
  /** Our marks on them, and not our seal. */
  readonly suspicious: readonly string[]
  /** Nothing on them is ours. */
  readonly foreign: readonly Observation<unknown>[]
}

interface InventoryOptions {
  readonly environment: ExternalEnvironment
  readonly objects: readonly KubeObject[]
  readonly records: ReadonlyMap<string, ResourceRecord>
  readonly nowMs: number
}

export function takeInventory(
  observations: readonly Observation<unknown>[],
  { environment: parts, objects, records: remembered, nowMs }: InventoryOptions,
): Inventory {
  const uids = new Map(objects.map((object) => [object.metadata.uid ?? '', object]))
  const { byUid, ...others } = sortObservations(observations, {
    environment: parts,
    uids,
    known: new Set([...remembered.values()].flatMap(({ id }) => id ?? [])),
  })
  const census = {
    expected: 0,
    missing: [] as KubeObject[],
    changed: [] as KubeObject[],
    stale: [] as KubeObject[],
    fine: [] as string[],
    duplicates: new Map<string, readonly string[]>(),
  }
  for (const [uid, object] of uids) {
    if (object.metadata.deletionTimestamp !== undefined) continue
    const policy = policyOf(object, parts)
    const memory = remembered.get(uid) ?? {}
    const mine = (byUid.get(uid) ?? []).sort((a, b) => (a.id < b.id ? -1 : 1))
    const isExpected = memory.id !== undefined && memory.observedGeneration !== undefined
    if (isExpected) census.expected++
    const observation = mine.find(({ id }) => id === memory.id) ?? mine[0]
    if (mine.length > 1)
      census.duplicates.set(
        uid,
        mine.map(({ id }) => id),
      )
    if (!policy) continue
    if (!observation) {
      if (isExpected) census.missing.push(object)
    } else if (mine.length > 1 || (isExpected && isChanged(object, observation, { parts, policy })))
      census.changed.push(object)
    else if (isExpected) {
      census.fine.push(uid)
      if (isStale(object, parts, { policy, nowMs })) census.stale.push(object)
    }
  }
  return { ...census, ...others }
}

interface SortOptions {
  readonly environment: ExternalEnvironment
  readonly uids: ReadonlyMap<string, KubeObject>
  /** Ids that living objects remember, whatever is written on them. */
  readonly known: ReadonlySet<string>
}

interface SortedObservations extends Pick<Inventory, 'orphans' | 'suspicious' | 'foreign'> {
  readonly byUid: ReadonlyMap<string, Observation<unknown>[]>
}

function sortObservations(
  observations: readonly Observation<unknown>[],
  { environment: parts, uids, known }: SortOptions,
): SortedObservations {
  const byUid = new Map<string, Observation<unknown>[]>()
  const sorted = { orphans: [] as Orphan[], suspicious: [] as string[], foreign: [] as Observation<unknown>[] }
  const byName = new Map([...uids.keys()].map((uid) => [resourceNameFor(parts.identity, uid), uid]))
  for (const observation of [...observations].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { uid, verdict, labels } = ownerOf(observation, parts, byName)
    if (verdict === 'mine' && uid !== undefined && uids.has(uid))
      byUid.set(uid, [...(byUid.get(uid) ?? []), observation])
    else if (known.has(observation.id)) continue
    else if (verdict === 'mine') sorted.orphans.push({ observation, labels })
    else if (verdict === 'forged') sorted.suspicious.push(observation.id)
    else sorted.foreign.push(observation)
  }
  return { byUid, ...sorted }
}

function ownerOf(
  observation: Observation<unknown>,
  { driver, identity: marker }: ExternalEnvironment,
  byName: ReadonlyMap<string, string>,
): { uid?: string | undefined; verdict: 'mine' | 'forged' | 'foreign'; labels: OwnershipLabels | undefined } {
  if ((driver.capabilities.labels ?? 'none') === 'none') {
    const isNamed =
      observation.id.startsWith(namePrefix(marker)) && !driver.identify && driver.capabilities.ids === 'deterministic'
    return { uid: byName.get(observation.id), verdict: isNamed ? 'mine' : 'foreign', labels: undefined }
  }
  const labels = readOwnershipLabels(observation.labels)
  const verdict = checkOwnership(observation.labels, marker, labels?.uid ?? '')
  return {
    uid: labels?.uid,
    verdict: verdict === 'ours' ? 'mine' : verdict === 'forged' ? 'forged' : 'foreign',
    labels,
  }
}

/** Objects whose policy is not understood speak for themselves. */
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
  { parts: { driver }, policy }: { parts: ExternalEnvironment; policy: ExternalPolicy },
): boolean {
  const drift = driftOf(driver.desired(object as never), observation.observed, { driver, policy })
  // What was told already is no news.
  return drift.revert.length > 0 || !deepEqual(drift.report.slice(0, 20), externalStatusOf(object).drift?.paths ?? [])
}

function isStale(
  object: KubeObject,
  { hasStatus: hasRoom, settings: { maxAgeMs } }: ExternalEnvironment,
  { policy: { pollIntervalMs }, nowMs }: { policy: ExternalPolicy; nowMs: number },
): boolean {
  return (
    hasRoom &&
    nowMs - (parseTime(externalStatusOf(object).lastObservedTime ?? '') ?? -Infinity) >= maxAgeMs - pollIntervalMs
  )
}
