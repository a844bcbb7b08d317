/**
 * The listener of the webhooks: HTTPS, with a certificate that may change while it serves.
 *
 * Invariants: a new certificate is used from the next handshake on, open connections keep theirs; when `run` ends the
 * port is free and active requests were answered or cut off after a moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { listenAt, onAbort, silentLogger, SystemClock, type Clock, type Logger } from '#base'
import type { Transport, WireHeaders } from '#wire'
import type { CertificateSource } from './certificates.ts'

export interface WebhookListenerOptions {
  readonly transport: Transport
  readonly certificates: CertificateSource
  /**
   * In a pod, `0.0.0.0`: the API server calls from elsewhere.
   *
   * @default '127.0.0.1'
   */
  readonly host?: string
  /** @default 9443 */
  readonly port?: number
  /** The authorities of client certificates, in PEM; others are refused. @default no client certificate is needed */
  readonly clientCaPem?: string
  /**
   * How long active requests may take when it stops.
   *
   * @default 10_000
   */
  readonly graceMs?: number
  /** Called with the address once it listens. */
  readonly onListening?: (url: string) => void
  readonly clock?: Clock
  readonly log?: Logger
}

/** Serves until the signal aborts. @throws when the port or the certificate cannot be had. */
export async function runWebhookListener(signal: AbortSignal, options: WebhookListenerOptions): Promise<void> {
  const {
    transport,
    certificates,
    host = '127.0.0.1',
    port = 9443,
    clientCaPem,
    graceMs = 10_000,
    onListening,
    clock = new SystemClock(),
    log = silentLogger,
  } = options
  const { certificatePem, keyPem } = await certificates.current()
  if (signal.aborted) return
  const trust = clientCaPem === undefined ? {} : { ca: clientCaPem, requestCert: true, rejectUnauthorized: true }
  const server = createServer(
    {
      cert: certificatePem,
      key: keyPem,
      minVersion: 'TLSv1.2',
      ...trust,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 120_000,
    },
    (request, response) => {
      serve(request, response, transport).catch((error: unknown) => {
        log.error('cannot answer webhook request', { error })
        response.destroy()
      })
    },
  )
  server.maxConnections = 1024
  const url = await listenAt(server, { host, port, protocol: 'https' })
  const watching = new AbortController()
  const watch = certificates.watch(watching.signal, (next) => {
    server.setSecureContext({ cert: next.certificatePem, key: next.keyPem, minVersion: 'TLSv1.2', ...trust })
  })
  try {
    onListening?.(url)
    await Promise.race([aborted(signal), failed(server), watch.then(() => aborted(signal))])
  } finally {
    watching.abort()
    await watch.catch(() => undefined)
    await close(server, graceMs, clock)
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, transport: Transport): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => {
    gone.abort()
  })
  const { status, headers, body } = await transport({
    method: request.method ?? '',
    target: request.url ?? '',
    headers: headersOf(request),
    body: request as AsyncIterable<Uint8Array>,
    signal: gone.signal,
  })
  if (response.destroyed) return
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  // The rest of a body that is too large is not read.
  response.writeHead(status, {
    ...headers,
    'content-length': bytes.length,
    ...(!request.complete && { connection: 'close' }),
  })
  response.end(bytes)
}

function headersOf({ headers }: IncomingMessage): WireHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => {
      resolve()
    })
  })
}

function failed(server: Server): Promise<never> {
  return new Promise((_, reject) => {
    server.once('error', reject)
  })
}

function close(server: Server, graceMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(graceMs, () => {
      server.closeAllConnections()
    })
    server.close(() => {
      cancel()
      resolve()
    })
    server.closeIdleConnections()
  })
}
