/**
 * One session: the server of an application, from its start to its end.
 *
 *   files in the session folder          made by
 *   kubeconfig                           this program, when the server answers; removed at the end
 *   resource-KIND-UID.log, …             controllers
 *   (the folder itself)                  the host; removed at the end by this program
 *
 * A session ends with a signal, with the process that is monitored, or when the host asks for it. Unless only the server
 * was wanted, or the host says otherwise, the objects of the application are deleted first.
 */
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { writeKubeconfig } from 'evenkeel/server'
import { SystemRandom, type Clock, type Logger } from 'evenkeel/unstable/base'
import { openIdentity, type CertificateFiles } from './certificate-files.ts'
import type { ResourceCleanup } from './execution.ts'
import { runtimeLogs, socketLogs } from './logs/container-log.ts'
import { waitForEnd } from './monitored-process.ts'
import { startDcpServer, type DcpServer } from './server.ts'
import { UsageError } from './usage-error.ts'

export interface SessionOptions {
  readonly kubeconfig: string
  readonly certificate: CertificateFiles
  /** The token of clients; then it is not written into the kubeconfig. */
  readonly token: string | undefined
  readonly port: number
  /** The process to end with. */
  readonly monitorPid: number | undefined
  readonly monitorIntervalMs: number | undefined
  /** No controllers run the objects, so nothing has to be cleaned up at the end. */
  readonly isServerOnly: boolean
  /** The folder of the session; absent: there is none to remove. */
  readonly folder: string | undefined
  readonly keepsFolder: boolean
  readonly containerRuntime: string
  /** A Unix socket that gives the logs of containers instead. */
  readonly containerLogSocket: string | undefined
  readonly cleanupMs: number
  readonly clock: Clock
  readonly log: Logger
  /** Ends the session. */
  readonly signal: AbortSignal
}

/** What stands in a kubeconfig for a token that clients have from elsewhere. */
const tokenElsewhere = '<placeholder>'

/**
 * Serves until the end of the session.
 *
 * @throws {UsageError} when it cannot start as it was asked to.
 */
export async function runSession(options: SessionOptions): Promise<void> {
  const { folder, keepsFolder, log, signal } = options
  const kubeconfig = resolve(options.kubeconfig)
  await refusePresent(kubeconfig)
  const ending = new SessionEnd(signal)
  try {
    const server = await openServer(options, ending)
    try {
      await publish(kubeconfig, server, options)
      log.info('the server is ready', { url: server.url })
      watchMonitored(options, ending)
      const cleanup = await ending.reached
      if (cleanup === 'Full' && !options.isServerOnly) await server.cleanUp()
    } finally {
      ending.reach('None')
      await rm(kubeconfig, { force: true })
      await server.stop()
    }
  } finally {
    if (folder !== undefined && !keepsFolder) await rm(folder, { recursive: true, force: true })
  }
}

/** The end of a session: the first reason counts. */
class SessionEnd {
  readonly reached: Promise<ResourceCleanup>
  readonly #watching = new AbortController()
  #resolve: (cleanup: ResourceCleanup) => void = () => undefined

  constructor(signal: AbortSignal) {
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve
    })
    const end = (): void => {
      this.reach('Full')
    }
    signal.addEventListener('abort', end, { once: true, signal: this.#watching.signal })
    if (signal.aborted) end()
  }

  /** Aborts when the end is reached. */
  get signal(): AbortSignal {
    return this.#watching.signal
  }

  reach(cleanup: ResourceCleanup): void {
    this.#resolve(cleanup)
    this.#watching.abort(new Error('the session ends'))
  }
}

interface OpenedServer extends DcpServer {
  readonly caPem: string
}

async function openServer(options: SessionOptions, ending: SessionEnd): Promise<OpenedServer> {
  const { certificate, token, port, folder = tmpdir(), clock, log, cleanupMs } = options
  const { identity, caPem, host } = await openIdentity(certificate, { clock, random: new SystemRandom(), token })
  const { containerLogSocket, containerRuntime } = options
  const server = await startDcpServer({
    identity,
    host,
    port,
    logFolder: folder,
    containers: containerLogSocket === undefined ? runtimeLogs(containerRuntime) : socketLogs(containerLogSocket),
    cleanupMs,
    clock,
    log,
    onStop: (cleanup) => {
      ending.reach(cleanup)
    },
  })
  // The address as the certificate names it, which is not always the one that is listened on.
  const url = new URL(server.url)
  url.hostname = host.includes(':') ? `[${host}]` : host
  return { ...server, url: url.origin, caPem }
}

/** The file appears at once with all its content: its readers poll for it. */
async function publish(path: string, { url, token, caPem }: OpenedServer, options: SessionOptions): Promise<void> {
  await writeKubeconfig(path, {
    server: url,
    caPem,
    token: options.token === undefined ? token : tokenElsewhere,
    name: 'apiserver',
  })
}

function watchMonitored({ monitorPid, monitorIntervalMs, clock, log }: SessionOptions, ending: SessionEnd): void {
  if (monitorPid === undefined) return
  waitForEnd(monitorPid, {
    clock,
    signal: ending.signal,
    ...(monitorIntervalMs && { intervalMs: monitorIntervalMs }),
  }).then(
    () => {
      log.info('the monitored process has ended', { pid: monitorPid })
      ending.reach('Full')
    },
    // The session has ended before.
    () => undefined,
  )
}

/** A kubeconfig that is there belongs to another session, whose clients would talk to this one. */
async function refusePresent(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) throw new UsageError(`the kubeconfig ${path} is a folder`)
  if (found && found.size > 0)
    throw new UsageError(`the kubeconfig ${path} exists already: it belongs to another session, or remove it`)
}
