/**
 * Runs shapes against a server and measures them, with a polite client beside.
 *
 * Invariants: a measurement starts with a server that is idle and has freed its memory. A server that died, did not
 * answer in time or keeps too much memory is replaced, so one shape never counts for the next. A cost above its bound is
 * measured a second time, and the smaller numbers count.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from 'evenkeel/unstable/base'
import { bounds, growthOf, judge, msPerKbOf, smallerOf, type Cost } from './bounds.ts'
import { scratchCollections } from './fixtures.ts'
import { PoliteClient } from './polite.ts'
import { bytesOf, isDocumentShape, type Entry, type Shape } from './shape.ts'
import { ServerGone, Target } from './target.ts'

/** One line of the result. */
export interface Row {
  readonly entry: Entry
  readonly shape: string
  readonly n: number
  readonly bytes: number
  readonly status: string
  readonly cpuMs: number
  readonly msPerKb: number
  readonly growth: number | undefined
  readonly peakMb: number
  readonly stallMs: number
  /** The slowest answer to the polite client; for information, because it depends on the machine. */
  readonly politeMs: number
  readonly failures: readonly string[]
}

interface Measured extends Cost {
  readonly status: string
  readonly politeMs: number
  /** What bounds do not say: a dead server, a defence that did not hold. */
  readonly failure: string | undefined
}

const shapeMs = 60_000
const calibrationMs = 500
/** Memory that a server may keep from earlier shapes. */
const keptBytesMax = 150e6

export class Meter {
  #target: Target
  #polite: PoliteClient
  #idleRss = 0
  /** Processor time of the idle server and of the polite client, per ms. */
  #idleShare = 0

  private constructor(target: Target) {
    this.#target = target
    this.#polite = new PoliteClient(target.address)
  }

  static async start(): Promise<Meter> {
    const meter = new Meter(await Target.start())
    await meter.#calibrate()
    return meter
  }

  async stop(): Promise<void> {
    await this.#polite.stop()
    await this.#target.stop()
  }

  /** Measures a shape with n/2 and with n. */
  async row(shape: Shape, { seed, n = shape.n }: { seed: string; n?: number }): Promise<Row> {
    const pair = async (): Promise<{ half: Measured; full: Measured }> => ({
      half: await this.#measure(shape, { seed, n: Math.ceil(n / 2) }),
      full: await this.#measure(shape, { seed, n }),
    })
    let { half, full } = await pair()
    let failures = failuresOf(shape, half, full)
    if (failures.length > 0 && full.failure === undefined && half.failure === undefined) {
      const again = await pair()
      half = { ...half, ...smallerOf(half, again.half) }
      full = { ...full, ...smallerOf(full, again.full) }
      failures = failuresOf(shape, half, full)
    }
    const { bytes, status, cpuMs, peakMb, stallMs, politeMs } = full
    const shown = { cpuMs, msPerKb: msPerKbOf(full), growth: growthOf(half, full), peakMb, stallMs, politeMs }
    return { entry: shape.entry, shape: shape.name, n, bytes, status, ...shown, failures }
  }

  async #measure(shape: Shape, { seed, n }: { seed: string; n: number }): Promise<Measured> {
    const aborted = new AbortController()
    const late = setTimeout(() => {
      aborted.abort()
    }, shapeMs)
    try {
      return await this.#run(shape, { seed, n, signal: aborted.signal })
    } catch (error) {
      const failure = aborted.signal.aborted ? `no answer within ${shapeMs} ms` : String(error)
      if (error instanceof ServerGone || aborted.signal.aborted) await this.#replace()
      const cpuMs = aborted.signal.aborted ? shapeMs : 0
      return { bytes: 0, cpuMs, peakMb: 0, stallMs: cpuMs, politeMs: cpuMs, status: 'failed', failure }
    } finally {
      clearTimeout(late)
    }
  }

  async #run(shape: Shape, { seed, n, signal }: { seed: string; n: number; signal: AbortSignal }): Promise<Measured> {
    const work = isDocumentShape(shape)
      ? await this.#document(shape, { seed, n, signal })
      : () => shape.run(this.#target.address, n, signal)
    const baseRss = await this.#settle()
    this.#polite.takeSlowestMs()
    const startMs = performance.now()
    const { bytes, status, failure } = await this.#target.during(work())
    const { cpuMs, peakRss, stallMs } = await this.#target.measure()
    const idleMs = this.#idleShare * (performance.now() - startMs)
    const politeMs = this.#polite.takeSlowestMs()
    if ('before' in shape || shape.entry === 'watch') await this.#tidy(signal)
    const peakMb = Math.max(0, peakRss - baseRss) / 1e6
    return { bytes, status, failure, cpuMs: Math.max(0, cpuMs - idleMs), peakMb, stallMs, politeMs }
  }

  /** Prepares the server and the request; the returned function sends it. */
  async #document(
    shape: Extract<Shape, { make: unknown }>,
    { seed, n, signal }: { seed: string; n: number; signal: AbortSignal },
  ): Promise<() => Promise<{ bytes: number; status: string; failure?: string }>> {
    for (const request of shape.before?.(n) ?? []) {
      const status = await this.#target.send(request, signal)
      if ((status >= 300 || status === 0) && request.method !== 'DELETE')
        throw new Error(`${shape.name}: cannot prepare ${request.method} ${request.path}: ${status}`)
    }
    const request = shape.make(n, new SeededRandom(`${seed} ${shape.name}`))
    const target = this.#target
    return async () => {
      const status = await target.send(request, signal)
      return {
        bytes: bytesOf(request),
        status: status === 0 ? 'closed' : `${status}`,
        ...(status === 500 && { failure: 'status 500' }),
      }
    }
  }

  /** An idle server; a new one when this one keeps too much memory. */
  async #settle(): Promise<number> {
    const rss = await this.#target.reset()
    if (rss <= this.#idleRss + keptBytesMax) return rss
    await sleep(100)
    return this.#target.reset()
  }

  async #tidy(signal: AbortSignal): Promise<void> {
    for (const path of scratchCollections) await this.#target.send({ method: 'DELETE', path }, signal)
    if ((await this.#target.reset()) > this.#idleRss + keptBytesMax) await this.#replace()
  }

  async #replace(): Promise<void> {
    await this.#polite.stop()
    await this.#target.kill()
    this.#target = await Target.start()
    this.#polite = new PoliteClient(this.#target.address)
    await this.#calibrate()
  }

  async #calibrate(): Promise<void> {
    await sleep(calibrationMs)
    this.#idleRss = await this.#target.reset()
    const startMs = performance.now()
    await sleep(calibrationMs)
    const { cpuMs } = await this.#target.measure()
    this.#idleShare = cpuMs / (performance.now() - startMs)
  }
}

function failuresOf(shape: Shape, half: Measured, full: Measured): string[] {
  const own = full.failure ?? half.failure
  return [...(own === undefined ? [] : [own]), ...judge({ half, full }, bounds[shape.entry])]
}
