/**
 * Continuous writers, continuous compaction, and watchers that are slow or reconnect:
 * the conditions under which the nine guarantees of a watch must hold.
 */
import { nextTurn, randomInt, SeededRandom, SystemClock } from 'evenkeel/unstable/base'
import type { Random } from 'evenkeel/unstable/base'
import type { Store, Write } from 'evenkeel/unstable/store'
import { plainChange, StoreModel } from '../model/store-model.ts'
import type { PlainChange } from '../model/store-model.ts'
import { positionOf } from './watch.ts'
import type { Session } from './watch.ts'

export interface WorkloadOptions {
  seed: number | string
  writers: number
  commits: number
  watchers: number
}

export interface WorkloadResult {
  /** The true history, from the writers. */
  readonly truth: readonly PlainChange[]
  /** The records of each watcher. */
  readonly watchers: readonly (readonly Session[])[]
  readonly compactions: number
}

const turns = new SystemClock()
const keys = ['/a/1', '/a/2', '/a/3', '/a0', '/b/1', '/b/2'] as const
const prefixes = ['', '/a/', '/b/', '/a', '/b/1', '/none'] as const

/** The shared state of all clients. */
interface Weather {
  readonly store: Store
  readonly made: { readonly revision: number; readonly writes: readonly Write[] }[]
  compacted: number
  compactions: number
  /** The last revision, once all writers are done. */
  last: number | undefined
}

export async function runWorkload(
  store: Store,
  { seed, writers, commits, watchers }: WorkloadOptions,
): Promise<WorkloadResult> {
  const start = await store.head()
  const weather: Weather = { store, made: [], compacted: 0, compactions: 0, last: undefined }
  const watching = Promise.all(
    Array.from({ length: watchers }, (_, index) =>
      watchAll(weather, {
        start,
        prefix: prefixes[index % prefixes.length] ?? '',
        random: new SeededRandom(`${seed}/watcher/${index}`),
      }),
    ),
  )
  const compacting = compactAlways(weather)
  const writing = Array.from({ length: writers }, (_, index) =>
    writeOn(weather, { commits, random: new SeededRandom(`${seed}/writer/${index}`) }),
  )
  await Promise.all(writing)
  weather.last = Math.max(start, ...weather.made.map(({ revision }) => revision))
  await compacting
  const sessions = await watching
  return { truth: truthOf(weather, start), watchers: sessions, compactions: weather.compactions }
}

/** The changes in the order of their revisions, computed from the results of the writers. */
function truthOf({ made }: Weather, start: number): readonly PlainChange[] {
  const model = new StoreModel(start)
  for (const { writes, revision } of [...made].sort((a, b) => a.revision - b.revision)) model.commit(writes, revision)
  return model.changes
}

async function writeOn(
  { store, made }: Weather,
  { commits, random }: { commits: number; random: Random },
): Promise<void> {
  const known = new Map<string, number>()
  for (let done = 0; done < commits;) {
    const chosen = new Set(
      Array.from({ length: 1 + randomInt(random, 3) }, () => keys[randomInt(random, keys.length)] ?? keys[0]),
    )
    const writes = [...chosen].map((key): Write => {
      const expect = known.get(key) ?? 0
      const isDelete = expect > 0 && randomInt(random, 4) === 0
      return { key, expect, ...(!isDelete && { value: Buffer.alloc(randomInt(random, 200), `${done} `) }) }
    })
    const result = await store.commitAll(writes)
    if (!result.ok) {
      known.set(result.key, result.current?.revision ?? 0)
      continue
    }
    made.push({ revision: result.revision, writes })
    for (const { key, value } of writes) known.set(key, value ? result.revision : 0)
    done++
    if (randomInt(random, 4) === 0) await nextTurn(turns)
  }
}

/** Repeatedly compacts all but the last few revisions. */
async function compactAlways(weather: Weather): Promise<void> {
  const { store } = weather
  while (weather.last === undefined) {
    const revision = (await store.head()) - 5
    if (revision > weather.compacted) {
      weather.compacted = revision
      await store.compact(revision)
      weather.compactions++
    }
    for (let wait = 0; wait < 3; wait++) await nextTurn(turns)
  }
}

/** Watches a prefix to the end, however often it must restart. */
async function watchAll(
  weather: Weather,
  { start, prefix, random }: { start: number; prefix: string; random: Random },
): Promise<Session[]> {
  const sessions: Session[] = []
  let [after, isResumed] = [start, false]
  for (;;) {
    const session: Session = { prefix, after, isResumed, batches: [] }
    sessions.push(session)
    const isOver = await watchOnce(weather, session, random)
    if (isOver) return sessions
    isResumed = session.end?.reason !== 'compacted'
    if (isResumed) after = positionOf(session)
    else {
      const listed = await weather.store.range(prefix)
      if (!listed.ok) throw new Error('a read of the newest is never refused')
      after = listed.revision
    }
  }
}

/** Reads slowly until the watch ends or the reader decides to leave; true when no more changes will come. */
async function watchOnce(weather: Weather, session: Session, random: Random): Promise<boolean> {
  const { store } = weather
  const watch = store.watch(session.prefix, { after: session.after, backlogBytesMax: 500 + randomInt(random, 4_000) })
  const iterator = watch[Symbol.asyncIterator]()
  for (;;) {
    if (weather.last !== undefined && positionOf(session) >= weather.last) {
      await iterator.return?.()
      return true
    }
    watch.requestProgress()
    const { done, value } = await iterator.next()
    if (done) {
      session.end = value
      return false
    }
    const compactedThen = weather.compacted
    session.batches.push({
      revision: value.revision,
      changes: value.changes.map((change) => plainChange(change)),
      headThen: await store.head(),
      compactedThen,
    })
    for (let wait = randomInt(random, 6); wait > 0; wait--) await nextTurn(turns)
    if (randomInt(random, 8) === 0) {
      await iterator.return?.()
      return false
    }
  }
}
