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
  type AbortOptions,
  type Deadline,
} from './abort.ts'
export { assert, AssertionError, unreachable } from './assert.ts'
export { ExponentialBackoff, exponentialMs } from './backoff.ts'
export { Channel } from './channel.ts'
export { SystemClock, type Cancel, type Clock } from './clock.ts'
export { deferred, type Deferred } from './deferred.ts'
export { ByteBuffer } from './byte-buffer.ts'
export { ByteLiteral, plainStringEnd } from './bytes.ts'
export { Heap } from './heap.ts'
export { keepHeapHeadroom } from './heap-growth.ts'
export { heapShare } from './heap-share.ts'
export { startLimitedThread } from './limited-thread.ts'
export { listenAt, listenNear, checkAddressIdentity, identityCheck } from './net.ts'
export { placeOf } from './error-place.ts'
export { createLogger, silentLogger, jsonLines, prettyLines, type Fields, type Logger, type LogRecord } from './log.ts'
export { overrideGlobals } from './global-overrides.ts'
export { Metrics, type Counter, type Gauge, type Histogram } from './metrics.ts'
export { copyBytes, PortCalls, Transfer, type CallPort, type PortError, type PortFunctions } from './port-calls.ts'
export { randomFraction, randomInt, randomUuid, SeededRandom, SystemRandom, type Random } from './random.ts'
export { flushTasks, flushPromises, SimulatedClock } from './simulated-clock.ts'
export { acceptsHtml, isLocalHost, refuseForeign, renderPage } from './web-page.ts'
