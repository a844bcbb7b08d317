/**
 * Many watchers of one namespace while objects are created in it: how many events arrive per second, and how late.
 *
 * Writers wait while the watchers are far behind on average: a server may disconnect a slow reader, and here the
 * reader is slow. The latency is that of a few watchers, from sending the request to reading the event.
 */
import { collectionPath } from '../objects.ts'
import { driveAll, openConnections } from './closed-loop.ts'
import type { Turns } from './closed-loop.ts'
import type { Connection } from './connection.ts'
import { EventCounter } from './event-counter.ts'
import type { LoadResult, WatchJob } from './jobs.ts'
import { Meter } from './meter.ts'
import { createStep, expectStatus } from './steps.ts'
import type { Sequence } from './steps.ts'
import { requestText } from './template.ts'

const sampledWatchers = 8

export async function runWatch(job: WatchJob): Promise<LoadResult> {
  const { address } = job.place
  const watchers = await openConnections(address, job.watchers)
  const writers: Connection[] = []
  try {
    // Last, because a server closes connections that show no credentials for a while.
    writers.push(...(await openConnections(address, job.writers)))
    return await measure(job, writers, watchers)
  } finally {
    for (const connection of [...writers, ...watchers]) connection.close()
  }
}

async function measure(
  job: WatchJob,
  writers: readonly Connection[],
  watchers: readonly Connection[],
): Promise<LoadResult> {
  const version = await currentVersion(job, writers[0] as Connection)
  const fanOut = new FanOut(job)
  const every = Math.ceil(watchers.length / sampledWatchers)
  await Promise.all(watchers.map((watcher, index) => fanOut.open(watcher, { version, isSampled: index % every === 0 })))
  fanOut.begin()
  const written = driveAll(
    writers,
    writers.map((_, index) => createStep(job, fanOut.sequence, index)),
    fanOut.turns,
  )
  await Promise.race([written.then(() => fanOut.delivered()), fanOut.failed])
  return fanOut.result()
}

/** The start of the watches: after all existing objects. */
async function currentVersion(
  { place: { address, kind, namespace } }: WatchJob,
  connection: Connection,
): Promise<string> {
  const list = await connection.ask(
    requestText(address, { method: 'GET', path: `${collectionPath(kind, namespace)}?limit=1` }),
    { keepBody: true },
  )
  expectStatus(list, 200)
  const { metadata } = JSON.parse(list.body?.toString('utf8') ?? '') as { metadata: { resourceVersion: string } }
  return metadata.resourceVersion
}

/** The state of one measurement: writes, received events, and waiting writers. */
class FanOut {
  readonly sequence: Sequence = { next: 0 }
  /** Rejects when a watch is lost; never resolves. */
  readonly failed: Promise<never>
  readonly turns: Turns
  readonly #job: WatchJob
  #meter: Meter
  readonly #sentAt: number[] = []
  #arrived = 0
  #held: (() => void)[] = []
  #fail: (error: Error) => void = () => undefined
  #isWritten = false
  #finish: () => void = () => undefined

  constructor(job: WatchJob) {
    this.#job = job
    this.#meter = this.#newMeter()
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => undefined)
    this.turns = { begin: () => this.#beginWrite(), end: () => undefined, hold: (go) => this.#hold(go) }
  }

  /** Resolves when the server has accepted the watch. */
  open(watcher: Connection, { version, isSampled }: { version: string; isSampled: boolean }): Promise<void> {
    const {
      place: { address, kind, namespace },
      run,
    } = this.#job
    const text = requestText(address, {
      method: 'GET',
      path: `${collectionPath(kind, namespace)}?watch=1&resourceVersion=${version}`,
    })
    return new Promise((opened, failed) => {
      watcher.onFail = (error) => {
        failed(error)
        this.#fail(error)
      }
      const sample = isSampled
        ? {
            namePrefix: `${run}-`,
            seen: (number: number) => {
              this.#meter.end(this.#sentAt[number] ?? NaN)
            },
          }
        : {}
      watcher.stream(
        text,
        new EventCounter({
          opened,
          counted: (events) => {
            this.#count(events)
          },
          ...sample,
        }),
      )
    })
  }

  /** Starts the measured time. */
  begin(): void {
    this.#meter = this.#newMeter()
  }

  /** Resolves when every watcher has received every event. */
  delivered(): Promise<void> {
    this.#isWritten = true
    return new Promise((done) => {
      this.#finish = done
      this.#count(0)
    })
  }

  result(): LoadResult {
    this.#meter.stop()
    return this.#meter.result(this.#arrived)
  }

  #newMeter(): Meter {
    return new Meter({ bounds: this.#job.bounds, processIds: this.#job.place.processIds })
  }

  /** Called right before the request takes its number. */
  #beginWrite(): number | undefined {
    const begunAt = this.#meter.begin()
    if (begunAt !== undefined) this.#sentAt[this.sequence.next] = begunAt
    return begunAt
  }

  #hold(go: () => void): boolean {
    if (this.#lag() <= this.#job.lagMax) return false
    this.#held.push(go)
    return true
  }

  #count(events: number): void {
    this.#arrived += events
    if (this.#held.length > 0 && this.#lag() <= this.#job.lagMax / 2) for (const go of this.#held.splice(0)) go()
    if (this.#isWritten && this.#arrived >= this.sequence.next * this.#job.watchers) this.#finish()
  }

  /** How many events watchers still have to read, on average. */
  #lag(): number {
    return this.sequence.next - this.#arrived / this.#job.watchers
  }
}
