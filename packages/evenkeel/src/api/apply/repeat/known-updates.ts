/**
 * Updates that were thought through before.
 *
 * Who owns what after an update follows from who owned what, from what changed, and from who writes; times alone are
 * new every time. Controllers write the same few fields over and over, so the last few answers of a type are kept: the
 * managers before (the very sets, see known-entries.ts), the change, and the managers after.
 */
import type { ManagedFieldsEntry } from '../../object.ts'
import { compareEntries, entryOf } from '../managed/entries.ts'
import type { ReadEntry } from './known-entries.ts'
import type { FieldFilter, Managers, VersionedSet } from '../merge/managers.ts'
import type { Comparison } from '../typed/compare.ts'
import type { FieldType } from '../typed/field-type.ts'
import { RecentCache } from './recent.ts'

/** All that decides who owns what afterwards. */
export interface UpdateInput {
  readonly type: FieldType
  readonly filter: FieldFilter | undefined
  /** The identity of who writes. */
  readonly writer: string
  /** The entries as they were. */
  readonly entries: readonly ManagedFieldsEntry[]
  /** The manager of each entry; no manager has two. */
  readonly before: readonly ReadEntry[]
  readonly comparison: Comparison
}

interface CachedUpdate extends Omit<UpdateInput, 'type' | 'entries'> {
  /** What each manager is left with. */
  readonly left: readonly (VersionedSet | undefined)[]
  /** The writer, if it was nobody before and is somebody now. */
  readonly joined: VersionedSet | undefined
  /** Whether the writer came to own something, so that its time is now. */
  readonly noted: boolean
}

const recentUpdates = new RecentCache<FieldType, CachedUpdate>(12)
/** What very large objects leave behind would be too much, and they take their time anyway. */
const pathsMax = 4000

/**
 * The entries after an update like one before, in order, and the very list when it stays; undefined when there was no
 * such update. `author` says who writes, as an entry does.
 */
export function reuseUpdate(
  facts: UpdateInput,
  { author, time }: { author: ManagedFieldsEntry; time: string },
): readonly ManagedFieldsEntry[] | undefined {
  const { entries } = facts
  const known = recentUpdates.find(facts.type, (update) => isSame(update, facts))
  if (!known) return undefined
  let changed = known.joined !== undefined
  const after: ManagedFieldsEntry[] = []
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as ManagedFieldsEntry
    const left = known.left[index]
    const now = known.noted && facts.before[index]?.identity === facts.writer ? time : entry.time
    const same = left === facts.before[index]?.versioned && now === entry.time
    changed ||= !same
    if (left) after.push(same ? entry : entryOf(entry, left, { time: now }))
  }
  if (known.joined) after.push(entryOf(author, known.joined, { time }))
  if (after.length === 0) return undefined
  return changed ? after.sort(compareEntries) : entries
}

/** Keeps what an update came to. Managers are those after it, before any are put together. */
export function cacheUpdate(
  { type, entries: _, ...facts }: UpdateInput,
  managers: Managers,
  { noted }: { noted: boolean },
): void {
  if (facts.before.reduce((paths, { versioned }) => paths + versioned.set.size, 0) > pathsMax) return
  const left = facts.before.map(({ identity, versioned }) => {
    const after = managers.get(identity)
    return after?.apiVersion === versioned.apiVersion && after.set.equals(versioned.set) ? versioned : after
  })
  const isNew = facts.before.every(({ identity }) => identity !== facts.writer)
  recentUpdates.add(type, { ...facts, left, joined: isNew ? managers.get(facts.writer) : undefined, noted })
}

function isSame(known: CachedUpdate, { filter, writer, before, comparison }: UpdateInput): boolean {
  if (known.filter !== filter || known.writer !== writer || known.before.length !== before.length) return false
  for (let index = 0; index < before.length; index++)
    if (
      known.before[index]?.versioned !== before[index]?.versioned ||
      known.before[index]?.identity !== before[index]?.identity
    )
      return false
  const { added, modified, removed } = known.comparison
  return modified.equals(comparison.modified) && added.equals(comparison.added) && removed.equals(comparison.removed)
}
