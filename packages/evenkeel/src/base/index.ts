/**
 * Layer 0, the base: time, random numbers, cancellation, streams, logs and metrics. It knows nothing of Kubernetes.
 */

export {
  abortable,
  acceptLightSignals,
  deadline,
  DeadlineError,
  nextTurn,
  onAbort,
  signalFor,
  sleep,
  anySignal,
  nativeSignal,
  LightAbortController,
  LightAbortSignal,
  type AbortOptions,
  type Deadline,
} from './abort.ts'
export { assert, AssertionError, unreachable } from './assert.ts'
export {
  ExponentialBackoff,
  exponentialMs,
  type ExponentialBackoffOptions,
  type ExponentialOptions,
  type Jitter,
} from './backoff.ts'
export { Channel, type ChannelOptions } from './channel.ts'
export { SystemClock, type Cancel, type Clock } from './clock.ts'
export { deferred, type Deferred } from './deferred.ts'
export { ByteLiteral, plainStringEnd } from './bytes.ts'
export { Heap, type Compare } from './heap.ts'
export { listenAt, checkAddressIdentity, identityCheck, type ListenAddress } from './net.ts'
export {
  createLogger,
  silentLogger,
  jsonLines,
  prettyLines,
  type Fields,
  type Level,
  type Logger,
  type LoggerOptions,
  type LogRecord,
  type PrettyOptions,
  type WriteText,
} from './log.ts'
export { overrideGlobals, type GlobalOverrides } from './global-overrides.ts'
export {
  Metrics,
  type Counter,
  type Family,
  type FamilyOptions,
  type Gauge,
  type Histogram,
  type HistogramOptions,
} from './metrics.ts'
export { randomFraction, randomInt, randomUuid, SeededRandom, SystemRandom, type Random } from './random.ts'
export { flushTasks, flushPromises, SimulatedClock, type SimulatedClockOptions } from './simulated-clock.ts'
