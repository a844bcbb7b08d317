/**
 * The implementation of `startPlane`: a server and its controllers, each with a user of its own.
 *
 * The users are those of a Kubernetes cluster: the controller manager lists and watches; each controller writes with
 * its own service account, whose ClusterRole grants the permissions.
 */
import { silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import type { LeaseTimes } from '#manager'
import { startServer, type AdmissionOptions, type AdmissionPluginName, type Server } from '#server'
import { parseResourcePath, type Transport } from '#wire'
import { planeControllers, type PlaneController, type PlaneControllerName } from './plane-controllers.ts'
import type { PlaneElection } from './plane-election.ts'
import { PlaneRun, type NamedController } from './plane-run.ts'
import type { Plane, PlaneOptions } from './plane.ts'
import { usageGuard } from './usage-guard.ts'

/** See `startPlane`. */
export async function startServerWithControllers({
  controllers = {},
  controllersDelayMs = 0,
  leaderElection,
  ...options
}: PlaneOptions): Promise<Plane> {
  if (!(controllersDelayMs >= 0))
    throw new RangeError(`controllersDelayMs must be 0 or more, got ${controllersDelayMs}`)
  const wanted = selectControllers(controllers)
  const { clock = new SystemClock(), random = new SystemRandom(), log = silentLogger } = options
  const elects = leaderElection ?? options.store?.isShared === true
  const makeElection =
    elects === false ? undefined : await electionFor(elects === true ? {} : elects, { clock, random, log })
  const guard = usageGuard({ clock })
  const server = await startServer({
    ...options,
    clock,
    random,
    log,
    admission: {
      ...options.admission,
      hooks: [...(options.admission?.hooks ?? []), guard.hook],
      enablePlugins: enabledPlugins(wanted, options.admission),
    },
  })
  guard.begin(transportAs(server, undefined))
  const run = await PlaneRun.start({
    controllers: wanted,
    election: makeElection?.(transportAs(server, undefined)),
    clock,
    random,
    log,
    caPem: server.address?.caPem,
    tokenForSecret: server.tokenForSecret,
    delayMs: controllersDelayMs,
    transportFor: (account) => transportAs(server, account),
  })
  return {
    ...server,
    controllers: { idle: (given) => run.idle(given) },
    async stop(given) {
      await run.stop()
      await server.stop(given)
    },
  }
}

/** The admission plugins that need controllers are on when these run, as in a cluster. */
const pluginControllers = {
  ServiceAccount: ['serviceAccounts'],
  StorageObjectInUseProtection: ['claims', 'volumes', 'volumeAttributesClasses'],
} as const satisfies Partial<Record<AdmissionPluginName, readonly PlaneControllerName[]>>

function enabledPlugins(
  controllers: readonly NamedController[],
  { enablePlugins = [], disablePlugins = [] }: AdmissionOptions = {},
): AdmissionPluginName[] {
  const running = new Set(controllers.map(({ name }) => name))
  const served = Object.entries(pluginControllers)
    .filter(([, needed]) => needed.every((name) => running.has(name)))
    .map(([plugin]) => plugin as AdmissionPluginName)
  return [...new Set([...enablePlugins, ...served.filter((plugin) => !disablePlugins.includes(plugin))])]
}

/** @throws {RangeError} for invalid durations, before anything starts. */
async function electionFor(
  times: LeaseTimes,
  seams: { readonly clock: Clock; readonly random: Random; readonly log: Logger },
): Promise<(transport: Transport) => PlaneElection> {
  const [{ PlaneElection }, { checkTimes }] = await Promise.all([import('./plane-election.ts'), import('#manager')])
  checkTimes(times)
  return (transport) => new PlaneElection({ ...seams, transport, times })
}

function selectControllers(choice: false | Partial<Readonly<Record<string, boolean>>>): NamedController[] {
  if (choice === false) return []
  const unknown = Object.keys(choice).find((name) => !Object.hasOwn(planeControllers, name))
  if (unknown !== undefined)
    throw new RangeError(
      `there is no controller ${JSON.stringify(unknown)}: choose from ${Object.keys(planeControllers).join(', ')}`,
    )
  return Object.entries<PlaneController>(planeControllers)
    .filter(([name]) => choice[name] !== false)
    .map(([name, controller]) => ({ name, ...controller }))
}

// The users of the controllers.

type User = Parameters<Server['as']>[0]

const controllerManager = 'system:kube-controller-manager'

/** The server itself: no other user needs the permissions for its own work. */
const apiServer: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/**
 * A transport with the user of a service account in `kube-system` or a system user; without one, with the user of the
 * server.
 */
export function transportAs({ as }: Pick<Server, 'as'>, account: string | undefined): Transport {
  if (account === undefined) return as(apiServer)
  const [reading, writing] = [as(userOf(controllerManager)), as(userOf(account))]
  return (request) => (isListing(request) ? reading : writing)(request)
}

function userOf(account: string): User {
  if (account.startsWith('system:')) return { name: account, groups: ['system:authenticated'] }
  return {
    name: `system:serviceaccount:kube-system:${account}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  }
}

function isListing({ method, target }: Parameters<Transport>[0]): boolean {
  return method === 'GET' && parseResourcePath(target.split('?', 1)[0] ?? '')?.name === ''
}
