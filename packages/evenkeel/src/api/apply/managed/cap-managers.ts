/**
 * At most ten entries of writers that do not apply: the oldest are put together as `ancient-changes`.
 *
 * Without a limit every tool that ever touched an object would stay in it. Entries of one version share one bucket, as
 * fields of different versions cannot be told together.
 */
import { compareText } from '../../text.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { compareTimes } from './entries.ts'
import { identityOf } from '../repeat/known-entries.ts'
import type { ManagedState } from './entries.ts'

/** More than this many writers that do not apply are not kept apart. */
export const updatersMax = 10

export function capManagers(managed: ManagedState): ManagedState {
  const updaters = [...managed.managers].filter(([, { applied }]) => !applied)
  if (updaters.length <= updatersMax) return managed
  const { times } = managed
  updaters.sort(([a], [b]) => compareTimes(times.get(a), times.get(b)) || compareText(a, b))
  return bucketEntries(managed, updaters)
}

function bucketEntries(managed: ManagedState, updaters: readonly (readonly [string, VersionedSet])[]): ManagedState {
  const managers = new Map(managed.managers)
  const times = new Map(managed.times)
  const firsts = new Map<string, string>()
  let excess = updaters.length - updatersMax
  for (const [identity, versioned] of updaters) {
    if (excess <= 0) break
    const { apiVersion } = versioned
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, identity)
      continue
    }
    const bucket = identityOf({ manager: 'ancient-changes', operation: 'Update', apiVersion })
    const old = managers.get(bucket) ?? managers.get(first)
    if (!managers.has(bucket)) managers.delete(first)
    managers.set(bucket, { ...versioned, set: old ? versioned.set.union(old.set) : versioned.set })
    managers.delete(identity)
    excess--
    // The newer of the two: the bucket tells when its last change was.
    const time = times.get(identity)
    if (time === undefined) times.delete(bucket)
    else times.set(bucket, time)
  }
  return { ...managed, managers, times }
}
