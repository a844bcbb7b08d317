/**
 * The API server of an application: the kinds of the group with their rules and logs, and the admin document.
 *
 * It is an Evenkeel server in memory, with nothing special beyond the options that every embedder has. What runs the
 * objects are controllers: ours in the same process (controllers/), or others with the kubeconfig of the session.
 */
import type { TimedLog } from '@evenkeel/workloads'
import { Client } from 'evenkeel/client'
import { startServer, type CustomResourceOptions, type Identity, type Server } from 'evenkeel/server'
import { SystemClock, type Clock, type Logger } from 'evenkeel/unstable/base'
import { deleteApplication } from './cleanup.ts'
import { Execution, type ResourceCleanup } from './execution.ts'
import { allKinds } from './kinds/all.ts'
import type { ContainerLogs } from './logs/container-log.ts'
import { logHandlers } from './logs/object-logs.ts'
import { profileRoute } from './profile.ts'
import { ruleHooks } from './rules/rules.ts'

export interface DcpServerOptions {
  readonly identity: Identity
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Where logs of objects are, as `resource-KIND-UID.log`. */
  readonly logFolder: string
  readonly containers: ContainerLogs
  /** Opens the log of a program that runs here; undefined for other files. @default none runs here */
  readonly openProgramLog?: ((path: string) => Promise<TimedLog | undefined>) | undefined
  /** Serves `PUT /admin/perftrace`: where profiles are written to. @default 501 */
  readonly profileFolder?: string | undefined
  /** How long the cleanup at the end may take. */
  readonly cleanupMs: number
  readonly log: Logger
  /** @default the system's */
  readonly clock?: Clock
  /** The host of the application wants its end. */
  onStop(cleanup: ResourceCleanup): void
}

export interface DcpServer {
  readonly url: string
  readonly token: string
  /** The server as a function, for code in this process. */
  readonly transport: Server['transport']
  /** Deletes all objects of the application; resolves when they are gone or the time is over. */
  cleanUp(): Promise<void>
  stop(): Promise<void>
}

/** Starts the server. It is ready when this resolves. */
export async function startDcpServer(options: DcpServerOptions): Promise<DcpServer> {
  const { identity, host, port, log, clock = new SystemClock(), cleanupMs, logFolder, containers } = options
  const { openProgramLog, profileFolder } = options
  const stopping = new AbortController()
  let cleaning: Promise<void> | undefined
  const cleanUp = (): Promise<void> =>
    (cleaning ??= deleteApplication(client, { clock, log, timeoutMs: cleanupMs, signal: stopping.signal }))
  const execution = new Execution({ log, cleanUp, stop: (cleanup) => options.onStop(cleanup) })
  const server = await startServer({
    kinds: allKinds,
    customResources: customResources({ clock, log, folder: logFolder, containers, openProgramLog }),
    routes: [execution.route, profileRoute({ clock, log, folder: profileFolder, signal: stopping.signal })],
    admission: { hooks: ruleHooks({ isCleaningUp: () => execution.isCleaningUp }) },
    listen: { host, port, identity },
    clock,
    log,
  })
  const client = new Client({ transport: server.transport })
  return {
    url: server.address?.url ?? '',
    token: identity.token,
    transport: server.transport,
    cleanUp,
    async stop() {
      stopping.abort(new Error('the server is stopping'))
      await cleaning
      await client.close()
      await server.stop()
    },
  }
}

/** How this group differs from other custom resources. */
function customResources(logs: Parameters<typeof logHandlers>[0]): CustomResourceOptions[] {
  const handlers = logHandlers(logs)
  return allKinds.map((kind) => {
    const log = handlers[kind.kind]
    return {
      kind,
      names: 'path-segment',
      deleteAnswers: 'object',
      statusOnCreate: 'keep',
      ...(log && { streams: { log } }),
    }
  })
}
