/**
 * Runs declared controllers: finds the cluster or starts a server, installs the kinds, runs a manager.
 *
 *   a cluster is configured ──▶ connect ──▶ install kinds ──▶ report missing permissions and kinds ──▶ manager over HTTP
 *   none is configured ──▶ start a server ──▶ manager in process
 *
 * A problem that can go away (a missing permission, a kind that another program installs) is logged and waited for. Any
 * other problem (a missing file, no server at the address, failed authentication) ends the run at once.
 */
import { isApiError, type Kind } from '#api'
import { silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import { Client, ConfigError, findConfig, openConnection, type ConnectionConfig } from '#client'
import type { ControllerDeclaration } from '#controller'
import { Manager, type ManagerOptions } from '#manager'
import { installKinds, type Server } from '#server'
import { isCallAction, type CallRequest } from '#verbs'
import { openDataPlane } from './data-plane.ts'
import type { RunOptions } from './run.ts'

/** Runs until the signal aborts. @throws permanent problems, and the error of the manager. */
export async function runControllers(signal: AbortSignal, options: RunOptions): Promise<void> {
  const { embedded = 'when-needed' } = options
  const config = embedded === true ? undefined : await findConfig(options)
  if (config) await runOn(config, options, signal)
  else if (embedded === false)
    throw new ConfigError(
      'no cluster is configured, and none of our own is wanted: set KUBECONFIG, or leave out embedded',
    )
  else await runEmbedded(options, signal)
}

async function runEmbedded(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { data, port, onReady } = options
  const seams = seamsOf(options)
  const kinds = installable(options)
  const opened = await openDataPlane({ folder: data, port, kinds, ...seams })
  try {
    const manager = makeManager(options, { transport: opened.plane.transport })
    answerActions(options.controllers, opened.plane)
    onReady?.({ manager, kinds, url: opened.url, embedded: opened })
    await manager.run(signal)
  } finally {
    await opened.stop()
  }
}

async function runOn(config: ConnectionConfig, options: RunOptions, signal: AbortSignal): Promise<void> {
  const { log } = seamsOf(options)
  const kinds = await prepare(config, options, signal)
  if (signal.aborted) return
  const manager = makeManager(options, { config })
  const { missing, unknown } = await manager.preflight({ signal }).catch(async (error: unknown) => {
    await manager.close()
    throw error
  })
  for (const { message } of missing) log.error('requirement missing', { requirement: message })
  if (unknown !== undefined) log.warn('requirements not checked', { reason: unknown })
  options.onReady?.({ manager, kinds, url: config.server })
  await manager.run(signal)
}

/** Connects to the server and installs the kinds. */
async function prepare(config: ConnectionConfig, options: RunOptions, signal: AbortSignal): Promise<readonly Kind[]> {
  const { clock, log } = seamsOf(options)
  const { install = true, host } = options
  const { transport, close } = openConnection(config, { clock, ...(host && { host }) })
  try {
    // Every authenticated user may read this path. Without retries, so that a user at a terminal sees the error at
    // once.
    await new Client({ transport, clock, retry: false, timeoutMs: 15_000 }).raw({ path: '/api' }, { signal })
    const kinds = install ? installable(options) : []
    await installKinds(transport, kinds, { clock, signal })
    return kinds
  } catch (error) {
    if (!(isApiError(error) && error.reason === 'Forbidden')) throw error
    log.warn('kinds not installed: set install: false if another tool installs them', { error })
    return []
  } finally {
    await close()
  }
}

function makeManager(options: RunOptions, cluster: Pick<ManagerOptions, 'transport' | 'config'>): Manager {
  const {
    controllers,
    kinds = [],
    name = nameFor(controllers),
    runnables,
    leaderElection,
    endpoints,
    webhooks,
    gracePeriodMs,
    plugins,
    client,
    cache,
    metrics,
    tracing,
    hotLoops,
    rules,
    host,
  } = options
  return new Manager({
    ...cluster,
    ...seamsOf(options),
    name,
    controllers,
    kinds,
    ...(host && { host }),
    ...(runnables && { runnables }),
    ...(leaderElection !== undefined && { leaderElection }),
    ...(endpoints !== undefined && { endpoints }),
    ...(webhooks && { webhooks }),
    ...(gracePeriodMs !== undefined && { gracePeriodMs }),
    ...(plugins && { plugins }),
    ...(client && { client }),
    ...(cache && { cache }),
    ...(metrics && { metrics }),
    ...(tracing && { tracing }),
    ...(hotLoops && { hotLoops }),
    ...(rules && { rules }),
  })
}

function seamsOf({ clock = new SystemClock(), random = new SystemRandom(), log = silentLogger }: RunOptions): {
  clock: Clock
  random: Random
  log: Logger
} {
  return { clock, random, log }
}

/** Actions of the form `call` are answered here, in the process of the server. */
function answerActions(controllers: readonly ControllerDeclaration[], { onAction }: Pick<Server, 'onAction'>): void {
  for (const { for: kind, verbs = [] } of controllers) {
    for (const verb of verbs)
      if (isCallAction(verb)) onAction(kind, verb.action.name, (asked) => verb.answer(asked as CallRequest))
  }
}

/** Each kind once, with the actions of its controllers. Kinds without a schema are installed by other programs. */
function installable({ controllers, kinds = [] }: RunOptions): readonly Kind[] {
  const ofVerbs = controllers.flatMap(({ verbs = [] }) => verbs.flatMap((verb) => verb.kinds ?? []))
  const own = controllers.map(({ for: kind, verbs = [] }) =>
    withActions(
      kind,
      verbs.flatMap(({ action }) => action ?? []),
    ),
  )
  const all = [...ofVerbs, ...kinds, ...own].filter((kind) => kind.schema !== undefined)
  return [...new Map(all.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind])).values()]
}

function withActions(kind: Kind, actions: NonNullable<Kind['actions']>): Kind {
  return actions.length === 0 ? kind : { ...kind, actions: [...(kind.actions ?? []), ...actions] }
}

/** Programs with the same controllers are replicas of each other, so the name is derived from the controllers. */
function nameFor(controllers: readonly ControllerDeclaration[]): string {
  const names = controllers.map(({ name, for: { kind } }) => name ?? kind.toLowerCase())
  return `${names.join('-').slice(0, 50) || 'evenkeel'}-controller`
}
