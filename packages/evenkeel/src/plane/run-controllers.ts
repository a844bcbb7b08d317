/**
 * Runs declared controllers: finds the cluster or starts a server, installs the kinds, runs a manager.
 *
 *   a cluster is configured ──▶ connect ──▶ install kinds ──▶ report missing permissions and kinds ──▶ manager over HTTP
 *   none is configured ──▶ start a server in this thread ──▶ manager in process
 *                      └─▶ start a server in a thread ──▶ as on a cluster
 *
 * A problem that can go away (a missing permission, a kind that another program installs) is logged and waited for. Any
 * other problem (a missing file, no server at the address, failed authentication) ends the run at once.
 */
import { isApiError, type Kind, type UnstructuredObject } from '#api'
import { anySignal, silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import { Client, ConfigError, findConfig, loadConfig, openConnection, type ConnectionConfig } from '#client'
import { verbsOf, withVerbs, type ControllerDeclaration } from '#controller'
import { Manager, rbacOf, type ManagerOptions } from '#manager'
import { crdsOf, installKinds, type Server } from '#server'
import { isCallAction, type CallRequest } from '#verbs'
import { openDataPlane } from './data-plane.ts'
import { ManagerFile } from './manager-file.ts'
import { PlaneThread } from './plane-thread.ts'
import type { EmbeddedServer, Ready, RunOptions } from './run.ts'

/** Runs until the signal aborts. @throws permanent problems, and the error of the manager. */
export async function runControllers(signal: AbortSignal, options: RunOptions): Promise<void> {
  const { embedded = 'when-needed' } = options
  const config = embedded === true ? undefined : await findConfig(options)
  if (config) {
    for (const { kind, streams = {} } of options.customResources ?? [])
      if (Object.keys(streams).length > 0)
        seamsOf(options).log.warn('cannot serve streams of custom resources: only an embedded server can', {
          kind: kind.kind,
        })
    await runOn(config, options, { signal, onReady: options.onReady })
  } else if (embedded === false)
    throw new ConfigError(
      'no cluster is configured, and embedded: false starts no server: set KUBECONFIG, or remove embedded',
    )
  else if (usesThread(options)) await runOnThread(options, signal)
  else await runEmbedded(options, signal)
}

/** A server in this thread: no request leaves the process. */
async function runEmbedded(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { data, memory, port, customResources, onReady } = options
  const seams = seamsOf(options)
  const kinds = installable(options)
  const opened = await openDataPlane({
    folder: data,
    memory,
    port,
    ...(customResources && { customResources }),
    ...seams,
  })
  const managers = managersOf(options, opened.folder)
  try {
    await installKinds(opened.plane.transport, kinds, { ...seams, signal, force: options.install === 'force' })
    const manager = makeManager(withManagerFile(options, managers), { transport: opened.plane.transport })
    for (const [kind, name, answer] of callActions(options.controllers)) opened.plane.onAction(kind, name, answer)
    await announce(manager, async () =>
      onReady?.({ manager, kinds, url: opened.url, embedded: embeddedServer(opened, managers) }),
    )
    await manager.run(signal)
  } finally {
    await managers?.remove()
    await opened.stop()
  }
}

/** A server in a thread of its own: the controllers reach it as they reach a cluster. */
async function runOnThread(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { data, memory, port, customResources = [], onReady } = options
  for (const { kind, connects = {} } of customResources)
    if (Object.keys(connects).length > 0)
      seamsOf(options).log.info('connections are not served: only a server in the same thread can', {
        kind: kind.kind,
        subresources: Object.keys(connects),
      })
  const [thread, opened] = await PlaneThread.open({ folder: data, memory, port, customResources }, seamsOf(options))
  const managers = managersOf(options, opened.folder)
  try {
    const config = await loadConfig({ kubeconfig: opened.kubeconfig })
    const install = options.install === 'force' ? 'force' : true
    // The server is ours alone: there is no other replica.
    await runOn(config, withManagerFile({ leaderElection: false, ...options, install }, managers), {
      signal: anySignal(signal, thread.ended),
      onReady: async (ready) => {
        for (const [kind, name, answer] of callActions(options.controllers)) await thread.onAction(kind, name, answer)
        await onReady?.({ ...ready, embedded: embeddedServer(opened, managers) })
      },
    })
    if (!signal.aborted) thread.ended.throwIfAborted()
  } finally {
    await managers?.remove()
    await thread.stop()
  }
}

/** Simulated time and random numbers cannot be shared with another thread. */
function usesThread({ serverThread, clock, random }: RunOptions): boolean {
  if (clock !== undefined && !(clock instanceof SystemClock)) return false
  if (random !== undefined && !(random instanceof SystemRandom)) return false
  return serverThread ?? process.getBuiltinModule('node:inspector').url() !== undefined
}

function managersOf({ data }: RunOptions, folder: string): ManagerFile | undefined {
  return data === undefined ? undefined : new ManagerFile(folder)
}

function embeddedServer(
  { folder, kubeconfig, isDurable }: Omit<EmbeddedServer, 'managers'>,
  managers: ManagerFile | undefined,
): EmbeddedServer {
  return { folder, kubeconfig, isDurable, managers }
}

/** Commands in the same directory read the endpoints of the manager: without settings it has some on a free port. */
function withManagerFile(options: RunOptions, managers: ManagerFile | undefined): RunOptions {
  if (!managers) return options
  const { name = nameFor(options.controllers), endpoints = { port: 0 } } = options
  if (endpoints === false) return options
  const onListening = (url: string): void => {
    managers.add(name, url).catch((error: unknown) => {
      seamsOf(options).log.warn('cannot write the address of the manager', { error })
    })
    endpoints.onListening?.(url)
  }
  return { ...options, endpoints: { ...endpoints, onListening } }
}

interface RunOnOptions {
  readonly signal: AbortSignal
  readonly onReady?: ((ready: Ready) => Promise<void> | void) | undefined
}

async function runOn(config: ConnectionConfig, options: RunOptions, { signal, onReady }: RunOnOptions): Promise<void> {
  const { log } = seamsOf(options)
  const kinds = await prepare(config, options, signal)
  if (signal.aborted) return
  const manager = makeManager(options, { config })
  const { missing, unknown } = await manager.preflight({ signal }).catch(async (error: unknown) => {
    await manager.close()
    throw error
  })
  for (const { message } of missing) log.error('requirement missing', { requirement: message })
  if (unknown !== undefined) log.warn('cannot check requirements', { reason: unknown })
  await announce(manager, async () => onReady?.({ manager, kinds, url: config.server }))
  await manager.run(signal)
}

/** A manager that will not run is closed. */
async function announce(manager: Manager, call: () => Promise<void>): Promise<void> {
  try {
    await call()
  } catch (error) {
    await manager.close()
    throw error
  }
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
    const kinds = install === false ? [] : installable(options)
    await installKinds(transport, kinds, { clock, signal, force: install === 'force' })
    return kinds
  } catch (error) {
    if (!(isApiError(error) && error.reason === 'Forbidden')) throw error
    log.warn('cannot install kinds: set install: false if another tool installs them', { error })
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

/** Actions of the form `call`, which the process of the server answers: arguments of its `onAction`. */
function callActions(controllers: readonly ControllerDeclaration[]): Parameters<Server['onAction']>[] {
  return controllers.flatMap(({ for: kind, verbs = [] }) =>
    verbs
      .filter(isCallAction)
      .map((verb): Parameters<Server['onAction']> => [
        kind,
        verb.action.name,
        (asked) => verb.answer(asked as CallRequest),
      ]),
  )
}

/** The objects that a cluster needs before the program: CRDs, with those of the verbs, and the roles of a service account. */
export function manifestsOf(
  options: RunOptions,
  { namespace, serviceAccount }: { readonly namespace: string; readonly serviceAccount?: string | undefined },
): { readonly crds: readonly UnstructuredObject[]; readonly rbac: readonly UnstructuredObject[] } {
  const { controllers, name = nameFor(controllers), leaderElection } = options
  const account = serviceAccount ?? name
  const lease = leaderElection === false ? undefined : { name, namespace }
  const { objects } = rbacOf({ name, declarations: controllers.map(withVerbs), lease })
  return {
    crds: crdsOf(installable(options)),
    rbac: [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
      ...objects({ namespace, serviceAccount: account }),
    ],
  }
}

/** Each kind once, with the actions of its controllers. Kinds without a schema are installed by other programs. */
function installable({ controllers, kinds = [] }: RunOptions): readonly Kind[] {
  const ofVerbs = controllers.flatMap((declaration) => verbsOf(declaration).flatMap((verb) => verb.kinds ?? []))
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
