/**
 * What a change means to a watcher: came, changed, went, or nothing.
 *
 * With a selector an object also comes when it begins to match and goes when it ceases to; what goes is told with its
 * last matching content under the version of the change. Objects are parsed once, however many watchers look at them.
 */
import { expired } from '#api'
import type { Change, Entry } from '#store'
import { StoredObject, restamped } from '../storage/bytes.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface ObjectChangeEvent {
  readonly type: EventType
  readonly stored: StoredObject
}

interface EventOptions {
  /** Absent: everything matches. */
  readonly matches?: ((stored: StoredObject) => boolean) | undefined
}

/**
 * The event of a change, or undefined when it is none of this watcher's business.
 *
 * @throws {ApiError} `Expired`, when the content that went is no longer known.
 */
export function eventOf(change: Change, { matches }: EventOptions): ObjectChangeEvent | undefined {
  const now = change.entry && storedObjectOf(change.entry)
  const before = change.previous && storedObjectOf(change.previous)
  const isIn = now !== undefined && (matches === undefined || matches(now))
  if (now && isIn) {
    const wasIn =
      before === undefined ? change.entry?.created !== change.revision : matches === undefined || matches(before)
    return { type: wasIn ? 'MODIFIED' : 'ADDED', stored: now }
  }
  if (before === undefined) {
    if (now === undefined)
      throw expired(`the content of ${change.key} before revision ${change.revision} is no longer known`)
    return undefined
  }
  if (matches !== undefined && !matches(before)) return undefined
  return { type: 'DELETED', stored: lastStateOf(change, before) }
}

/** Everything a change is about, for who has to look inside before it can be told. */
export function storedIn({ entry, previous }: Change): StoredObject[] {
  return [entry, previous].flatMap((one) => (one ? [storedObjectOf(one)] : []))
}

const lastStates = new WeakMap<Change, StoredObject>()

function lastStateOf(change: Change, before: StoredObject): StoredObject {
  let last = lastStates.get(change)
  if (last === undefined)
    lastStates.set(
      change,
      (last = new StoredObject(restamped(before.bytes, change.revision), change.revision, {
        writtenAt: before.revision,
      })),
    )
  return last
}

const parsedEntries = new WeakMap<Entry, StoredObject>()

function storedObjectOf(entry: Entry): StoredObject {
  let stored = parsedEntries.get(entry)
  if (stored === undefined) parsedEntries.set(entry, (stored = new StoredObject(entry.value, entry.revision)))
  return stored
}
