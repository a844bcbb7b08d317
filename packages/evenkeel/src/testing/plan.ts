/**
 * Which single deviations a scenario has: everything that can go wrong once, at every place where it makes a difference.
 *
 * Places are where a program acts on the world: just before and just after each effect, at each look, and at each rest.
 * Between two of them nothing changes but what is on its way, and that is what held events are for.
 */
import { isJsonObject } from '#api'
import type { Deviation, DeviationAction, Interaction, ObjectReference, Profile, SchedulePoint } from './deviation.ts'
import { hasOwner, objectReferenceOf, objectsAt, objectsAtQuiet, quietIndexesOf } from './history.ts'
import { planSpecChanges, planWorldFaults } from './plan-state.ts'
import { bodyOf } from './requests.ts'
import type { World } from './world.ts'

const atStart: SchedulePoint = { type: 'start', index: 0 }

/** What the undisturbed schedule showed. */
interface PlanInput {
  readonly points: readonly Interaction[]
  readonly world: World
  readonly profile: Profile
}

/** Every single deviation, those that find most first. */
export function planSingles(seen: PlanInput): Deviation[] {
  const { world, profile } = seen
  const points = seen.points.filter(({ index }) => index >= 0)
  const effects = points.filter(({ type }) => type === 'effect')
  const looks = points.filter(({ type }) => type === 'look')
  const kinds = watchedResources(world)
  return [
    ...effects.flatMap((point) => effectFaults(point)),
    ...effects.flatMap((point) => foreignActions(point, world)),
    ...effects.flatMap((point) =>
      kinds.flatMap((resource) => [holdEvents(point, resource), coalesceEvents(point, resource)]),
    ),
    ...looks.flatMap((point) => readFaults(point, points)),
    ...permissionFaults(effects),
    ...quietIndexesOf(world).flatMap((index) => quietFaults(index, { world, kinds, profile })),
    ...planWorldFaults(world, points),
    ...planSpecChanges(world),
    ...(world.options.scenario.leaderElection
      ? effects.map(({ index }): Deviation => ({
          at: { type: 'effect', index, when: 'after' },
          deed: { type: 'rival' },
        }))
      : []),
    ...(hasManyWorkers(world) ? [{ at: atStart, deed: { type: 'serial' } } as const] : []),
    { at: atStart, deed: { type: 'skew', offsetMs: 300_000 } },
    { at: atStart, deed: { type: 'skew', offsetMs: -300_000 } },
  ]
}

/** What can happen to one effect. */
function effectFaults({ index, requestInfo, call, request }: Interaction): Deviation[] {
  const [before, after]: [SchedulePoint, SchedulePoint] = [
    { type: 'effect', index },
    { type: 'effect', index, when: 'after' },
  ]
  const always: Deviation[] = [
    { at: after, deed: { type: 'crash' } },
    { at: before, deed: { type: 'crash' } },
    { at: after, deed: { type: 'die' } },
    { at: after, deed: { type: 'lose' } },
    { at: before, deed: { type: 'lose' } },
    { at: before, deed: refuse(500, 'InternalError') },
  ]
  if (call) return always
  const refusals: Deviation[] = [{ at: before, deed: { ...refuse(429, 'TooManyRequests'), retryAfterSeconds: 1 } }]
  // Creating something of a given name that is not there cannot be a conflict.
  // Nor can deleting something, unless a version is named.
  if (canConflict(requestInfo?.verb, request)) refusals.push({ at: before, deed: refuse(409, 'Conflict') })
  else if (requestInfo?.verb === 'create' && isNameless(request))
    refusals.push({ at: before, deed: refuse(409, 'AlreadyExists') })
  return [...always, ...refusals]
}

/** What others can do to the objects in the world just before an effect. */
function foreignActions({ index, step, requestInfo }: Interaction, world: World): Deviation[] {
  const found: Deviation[] = []
  const at: SchedulePoint = { type: 'effect', index }
  const push = (type: 'delete' | 'recreate' | 'touch' | 'finalize' | 'terminate', object: ObjectReference): void => {
    found.push({ at, deed: { type, object } })
  }
  // What the effect itself did is not there yet.
  for (const object of objectsAt(world, step - 1)) {
    const place = objectReferenceOf(object)
    const isTarget = requestInfo?.name === place.name && requestInfo.namespace === place.namespace
    if (world.facts.state.isReconciled(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const) push(type, place)
    else if (isTarget) for (const type of ['delete', 'recreate', 'touch'] as const) push(type, place)
  }
  return [...found, { at, deed: { type: 'early' } }]
}

function readFaults({ index, call, step }: Interaction, points: readonly Interaction[]): Deviation[] {
  const at: SchedulePoint = { type: 'look', index }
  const hasPast = points.some(
    (one) => call && one.type === 'effect' && one.call?.service === call.service && one.step < step,
  )
  return [
    ...(hasPast ? [{ at, deed: { type: 'past' } } as const] : []),
    { at, deed: refuse(500, 'InternalError') },
    { at, deed: { type: 'lose' } },
  ]
}

/** Each permission goes missing once, where it is first used and where it is last used. */
function permissionFaults(effects: readonly Interaction[]): Deviation[] {
  const found = new Map<string, Deviation>()
  for (const which of ['first', 'last']) {
    for (const { index, requestInfo } of which === 'first' ? effects : [...effects].reverse()) {
      if (!requestInfo) continue
      const { verb, resource } = requestInfo
      const key = `${which} ${verb} ${resource}`
      if (!found.has(key)) found.set(key, { at: { type: 'effect', index }, deed: { type: 'forbid', verb, resource } })
    }
  }
  return [...found.values()]
}

function canConflict(verb: string | undefined, request: Interaction['request']): boolean {
  if (verb !== 'delete') return verb !== 'create'
  return request !== undefined && JSON.stringify(bodyOf(request) ?? null).includes('resourceVersion')
}

function isNameless(request: Interaction['request']): boolean {
  const body = request && bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata']) && body['metadata']['name'] === undefined
}

function hasManyWorkers(world: World): boolean {
  return world.facts.state.declarations.some(({ concurrency = 1 }) => concurrency > 1)
}

interface QuietFaultsOptions {
  readonly world: World
  readonly kinds: readonly string[]
  readonly profile: Profile
}

/** What can happen while everything rests. */
function quietFaults(index: number, { world, kinds, profile }: QuietFaultsOptions): Deviation[] {
  const at: SchedulePoint = { type: 'quiet', index }
  const found: Deviation[] = [
    { at, deed: { type: 'crash' } },
    { at, deed: { type: 'silence' } },
    { at, deed: { type: 'die' } },
  ]
  for (const resource of kinds)
    for (const type of ['hold', 'coalesce', 'cut'] as const) found.push({ at, deed: { type, resource } })
  if (profile.timeTravel)
    for (const back of [1, 2, 3, 5, 8])
      found.push(
        { at, deed: { type: 'stale', back } },
        ...kinds.map((resource): Deviation => ({ at, deed: { type: 'stale', back, resource } })),
      )
  for (const object of objectsAtQuiet(world, index)) {
    const place = objectReferenceOf(object)
    if (world.facts.state.isReconciled(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const)
        found.push({ at, deed: { type, object: place } })
    else if (hasOwner(object))
      for (const type of ['delete', 'touch', 'drift', 'recreate', 'neighbour'] as const)
        found.push({ at, deed: { type, object: place } })
  }
  return found
}

function holdEvents({ index }: Interaction, resource: string): Deviation {
  return { at: { type: 'effect', index }, deed: { type: 'hold', resource } }
}

function coalesceEvents({ index }: Interaction, resource: string): Deviation {
  return { at: { type: 'effect', index }, deed: { type: 'coalesce', resource } }
}

function refuse(status: number, reason: string): Extract<DeviationAction, { type: 'refuse' }> {
  return { type: 'refuse', status, reason }
}

function watchedResources(world: World): string[] {
  const found = new Set<string>()
  for (const life of world.processes)
    for (const resource of life.network.watched) if (resource !== 'leases') found.add(resource)
  return [...found]
}
