/**
 * Permissions that are missing, services and servers that are away, kinds that are not installed yet.
 */
import type { World } from '../world.ts'
import type { Fault } from './trouble.ts'

/** How often somebody without a permission is refused. */
const refusalsMax = 4

/** A permission is missing for a while. */
export function forbiddenFault({ verb, resource }: { verb: string; resource: string }): Fault {
  let refusals = 0
  return {
    endsAt: 'healing',
    decide: ({ requestInfo }) =>
      requestInfo?.verb === verb && requestInfo.resource === resource && refusals++ < refusalsMax
        ? { type: 'refuse', status: 403, reason: 'Forbidden' }
        : undefined,
  }
}

/** How long somebody is away. */
const outageMs = 120_000
/** Who asks more often than this meanwhile does not wait in between. */
const attemptsMax = 200

/** A service outside is away, or the server: nobody answers what is asked meanwhile. */
export function outageFault(world: World, service: string | undefined): Fault {
  const [beganAtMs, name] = [world.clock.monotonic(), service ?? 'the server']
  let asks = 0
  const isAway = (): boolean => world.clock.monotonic() - beganAtMs < outageMs
  world.note('world', `${name} is away`)
  if (service === undefined)
    for (const life of world.processes) for (const stream of life.isDead ? [] : life.network.streams()) stream.cut()
  return {
    ...(service === undefined
      ? { respond: () => (isAway() ? (asks++, { status: 503, reason: 'ServiceUnavailable' }) : undefined) }
      : {
          decide: ({ call }) =>
            call?.service === service && isAway()
              ? (asks++, { type: 'refuse', status: 503, reason: 'ServiceUnavailable' })
              : undefined,
        }),
    end() {
      world.note('world', `${name} is back`)
      if (asks > attemptsMax)
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: name,
          message: `${name} is away for ${outageMs / 1000} s and is asked ${asks} times meanwhile: nobody waits between two attempts`,
          hint: 'let the error reach the queue: it waits longer each time',
        })
    },
  }
}

/** A kind is not installed yet. */
export function missingKindFault(world: World, resource: string): Fault {
  world.note('world', `${resource} are not known to the server yet`)
  return {
    respond: (requestInfo) =>
      requestInfo.resource === resource
        ? { status: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }
        : undefined,
    end() {
      world.note('world', `${resource} are known to the server now`)
    },
  }
}
