/**
 * Many watchers of one namespace while objects are created in it: how many events arrive per second, and how late.
 *
 * Writers wait while the watchers are far behind on average: a server may cut off a slow reader, and here it is the
 * reader that is slow. The latency is that of a few watchers, from sending the request to having read the event.
 */
import { collectionPath } from '../objects.ts'
import { driveAll, openConnections } from './closed-loop.ts'
import type { Turns } from './closed-loop.ts'
import type { Connection } from './connection.ts'
import { EventCounter } from './event-counter.ts'
import type { LoadResult, WatchJob } from './jobs.ts'
import { Meter } from './meter.ts'
import { createStep, expectStatus, versionIn } from './steps.ts'
import type { Sequence } from './steps.ts'
import { requestText } from './template.ts'

const sampledWatchers = 8
const lagMax = 400

export async function runWatch(job: WatchJob): Promise<LoadResult> {
  const { address } = job.place
  const writers = await openConnections(address, job.writers)
  const watchers: Connection[] = []
  try {
    watchers.push(...await openConnections(address, job.watchers))
    return await measure(job, writers, watchers)
  } finally {
    for (const connection of [...writers, ...watchers]) connection.close()
  }
}

async function measure(job: WatchJob, writers: readonly Connection[], watchers: readonly Connection[]): Promise<LoadResult> {
  const version = await currentVersion(job, writers[0] as Connection)
  const fanOut = new FanOut(job)
  await Promise.all(watchers.map((watcher, index) => fanOut.open(watcher, { version, isSampled: index % Math.ceil(watchers.length / sampledWatchers) === 0 })))
  const delivered = fanOut.delivered()
  const write = driveAll(writers, writers.map(() => fanOut.step()), fanOut.turns)
  await Promise.race([write.then(() => delivered), fanOut.failed])
  return fanOut.result()
}

/** Where watches start: after everything that is there. */
async function currentVersion({ place: { address, kind, namespace } }: WatchJob, connection: Connection): Promise<bigint> {
  const list = await connection.ask(requestText(address, { method: 'GET', path: `${collectionPath(kind, namespace)}?limit=1` }), { keepBody: true })
  expectStatus(list, 200)
  return versionIn(list.body)
}
