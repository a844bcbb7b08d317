/**
 * The declared bounds of each entry point, and the judge of a measured cost.
 *
 * The bounds are about twice what was measured on two cores. Writes of large documents use the processor in a thread of
 * their own: what others notice is the stall. Growth compares n/2 with n: linear work gives 2, quadratic 4.
 *
 * A busy machine makes every number larger, never smaller. So a stall counts only as far as the server used the
 * processor, small times have no growth, and the attacker measures twice before it calls anything a failure.
 */
import type { Entry } from './shape.ts'

export interface Bounds {
  /** Processor time of one request, or of one run of a connection shape. */
  readonly cpuMs: number
  /** The same per 1000 bytes sent, when it is above {@link noticedCpuMs}. */
  readonly msPerKb: number
  /** Memory above the idle server. */
  readonly peakMb: number
  /** The longest turn of the event loop. */
  readonly stallMs: number
  /** Processor time of n divided by that of n/2. */
  readonly growth: number
}

/** What one measurement found. */
export interface Cost {
  readonly bytes: number
  readonly cpuMs: number
  readonly peakMb: number
  readonly stallMs: number
}

/** Below this, processor time has no growth. */
const smallCpuMs = 30
/** What a collection of garbage in a thread takes: less than this above linear growth may be chance. */
const chanceCpuMs = 100
/** Below this, nobody notices a request, however few bytes it has. */
const noticedCpuMs = 100

const growth = 3

export const bounds: Readonly<Record<Entry, Bounds>> = {
  json: { cpuMs: 1_000, msPerKb: 4, peakMb: 200, stallMs: 120, growth },
  yaml: { cpuMs: 2_000, msPerKb: 12, peakMb: 200, stallMs: 120, growth },
  protobuf: { cpuMs: 1_000, msPerKb: 2, peakMb: 100, stallMs: 120, growth },
  patch: { cpuMs: 1_000, msPerKb: 2, peakMb: 100, stallMs: 150, growth },
  apply: { cpuMs: 1_000, msPerKb: 3, peakMb: 100, stallMs: 120, growth },
  schema: { cpuMs: 2_000, msPerKb: 10, peakMb: 150, stallMs: 200, growth },
  // A few bytes are sent: what multiplies is stored.
  selector: { cpuMs: 120, msPerKb: 10, peakMb: 30, stallMs: 120, growth },
  table: { cpuMs: 120, msPerKb: 1_000, peakMb: 50, stallMs: 120, growth },
  // Many connections: the processor time is that of all handshakes and events together.
  watch: { cpuMs: 3_000, msPerKb: 40, peakMb: 100, stallMs: 400, growth },
  http1: { cpuMs: 500, msPerKb: 20, peakMb: 40, stallMs: 300, growth },
  http2: { cpuMs: 500, msPerKb: 20, peakMb: 40, stallMs: 400, growth },
}

/** Processor time per 1000 bytes. */
export function msPerKbOf({ bytes, cpuMs }: Cost): number {
  return cpuMs / Math.max(1, bytes / 1000)
}

/**
 * How the processor time grows from n/2 to n; undefined when it is too small to say, or when there is no half that ended
 * in the same way. What exceeds linear growth by little may be chance and is not counted.
 */
export function growthOf(half: Cost | undefined, full: Cost): number | undefined {
  if (half === undefined || full.cpuMs <= smallCpuMs) return undefined
  const growth = full.cpuMs / Math.max(1, half.cpuMs)
  return growth > 2 && full.cpuMs - 2 * half.cpuMs < chanceCpuMs ? 2 : growth
}

interface Share {
  readonly what: string
  readonly value: number
  readonly bound: number
}

/** Each measured number beside its bound; numbers that are too small to say anything are left out. */
function sharesOf({ half, full }: { half: Cost | undefined; full: Cost }, limits: Bounds): Share[] {
  const growth = growthOf(half, full)
  return [
    { what: 'ms of processor time', value: full.cpuMs, bound: limits.cpuMs },
    ...(full.cpuMs > noticedCpuMs ? [{ what: 'ms per kB', value: msPerKbOf(full), bound: limits.msPerKb }] : []),
    { what: 'MB above the idle server', value: full.peakMb, bound: limits.peakMb },
    { what: 'ms of stall', value: Math.min(full.stallMs, full.cpuMs), bound: limits.stallMs },
    ...(growth === undefined ? [] : [{ what: 'times the cost of the half', value: growth, bound: limits.growth }]),
  ]
}

/** Everything above its bound, as sentences. */
export function judge(measured: { half: Cost | undefined; full: Cost }, limits: Bounds): string[] {
  return sharesOf(measured, limits)
    .filter(({ value, bound }) => value > bound)
    .map(({ what, value, bound }) => `${round(value)} ${what}, the bound is ${bound}`)
}

/**
 * How near a cost is to its bounds: the largest share of one of them, so that memory and stall count as processor time
 * does. 1 is at a bound. Memory of 60 MB of 200 and a stall of 90 ms of 120 give 0.75.
 */
export function severityOf(measured: { half: Cost | undefined; full: Cost }, limits: Bounds): number {
  return Math.max(...sharesOf(measured, limits).map(({ value, bound }) => value / bound))
}

/** The smaller of two measurements of the same shape, number by number. */
export function smallerOf(one: Cost, other: Cost): Cost {
  return {
    bytes: one.bytes,
    cpuMs: Math.min(one.cpuMs, other.cpuMs),
    peakMb: Math.min(one.peakMb, other.peakMb),
    stallMs: Math.min(one.stallMs, other.stallMs),
  }
}

export function round(value: number): number {
  return value < 10 ? Math.round(value * 100) / 100 : Math.round(value)
}
