/**
 * Runs shapes against a server and measures them, with a polite client beside.
 *
 * Invariants: a measurement starts with a server that is idle and has freed its memory. A server that died, did not
 * answer in time or keeps too much memory is replaced, so one shape never counts for the next. A cost above its bound is
 * measured a second time, and the smaller numbers count.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from 'evenkeel/unstable/base'
import { bounds, growthOf, judge, msPerKbOf, severityOf, smallerOf, type Cost } from './bounds.ts'
import { scratchCollections } from './fixtures.ts'
import { PoliteClient } from './polite.ts'
import { bytesOf, isDocumentShape, isRecipe, isYaml, type Entry, type Shape } from './shape.ts'
import { ServerGone, Target, type TargetOptions } from './target.ts'

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
  /** The largest share of a bound that it reached. */
  readonly severity: number
  readonly failures: readonly string[]
}

interface Measured extends Cost {
  /** How the server answered, and which parser it used: a change can make YAML of JSON. */
  readonly status: string
  readonly politeMs: number
  /** What bounds do not say: a dead server, a defence that did not hold. */
  readonly failure: string | undefined
}

interface Pair {
  readonly half: Measured
  readonly full: Measured
}

const shapeMs = 30_000
const calibrationMs = 500
/** Errors that nobody wrote: a limit of the engine was reached. */
const unexpected = /Maximum call stack[\w ]*|Invalid \w+ length|Internal error occurred: \w+/
/** Memory that a server may keep from earlier shapes. */
const keptBytesMax = 150e6

export class Meter {
  #target: Target
  #polite: PoliteClient
  #idleRss = 0
  /** Processor time of the idle server and of the polite client, per ms. */
  #idleShare = 0

  readonly #options: TargetOptions

  private constructor(target: Target, options: TargetOptions) {
    this.#target = target
    this.#options = options
    this.#polite = new PoliteClient(target.address)
  }

  static async start(options: TargetOptions = {}): Promise<Meter> {
    const meter = new Meter(await Target.start(options), options)
    await meter.#calibrate()
    return meter
  }

  async stop(): Promise<void> {
    await this.#polite.stop()
    await this.#target.stop()
  }

  /** Measures a shape with n/2 and with n; when the half already fails, it counts for both. */
  async row(shape: Shape, { seed, n = shape.n }: { seed: string; n?: number }): Promise<Row> {
    let pair = await this.#pair(shape, { seed, n })
    let failures = failuresOf(shape, pair)
    if (failures.length > 0 && pair.full.failure === undefined) {
      const again = await this.#pair(shape, { seed, n })
      pair = {
        half: { ...again.half, ...smallerOf(pair.half, again.half) },
        full: { ...again.full, ...smallerOf(pair.full, again.full) },
      }
      failures = failuresOf(shape, pair)
    }
    const { full } = pair
    const { bytes, status, cpuMs, peakMb, stallMs, politeMs } = full
    const half = comparableHalf(shape, pair)
    const shown = {
      cpuMs,
      msPerKb: msPerKbOf(full),
      growth: growthOf(half, full),
      severity: severityOf({ half, full }, bounds[shape.entry]),
      peakMb,
      stallMs,
      politeMs,
    }
    return { entry: shape.entry, shape: shape.name, n, bytes, status, ...shown, failures }
  }

  async #pair(shape: Shape, { seed, n }: { seed: string; n: number }): Promise<Pair> {
    const half = await this.#measure(shape, { seed, n: Math.ceil(n / 2) })
    return { half, full: half.failure === undefined ? await this.#measure(shape, { seed, n }) : half }
  }

  async #measure(shape: Shape, { seed, n }: { seed: string; n: number }): Promise<Measured> {
    const aborted = new AbortController()
    setMaxListeners(0, aborted.signal)
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
      const { status } = await this.#target.send(request, signal)
      // A search grows shapes until what prepares them is refused: that is a defence. One of the catalogue must work.
      if (status === 413 && isRecipe(shape))
        return () => Promise.resolve({ bytes: bytesOf(request), status: 'not prepared: 413' })
      if ((status >= 300 || status === 0) && request.method === 'POST')
        throw new Error(`${shape.name}: cannot prepare ${request.method} ${request.path}: ${status}`)
    }
    const request = shape.make(n, new SeededRandom(`${seed} ${shape.name}`))
    const target = this.#target
    return async () => {
      const { status, start } = await target.send(request, signal)
      const failure = unexpected.exec(start)?.[0]
      const shown = `${status === 0 ? 'closed' : status}${isYaml(request) ? ' yaml' : ''}`
      return { bytes: bytesOf(request), status: shown, ...(failure && { failure }) }
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
    this.#target = await Target.start(this.#options)
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

function failuresOf(shape: Shape, pair: Pair): string[] {
  const { full } = pair
  const { failure } = full
  return [
    ...(failure === undefined ? [] : [failure]),
    ...judge({ half: comparableHalf(shape, pair), full }, bounds[shape.entry]),
  ]
}

/** The half, if the server did the same with it: a document that is refused early says nothing about growth. */
function comparableHalf(shape: Shape, { half, full }: Pair): Measured | undefined {
  return isDocumentShape(shape) && half.status !== full.status ? undefined : half
}
