/**
 * A list of things beside a list of objects: what is missing, what differs, and what belongs to nobody.
 *
 * A pure function. Nothing is decided here: whatever looks wrong is looked at again, one by one, before anything is done.
 */
import { deepEqual, parseTime } from '#api'
import type { KubeObject } from '#api'
import type { Sighting } from '../driver/driver.ts'
import { judgeMarks, namePrefix, ownName, readMarks } from '../driver/marks.ts'
import type { Marks } from '../driver/marks.ts'
import type { Remembered } from '../memory/memory.ts'
import { reportIn } from '../memory/status-memory.ts'
import { driftOf } from '../policy/drift.ts'
import { policyFor } from '../policy/policy.ts'
import type { Policy } from '../policy/policy.ts'
import type { Parts } from '../engine/session.ts'

/** A thing of ours whose object is not there. */
export interface Orphan {
  readonly thing: Sighting<unknown>
  /** Undefined for those that only have a name of ours. */
  readonly marks: Marks | undefined
}

export interface Census {
  /** How many things there should be. */
  readonly expected: number
  readonly missing: readonly KubeObject[]
  /** Things that are not as desired, or not where they were. */
  readonly changed: readonly KubeObject[]
  /** Nothing is wrong with them, but it is time to say so. */
  readonly stale: readonly KubeObject[]
  /** Those that were seen and are as they should be. */
  readonly fine: readonly string[]
  readonly twins: ReadonlyMap<string, readonly string[]>
  readonly orphans: readonly Orphan[]
  /** Our marks on them, and not our seal. */
  readonly suspicious: readonly string[]
  /** Nothing on them is ours. */
  readonly foreign: readonly Sighting<unknown>[]
}

interface CensusOptions {
  readonly parts: Parts
  readonly objects: readonly KubeObject[]
  readonly remembered: ReadonlyMap<string, Remembered>
  readonly nowMs: number
}

export function takeCensus(
  things: readonly Sighting<unknown>[],
  { parts, objects, remembered, nowMs }: CensusOptions,
): Census {
  const uids = new Map(objects.map((object) => [object.metadata.uid ?? '', object]))
  const { byUid, ...others } = sortThings(things, {
    parts,
    uids,
    known: new Set([...remembered.values()].flatMap(({ id }) => id ?? [])),
  })
  const census = {
    expected: 0,
    missing: [] as KubeObject[],
    changed: [] as KubeObject[],
    stale: [] as KubeObject[],
    fine: [] as string[],
    twins: new Map<string, readonly string[]>(),
  }
  for (const [uid, object] of uids) {
    if (object.metadata.deletionTimestamp !== undefined) continue
    const policy = policyOf(object, parts)
    const memory = remembered.get(uid) ?? {}
    const mine = (byUid.get(uid) ?? []).sort((a, b) => (a.id < b.id ? -1 : 1))
    const isExpected = memory.id !== undefined && memory.observedGeneration !== undefined
    if (isExpected) census.expected++
    const thing = mine.find(({ id }) => id === memory.id) ?? mine[0]
    if (mine.length > 1)
      census.twins.set(
        uid,
        mine.map(({ id }) => id),
      )
    if (!policy) continue
    if (!thing) {
      if (isExpected) census.missing.push(object)
    } else if (mine.length > 1 || (isExpected && isChanged(object, thing, { parts, policy })))
      census.changed.push(object)
    else if (isExpected) {
      census.fine.push(uid)
      if (isStale(object, parts, { policy, nowMs })) census.stale.push(object)
    }
  }
  return { ...census, ...others }
}

interface SortOptions {
  readonly parts: Parts
  readonly uids: ReadonlyMap<string, KubeObject>
  /** Ids that living objects remember, whatever is written on them. */
  readonly known: ReadonlySet<string>
}

interface Sorted extends Pick<Census, 'orphans' | 'suspicious' | 'foreign'> {
  readonly byUid: ReadonlyMap<string, Sighting<unknown>[]>
}

function sortThings(things: readonly Sighting<unknown>[], { parts, uids, known }: SortOptions): Sorted {
  const byUid = new Map<string, Sighting<unknown>[]>()
  const sorted = { orphans: [] as Orphan[], suspicious: [] as string[], foreign: [] as Sighting<unknown>[] }
  const byName = new Map([...uids.keys()].map((uid) => [ownName(parts.marker, uid), uid]))
  for (const thing of [...things].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { uid, verdict, marks } = ownerOf(thing, parts, byName)
    if (verdict === 'mine' && uid !== undefined && uids.has(uid)) byUid.set(uid, [...(byUid.get(uid) ?? []), thing])
    else if (known.has(thing.id)) continue
    else if (verdict === 'mine') sorted.orphans.push({ thing, marks })
    else if (verdict === 'forged') sorted.suspicious.push(thing.id)
    else sorted.foreign.push(thing)
  }
  return { byUid, ...sorted }
}

function ownerOf(
  thing: Sighting<unknown>,
  { driver, marker }: Parts,
  byName: ReadonlyMap<string, string>,
): { uid?: string | undefined; verdict: 'mine' | 'forged' | 'foreign'; marks: Marks | undefined } {
  if ((driver.capabilities.marks ?? 'none') === 'none') {
    const isNamed =
      thing.id.startsWith(namePrefix(marker)) && !driver.identify && driver.capabilities.ids === 'deterministic'
    return { uid: byName.get(thing.id), verdict: isNamed ? 'mine' : 'foreign', marks: undefined }
  }
  const marks = readMarks(thing.marks)
  const verdict = judgeMarks(thing.marks, marker, marks?.uid ?? '')
  return { uid: marks?.uid, verdict: verdict === 'ours' ? 'mine' : verdict === 'forged' ? 'forged' : 'foreign', marks }
}

/** Objects whose policy is not understood speak for themselves. */
function policyOf(object: KubeObject, { settings }: Parts): Policy | undefined {
  try {
    return policyFor(object as never, settings.policy)
  } catch {
    return undefined
  }
}

function isChanged(
  object: KubeObject,
  thing: Sighting<unknown>,
  { parts: { driver }, policy }: { parts: Parts; policy: Policy },
): boolean {
  const drift = driftOf(driver.desired(object as never), thing.observed, { driver, policy })
  // What was told already is no news.
  return drift.revert.length > 0 || !deepEqual(drift.report.slice(0, 20), reportIn(object).drift?.paths ?? [])
}

function isStale(
  object: KubeObject,
  { hasRoom, settings: { maxAgeMs } }: Parts,
  { policy: { pollIntervalMs }, nowMs }: { policy: Policy; nowMs: number },
): boolean {
  return (
    hasRoom && nowMs - (parseTime(reportIn(object).lastObservedTime ?? '') ?? -Infinity) >= maxAgeMs - pollIntervalMs
  )
}
