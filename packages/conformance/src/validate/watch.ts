/**
 * The nine guarantees of a watch, each checked on the records of watchers.
 *
 * A watcher has sessions: it watches, ends, and watches again from its last position, or
 * lists again when history is compacted. The writers provide the true history.
 */
import { isDeepStrictEqual } from 'node:util'
import type { WatchEnd } from 'evenkeel/unstable/store'
import type { PlainChange } from '../model/store-model.ts'

export interface ReceivedBatch {
  readonly revision: number
  readonly changes: readonly PlainChange[]
  /** The newest revision, read right after this batch was received. */
  readonly headThen: number
  /** The requested compaction at that time. */
  readonly compactedThen: number
}

export interface Session {
  readonly prefix: string
  readonly after: number
  /** Whether it continues the previous session; false when it starts with a list. */
  readonly isResumed: boolean
  readonly batches: ReceivedBatch[]
  end?: WatchEnd | undefined
}

/** The faults, one sentence each. */
type Validator = (session: Session, truth: readonly PlainChange[]) => string[]

/** The revision up to which a session has received everything. */
export function positionOf({ after, batches }: Session): number {
  return batches.at(-1)?.revision ?? after
}

export const sessionValidators: Readonly<Record<string, Validator>> = {
  ordered,
  unique,
  atomic,
  reliable,
  bookmarkable,
  filtered,
  previous,
  created,
}

/** Checks all sessions of a watcher, each alone and then as a chain. */
export function watchFaults(sessions: readonly Session[], truth: readonly PlainChange[]): string[] {
  const alone = sessions.flatMap((session) =>
    Object.entries(sessionValidators).flatMap(([name, validate]) =>
      validate(session, truth).map((fault) => `${name}: ${fault}`),
    ),
  )
  return [...alone, ...resumable(sessions, truth).map((fault) => `resumable: ${fault}`)]
}

/** Revisions never decrease, and every change lies between the previous progress and that of its batch. */
function ordered({ after, batches }: Session): string[] {
  const faults: string[] = []
  let position = after
  for (const { revision, changes } of batches) {
    let last = position + 1
    for (const change of changes) {
      if (change.revision < last) faults.push(`${change.key} at ${change.revision} came after ${last - 1} was received`)
      last = Math.max(last, change.revision)
    }
    if (revision < Math.max(position, last - 1)) faults.push(`a batch at ${revision} came after ${position}`)
    position = revision
  }
  return faults
}

/** No change is sent twice. */
function unique({ batches }: Session): string[] {
  const seen = new Set<string>()
  return batches
    .flatMap(({ changes }) => changes)
    .flatMap(({ key, revision }) => {
      const name = `${key} at ${revision}`
      if (seen.has(name)) return [`${name} came twice`]
      seen.add(name)
      return []
    })
}

/** The changes of one commit are in one batch. */
function atomic({ batches }: Session): string[] {
  const batchOf = new Map<number, number>()
  return batches.flatMap(({ changes }, index) =>
    [...new Set(changes.map(({ revision }) => revision))].flatMap((revision) => {
      const first = batchOf.get(revision) ?? index
      batchOf.set(revision, index)
      return first === index ? [] : [`the commit ${revision} was split`]
    }),
  )
}

/** Every change under the prefix up to the position was received, and no other. */
function reliable(session: Session, truth: readonly PlainChange[]): string[] {
  const position = positionOf(session)
  const expected = truth.filter(
    ({ key, revision }) => revision > session.after && revision <= position && key.startsWith(session.prefix),
  )
  const received = session.batches.flatMap(({ changes }) => changes)
  const names = (changes: readonly PlainChange[]): string[] =>
    changes.map(({ key, revision, entry }) => `${key} at ${revision} ${entry ? JSON.stringify(entry) : 'deleted'}`)
  const [receivedNames, expectedNames] = [new Set(names(received)), new Set(names(expected))]
  return [
    ...[...expectedNames].filter((name) => !receivedNames.has(name)).map((name) => `${name} was left out`),
    ...[...receivedNames].filter((name) => !expectedNames.has(name)).map((name) => `${name} never happened`),
  ]
}

/** Progress is never ahead of the store, and no change that it covers comes after it. */
function bookmarkable({ batches }: Session): string[] {
  const faults: string[] = []
  let lowest: PlainChange | undefined
  for (const { revision, headThen, changes } of [...batches].reverse()) {
    if (revision > headThen) faults.push(`progress to ${revision} was reported when the store was at ${headThen}`)
    if (lowest && lowest.revision <= revision)
      faults.push(`${lowest.key} at ${lowest.revision} came after progress to ${revision}`)
    for (const change of changes) if (!lowest || change.revision < lowest.revision) lowest = change
  }
  return faults
}

/** Only keys with the prefix. */
function filtered({ prefix, batches }: Session): string[] {
  return batches
    .flatMap(({ changes }) => changes)
    .filter(({ key }) => !key.startsWith(prefix))
    .map(({ key }) => `${key} is not below ${prefix}`)
}

/** The previous entry is correct, or missing because it was compacted. */
function previous({ batches }: Session, truth: readonly PlainChange[]): string[] {
  return batches.flatMap(({ changes, compactedThen }) =>
    changes.flatMap((change) => {
      const real = truth.find(({ key, revision }) => key === change.key && revision === change.revision)?.previous
      const isExcused = change.previous === undefined && change.revision <= compactedThen
      return isExcused || isDeepStrictEqual(change.previous, real)
        ? []
        : [
            `${change.key} at ${change.revision} had ${JSON.stringify(real)} before it, received ${JSON.stringify(change.previous)}`,
          ]
    }),
  )
}

/** A created key is marked as created, an updated one keeps its create revision, a deleted one has no entry. */
function created({ batches }: Session, truth: readonly PlainChange[]): string[] {
  return batches.flatMap(({ changes }) =>
    changes.flatMap(({ key, revision, entry }) => {
      const real = truth.find((change) => change.key === key && change.revision === revision)?.entry
      const received = entry && { revision: entry.revision, created: entry.created }
      return isDeepStrictEqual(received, real && { revision: real.revision, created: real.created })
        ? []
        : [`${key} at ${revision} should be ${JSON.stringify(real)}, received ${JSON.stringify(entry)}`]
    }),
  )
}

/** Consecutive resumed sessions together have no gap and no repetition. */
function resumable(sessions: readonly Session[], truth: readonly PlainChange[]): string[] {
  const chains: Session[] = []
  for (const session of sessions) {
    const chain = session.isResumed ? chains.pop() : undefined
    if (chain && positionOf(chain) !== session.after)
      return [`a session went on at ${session.after}, the one before had come to ${positionOf(chain)}`]
    chains.push(chain ? { ...chain, batches: [...chain.batches, ...session.batches] } : session)
  }
  return chains.flatMap((chain) => [...unique(chain), ...ordered(chain), ...reliable(chain, truth)])
}
