/**
 * One session: the server of an application, from its start to its end.
 *
 *   files in the session folder          made by
 *   kubeconfig                           this program, when the server answers; removed at the end
 *   runs-XXXXXX/                         this program: what it has started, and the output of that
 *   resource-KIND-UID.log, …             controllers
 *   (the folder itself)                  the host; removed at the end by this program
 *
 * A session ends with a signal, with the process that is monitored, or when the host asks for it. Unless only the server
 * was wanted, or the host says otherwise, the objects of the application are deleted first.
 */
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Manager } from 'evenkeel/controller'
import { writeKubeconfig } from 'evenkeel/server'
import { SystemRandom, type Clock, type Logger } from 'evenkeel/unstable/base'
import { openIdentity, type CertificateFiles } from './certificate-files.ts'
import { dcpControllers, type DcpControllers } from './controllers/controllers.ts'
import type { ResourceCleanup } from './execution.ts'
import { runtimeLogs, socketLogs, type ContainerLogs } from './logs/container-log.ts'
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
  /** No controllers run here: others do, and nothing has to be cleaned up at the end. */
  readonly isServerOnly: boolean
  /** The folder of the session; absent: there is none to remove. */
  readonly folder: string | undefined
  readonly keepsFolder: boolean
  /** @default the first that answers */
  readonly containerRuntime: 'docker' | 'podman' | undefined
  /** Where profiles are written to. */
  readonly profileFolder: string
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
  const runs = options.isServerOnly ? undefined : await openRuns(options)
  try {
    const server = await openServer(options, { ending, runs })
    const controlling = runs && controlObjects(runs, { server, options, ending })
    try {
      await publish(kubeconfig, server, options)
      log.info('server is ready', { url: server.url })
      watchMonitored(options, ending)
      const cleanup = await ending.reached
      if (cleanup === 'Full' && !options.isServerOnly) await server.cleanUp()
    } finally {
      ending.reach('None')
      await rm(kubeconfig, { force: true })
      await controlling?.()
      await server.stop()
    }
  } finally {
    if (!keepsFolder) await removeFolders([runs?.folder, folder])
  }
}

async function removeFolders(folders: readonly (string | undefined)[]): Promise<void> {
  for (const folder of folders) if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}

interface Runs extends DcpControllers {
  readonly folder: string
}

/** The controllers of a session, and a new folder for what they start: no other session has used it. */
async function openRuns({
  folder = tmpdir(),
  keepsFolder,
  clock,
  log,
  containerRuntime,
}: SessionOptions): Promise<Runs> {
  await mkdir(folder, { recursive: true })
  const runs = await mkdtemp(join(folder, 'runs-'))
  return {
    folder: runs,
    ...dcpControllers({
      ...{ folder: runs, sessionFolder: folder, keepsLogs: keepsFolder, clock, log },
      wantedRuntime: containerRuntime,
    }),
  }
}

interface ControlOptions {
  readonly server: DcpServer
  readonly options: SessionOptions
  readonly ending: SessionEnd
}

/** Begins to run the objects. Returns a function that ends everything that was started, and then the controllers. */
function controlObjects(
  { controllers, stop }: Runs,
  { server, options: { clock, log }, ending }: ControlOptions,
): () => Promise<void> {
  const stopping = new AbortController()
  const manager = new Manager({ name: 'dcp', transport: server.transport, controllers, clock, log })
  const running = manager.run(stopping.signal).catch((error: unknown) => {
    // Without controllers a host would wait for its objects.
    log.error('controllers ended', { error })
    ending.reach('None')
  })
  return async () => {
    const survivors = await stop()
    for (const { owner, identity } of survivors)
      log.error('cannot end program', { object: owner.name, pid: identity?.pid })
    stopping.abort(new Error('the session ends'))
    await running
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

async function openServer(
  options: SessionOptions,
  { ending, runs }: { readonly ending: SessionEnd; readonly runs: Runs | undefined },
): Promise<OpenedServer> {
  const { certificate, token, port, folder = tmpdir(), clock, log, cleanupMs } = options
  const { identity, caPem, host } = await openIdentity(certificate, { clock, random: new SystemRandom(), token })
  const { profileFolder } = options
  const server = await startDcpServer({
    identity,
    host,
    port,
    logFolder: folder,
    containers: containerLogsOf(options, runs),
    openProgramLog: runs && ((path) => openRunLog(runs, path)),
    profileFolder,
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

/** Of containers that run here, of those of the tests of dcp, or of those of controllers elsewhere. */
function containerLogsOf(
  { containerLogSocket, containerRuntime = 'docker' }: SessionOptions,
  runs: Runs | undefined,
): ContainerLogs {
  if (containerLogSocket !== undefined) return socketLogs(containerLogSocket)
  return runs?.containerLogs ?? runtimeLogs(containerRuntime)
}

/** Other files are logs with times in them: those of controllers elsewhere. */
async function openRunLog({ folder, runner }: Runs, path: string) {
  return path.startsWith(`${folder}/`) ? runner.openLog(path) : undefined
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
      log.info('monitored process ended', { pid: monitorPid })
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
