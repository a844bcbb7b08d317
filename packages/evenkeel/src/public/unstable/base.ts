/**
 * `evenkeel/unstable/base`: parts of the layer base for tools of this repository. They may change with any release.
 */
export {
  abortable,
  assert,
  createLogger,
  deadline,
  deferred,
  keepHeapHeadroom,
  Metrics,
  nextTurn,
  onAbort,
  PortCalls,
  prettyLines,
  randomInt,
  randomUuid,
  SeededRandom,
  SimulatedClock,
  sleep,
  SystemClock,
  SystemRandom,
  type Clock,
  type Deferred,
  type Logger,
  type LogRecord,
  type Random,
} from '#base'
