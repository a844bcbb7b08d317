/**
 * What `startPlane` does: a server, and beside it a run of the controllers, each as a user of its own.
 */
import { silentLogger, SystemClock, SystemRandom } from '#base'
import type { Clock, Logger, Random } from '#base'
import type { LeaseTimes } from '#manager'
import { startServer } from '#server'
import type { Transport } from '#wire'
import type { Plane, PlaneOptions } from '../plane.ts'
import { transportAs } from './acting-as.ts'
import type { PlaneElection } from './plane-election.ts'
import { planeControllers } from './plane-controllers.ts'
import type { PlaneController } from './plane-controllers.ts'
import { usageGuard } from '../usage/usage-guard.ts'
import { PlaneRun } from './plane-run.ts'
import type { NamedController } from './plane-run.ts'

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
