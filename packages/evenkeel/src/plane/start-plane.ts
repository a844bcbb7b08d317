/**
 * What `startPlane` does: a server, and beside it a run of the controllers, each as a user of its own.
 */
import { silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import type { LeaseTimes } from '#manager'
import { startServer, type Server } from '#server'
import { parseResourcePath, type Transport } from '#wire'
import { planeControllers, type PlaneController } from './plane-controllers.ts'
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
    admission: { ...options.admission, hooks: [...(options.admission?.hooks ?? []), guard.hook] },
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

/** @throws {RangeError} when the times make no sense: before anything was started. */
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

/*
 * Whom the controllers of the plane act as, the same as on a cluster: what is listed and watched, the controller manager
 * lists and watches; what is written, each controller writes under its own account, whose ClusterRole says what it may do.
 */

type User = Parameters<Server['as']>[0]

const controllerManager = 'system:kube-controller-manager'

/** The server itself: what it does for itself, nobody else need be allowed to do. */
const apiServer: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** The server, as a service account of `kube-system` or a user of the system sees it; without one, as it sees itself. */
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
