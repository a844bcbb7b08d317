/**
 * The lease renewal thread: a candidate with its own connection, which no work of the main thread can delay. It is
 * started by `renewal-thread.ts`, runs one campaign and exits.
 *
 * The monotonic clocks of two threads have different origins. The main thread sends the value of its clock. When the
 * message arrives that clock is already ahead, so the estimated offset is never larger than the real one, and the deadline
 * that is written for the main thread is never too late.
 *
 * Example: the clocks show 1000 (main) and 200 (worker), offset 800. A message with 1000 arrives at 230: estimate 770. A
 * deadline of 12,230 on the worker clock is written as 13,000, which the main clock reaches 30 ms early.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { assert, SystemClock, SystemRandom, type Fields, type Logger } from '#base'
import {
  Client,
  openConnection,
  withCredentials,
  type ClientOptions,
  type ConnectionConfig,
  type CredentialSource,
} from '#client'
import { Candidate } from './candidate.ts'
import { ForwardedCredential } from './forwarded-credential.ts'
import { leaseKind, leaseLock } from './lease.ts'
import type { RenewalData, RenewalOrder, RenewalReport } from './renewal-thread.ts'
import { LeaseDeadline, type ClockReading } from './write-gate.ts'

const port = parentPort
assert(port, 'renewal-worker must run as a worker thread')
const data = workerData as RenewalData
const clock = new SystemClock()
const deadline = new LeaseDeadline({ clock, memory: data.memory })
const stopping = new AbortController()
const report = (message: RenewalReport): void => {
  port.postMessage(message)
}
const forwardedCredential =
  data.credential &&
  new ForwardedCredential(data.credential, {
    clock,
    ask: (refused) => {
      report({ type: 'want-credential', refused })
    },
  })
let offsetMs = -Infinity
let isRunning = false

port.on('message', (order: RenewalOrder) => {
  if (order.type === 'stop') stopping.abort()
  else if (order.type === 'credential') forwardedCredential?.receive(order.credential)
  else {
    offsetMs = Math.max(offsetMs, order.monotonicMs - clock.monotonic())
    if (!isRunning) void runCandidate()
  }
})

report({ type: 'ready' })

async function runCandidate(): Promise<void> {
  isRunning = true
  const { transport, close } = connectionTo(data.config, forwardedCredential)
  const client = new Client({
    transport,
    clock,
    userAgent: data.userAgent,
    kinds: [leaseKind],
    retry: false,
    timeoutMs: data.times.requestMs,
  })
  const candidate = new Candidate({
    lock: leaseLock(client, data.lease),
    identity: data.identity,
    times: data.times,
    release: data.release,
    clock,
    random: new SystemRandom(),
    log: reportingLogger(),
    deadline: {
      open({ monotonicMs, wallMs }: ClockReading) {
        deadline.open({ monotonicMs: monotonicMs + offsetMs, wallMs })
        report({ type: 'renewed' })
      },
      close: () => {
        deadline.close()
      },
    },
  })
  const end = await candidate.run({
    signal: stopping.signal,
    onEvent: (event) => {
      report({ type: 'event', event })
    },
  })
  await close()
  report({ type: 'end', end })
  port?.close()
}

/** The connection of this thread. A forwarded client certificate needs a connection of its own. */
function connectionTo(
  config: ConnectionConfig,
  source: CredentialSource | undefined,
): { transport: ClientOptions['transport']; close: () => Promise<void> } {
  if (!source) return openConnection(config)
  const { exec: _, token: _token, basic: _basic, ...rest } = config
  const opened = new Map<string, ReturnType<typeof openConnection>>()
  const transport: ClientOptions['transport'] = async (request) => {
    const { certPem = '', keyPem = '' } = await source.get({ signal: request.signal })
    const known =
      opened.get(certPem) ??
      openConnection(certPem === '' ? rest : { ...rest, cert: { text: certPem }, key: { text: keyPem } })
    opened.set(certPem, known)
    return withCredentials(known.transport, source)(request)
  }
  return {
    transport,
    close: async () => {
      await Promise.all([...opened.values()].map(({ close }) => close()))
    },
  }
}

/** Forwards log lines to the main thread. */
function reportingLogger(): Logger {
  const line =
    (level: 'debug' | 'warn') =>
    (message: string, fields: Fields = {}): void => {
      const { error } = fields
      report({ type: 'log', level, message, error: error instanceof Error ? error.message : String(error ?? '') })
    }
  const logger: Logger = {
    debug: line('debug'),
    info: line('debug'),
    warn: line('warn'),
    error: line('warn'),
    child: () => logger,
  }
  return logger
}
