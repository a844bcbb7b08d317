/**
 * The nine promises of a watch, each checked over what watchers noted down.
 *
 * A watcher has sessions: it watches, is ended or leaves, and watches again from where it was, or
 * lists anew when history is gone. The truth it is compared with comes from the writers.
 */
import { isDeepStrictEqual } from 'node:util'
import type { WatchEnd } from 'evenkeel/unstable/store'
import type { PlainChange } from '../model/store-model.ts'

export interface Told {
  readonly revision: number
  readonly changes: readonly PlainChange[]
  /** What the newest revision was when the reader asked, right after it was told this. */
  readonly headThen: number
  /** How far compaction had been asked for by then. */
  readonly compactedThen: number
}

export interface Session {
  readonly prefix: string
  readonly after: number
  /** It goes on where the session before it was; false when it begins with a list. */
  readonly isResumed: boolean
  readonly told: Told[]
  end?: WatchEnd | undefined
}

/** What is wrong, one sentence each. */
type Validator = (session: Session, truth: readonly PlainChange[]) => string[]

/** The revision up to which a session has told everything. */
export function positionOf({ after, told }: Session): number {
  return told.at(-1)?.revision ?? after
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

/** Revisions never go back, and every change lies between the progress before it and that of its batch. */
function ordered({ after, told }: Session): string[] {
  const faults: string[] = []
  let position = after
  for (const { revision, changes } of told) {
    let last = position + 1
    for (const change of changes) {
      if (change.revision < last) faults.push(`${change.key} at ${change.revision} came after ${last - 1} was told`)
      last = Math.max(last, change.revision)
    }
    if (revision < Math.max(position, last - 1)) faults.push(`a batch at ${revision} came after ${position}`)
    position = revision
  }
  return faults
}

/** No change comes twice. */
function unique({ told }: Session): string[] {
  const seen = new Set<string>()
  return told
    .flatMap(({ changes }) => changes)
    .flatMap(({ key, revision }) => {
      const name = `${key} at ${revision}`
      if (seen.has(name)) return [`${name} came twice`]
      seen.add(name)
      return []
    })
}

/** The changes of one commit come in one batch. */
function atomic({ told }: Session): string[] {
  const batches = new Map<number, number>()
  return told.flatMap(({ changes }, index) =>
    [...new Set(changes.map(({ revision }) => revision))].flatMap((revision) => {
      const first = batches.get(revision) ?? index
      batches.set(revision, index)
      return first === index ? [] : [`the commit ${revision} was torn apart`]
    }),
  )
}

/** Everything that happened below the prefix up to the position was told, and nothing that did not. */
function reliable(session: Session, truth: readonly PlainChange[]): string[] {
  const position = positionOf(session)
  const expected = truth.filter(
    ({ key, revision }) => revision > session.after && revision <= position && key.startsWith(session.prefix),
  )
  const told = session.told.flatMap(({ changes }) => changes)
  const names = (changes: readonly PlainChange[]): string[] =>
    changes.map(({ key, revision, entry }) => `${key} at ${revision} ${entry ? JSON.stringify(entry) : 'deleted'}`)
  const [toldNames, expectedNames] = [new Set(names(told)), new Set(names(expected))]
  return [
    ...[...expectedNames].filter((name) => !toldNames.has(name)).map((name) => `${name} was left out`),
    ...[...toldNames].filter((name) => !expectedNames.has(name)).map((name) => `${name} never happened`),
  ]
}

/** Progress is never ahead of the store, and nothing it covers comes after it. */
function bookmarkable({ told }: Session): string[] {
  const faults: string[] = []
  let lowest: PlainChange | undefined
  for (const { revision, headThen, changes } of [...told].reverse()) {
    if (revision > headThen) faults.push(`progress to ${revision} was told when the store was at ${headThen}`)
    if (lowest && lowest.revision <= revision)
      faults.push(`${lowest.key} at ${lowest.revision} came after progress to ${revision}`)
    for (const change of changes) if (!lowest || change.revision < lowest.revision) lowest = change
  }
  return faults
}

/** Only keys below the prefix. */
function filtered({ prefix, told }: Session): string[] {
  return told
    .flatMap(({ changes }) => changes)
    .filter(({ key }) => !key.startsWith(prefix))
    .map(({ key }) => `${key} is not below ${prefix}`)
}

/** What was there before is right, or missing because it was compacted. */
function previous({ told }: Session, truth: readonly PlainChange[]): string[] {
  return told.flatMap(({ changes, compactedThen }) =>
    changes.flatMap((change) => {
      const real = truth.find(({ key, revision }) => key === change.key && revision === change.revision)?.previous
      const isExcused = change.previous === undefined && change.revision <= compactedThen
      return isExcused || isDeepStrictEqual(change.previous, real)
        ? []
        : [
            `${change.key} at ${change.revision} had ${JSON.stringify(real)} before it, told was ${JSON.stringify(change.previous)}`,
          ]
    }),
  )
}

/** A made key says so, an updated one keeps the revision it was made at, a deleted one has no entry. */
function created({ told }: Session, truth: readonly PlainChange[]): string[] {
  return told.flatMap(({ changes }) =>
    changes.flatMap(({ key, revision, entry }) => {
      const real = truth.find((change) => change.key === key && change.revision === revision)?.entry
      const told = entry && { revision: entry.revision, created: entry.created }
      return isDeepStrictEqual(told, real && { revision: real.revision, created: real.created })
        ? []
        : [`${key} at ${revision} should be ${JSON.stringify(real)}, told was ${JSON.stringify(entry)}`]
    }),
  )
}

/** Sessions that go on where the one before was, taken together, have no gap and no repetition. */
function resumable(sessions: readonly Session[], truth: readonly PlainChange[]): string[] {
  const chains: Session[] = []
  for (const session of sessions) {
    const chain = session.isResumed ? chains.pop() : undefined
    if (chain && positionOf(chain) !== session.after)
      return [`a session went on at ${session.after}, the one before had come to ${positionOf(chain)}`]
    chains.push(chain ? { ...chain, told: [...chain.told, ...session.told] } : session)
  }
  return chains.flatMap((chain) => [...unique(chain), ...ordered(chain), ...reliable(chain, truth)])
}
