/**
 * The thread that renews the lease: a candidate with a connection of its own, so that no work of the main thread can
 * delay it. It is started by `renewal-thread`, stands once, and ends.
 *
 * The two threads do not share a clock: each monotonic clock begins somewhere. The main thread says what its own shows;
 * by the time that arrives it shows more, so the difference is never larger than the real one, and the deadline that is
 * written for the main thread is never later than the real one.
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
assert(port, 'this file is run as a thread')
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
let aheadMs = -Infinity
let isRunning = false

port.on('message', (order: RenewalOrder) => {
  if (order.type === 'stop') stopping.abort()
  else if (order.type === 'credential') forwardedCredential?.hand(order.credential)
  else {
    aheadMs = Math.max(aheadMs, order.monotonicMs - clock.monotonic())
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
        deadline.open({ monotonicMs: monotonicMs + aheadMs, wallMs })
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

/** A connection of this thread alone; certificates of a handed credential are part of the connection. */
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

/** Lines go to the main thread, which has the real logger. */
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
