/**
 * Plans the single deviations of a scenario: every fault once, at every place where it makes a difference.
 *
 * The places are the interactions of the undisturbed schedule (just before and just after each effect, and each read),
 * its quiet states, and the start. Between two interactions only undelivered events differ, and `hold` covers those.
 *
 * Example: the scenario in the header of deviation.ts has one read, two effects and one quiet state. The plan contains
 *
 *     effect 0   crash before and after, die, lose before and after, 500, 429 (a create of a given name cannot conflict)
 *     effect 1   the same, and 409 Conflict
 *     effect 0,1 delete, recreate, touch, finalize or terminate App a; the user is early; hold or coalesce apps and configmaps
 *     read 0     500, lose
 *     quiet 0    crash, die, silence; hold, coalesce or cut each kind; the same changes of App a; delete, touch, drift,
 *                recreate or neighbour ConfigMap a
 *     start      clock skew of five minutes ahead and behind
 *
 * and the longer faults of plan-state.ts. Each is one schedule of tier 1. Those that find most come first.
 */
import { isJsonObject } from '#api'
import type { Deviation, DeviationAction, Interaction, ObjectReference, Profile, SchedulePoint } from './deviation.ts'
import { hasOwner, objectReferenceOf, objectsAt, objectsAtQuiet, quietIndexesOf } from './history.ts'
import { planSpecChanges, planWorldFaults } from './plan-state.ts'
import { bodyOf } from './requests.ts'
import type { World } from './world.ts'

const atStart: SchedulePoint = { type: 'start', index: 0 }

/** The interactions of a schedule, and the world it ran in. */
interface PlanInput {
  readonly interactions: readonly Interaction[]
  readonly world: World
  readonly profile: Profile
}

/** Every single deviation, the most productive first. */
export function planSingles(seen: PlanInput): Deviation[] {
  const { world, profile } = seen
  const interactions = seen.interactions.filter(({ index }) => index >= 0)
  const effects = interactions.filter(({ type }) => type === 'effect')
  const reads = interactions.filter(({ type }) => type === 'read')
  const kinds = watchedResources(world)
  return [
    ...effects.flatMap((interaction) => effectFaults(interaction)),
    ...effects.flatMap((interaction) => foreignActions(interaction, world)),
    ...effects.flatMap((interaction) =>
      kinds.flatMap((resource) => [holdEvents(interaction, resource), coalesceEvents(interaction, resource)]),
    ),
    ...reads.flatMap((interaction) => readFaults(interaction, interactions)),
    ...permissionFaults(effects),
    ...quietIndexesOf(world).flatMap((index) => quietFaults(index, { world, kinds, profile })),
    ...planWorldFaults(world, interactions),
    ...planSpecChanges(world),
    ...(world.options.scenario.leaderElection
      ? effects.map(({ index }): Deviation => ({
          at: { type: 'effect', index, when: 'after' },
          action: { type: 'rival' },
        }))
      : []),
    ...(hasManyWorkers(world) ? [{ at: atStart, action: { type: 'serial' } } as const] : []),
    { at: atStart, action: { type: 'skew', offsetMs: 300_000 } },
    { at: atStart, action: { type: 'skew', offsetMs: -300_000 } },
  ]
}

/** Faults of one effect. */
function effectFaults({ index, requestInfo, call, request }: Interaction): Deviation[] {
  const [before, after]: [SchedulePoint, SchedulePoint] = [
    { type: 'effect', index },
    { type: 'effect', index, when: 'after' },
  ]
  const always: Deviation[] = [
    { at: after, action: { type: 'crash' } },
    { at: before, action: { type: 'crash' } },
    { at: after, action: { type: 'die' } },
    { at: after, action: { type: 'lose' } },
    { at: before, action: { type: 'lose' } },
    { at: before, action: refuse(500, 'InternalError') },
  ]
  if (call) return always
  const refusals: Deviation[] = [{ at: before, action: { ...refuse(429, 'TooManyRequests'), retryAfterSeconds: 1 } }]
  // A create of a given name cannot conflict. Nor can a delete without a resourceVersion.
  if (canConflict(requestInfo?.verb, request)) refusals.push({ at: before, action: refuse(409, 'Conflict') })
  else if (requestInfo?.verb === 'create' && isNameless(request))
    refusals.push({ at: before, action: refuse(409, 'AlreadyExists') })
  return [...always, ...refusals]
}

/** Writes of other clients just before an effect. */
function foreignActions({ index, step, requestInfo }: Interaction, world: World): Deviation[] {
  const found: Deviation[] = []
  const at: SchedulePoint = { type: 'effect', index }
  const push = (type: 'delete' | 'recreate' | 'touch' | 'finalize' | 'terminate', object: ObjectReference): void => {
    found.push({ at, action: { type, object } })
  }
  // The effect itself has not been executed yet.
  for (const object of objectsAt(world, step - 1)) {
    const reference = objectReferenceOf(object)
    const isTarget = requestInfo?.name === reference.name && requestInfo.namespace === reference.namespace
    if (world.facts.state.isReconciled(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const) push(type, reference)
    else if (isTarget) for (const type of ['delete', 'recreate', 'touch'] as const) push(type, reference)
  }
  return [...found, { at, action: { type: 'early' } }]
}

function readFaults({ index, call, step }: Interaction, interactions: readonly Interaction[]): Deviation[] {
  const at: SchedulePoint = { type: 'read', index }
  const hasPast = interactions.some(
    (one) => call && one.type === 'effect' && one.call?.service === call.service && one.step < step,
  )
  return [
    ...(hasPast ? [{ at, action: { type: 'past' } } as const] : []),
    { at, action: refuse(500, 'InternalError') },
    { at, action: { type: 'lose' } },
  ]
}

/** Each permission is missing once where it is first used and once where it is last used. */
function permissionFaults(effects: readonly Interaction[]): Deviation[] {
  const found = new Map<string, Deviation>()
  for (const which of ['first', 'last']) {
    for (const { index, requestInfo } of which === 'first' ? effects : [...effects].reverse()) {
      if (!requestInfo) continue
      const { verb, resource } = requestInfo
      const key = `${which} ${verb} ${resource}`
      if (!found.has(key)) found.set(key, { at: { type: 'effect', index }, action: { type: 'forbid', verb, resource } })
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

/** Faults of one quiet state. */
function quietFaults(index: number, { world, kinds, profile }: QuietFaultsOptions): Deviation[] {
  const at: SchedulePoint = { type: 'quiet', index }
  const found: Deviation[] = [
    { at, action: { type: 'crash' } },
    { at, action: { type: 'silence' } },
    { at, action: { type: 'die' } },
  ]
  for (const resource of kinds)
    for (const type of ['hold', 'coalesce', 'cut'] as const) found.push({ at, action: { type, resource } })
  if (profile.timeTravel)
    for (const back of [1, 2, 3, 5, 8])
      found.push(
        { at, action: { type: 'stale', back } },
        ...kinds.map((resource): Deviation => ({ at, action: { type: 'stale', back, resource } })),
      )
  for (const object of objectsAtQuiet(world, index)) {
    const reference = objectReferenceOf(object)
    if (world.facts.state.isReconciled(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const)
        found.push({ at, action: { type, object: reference } })
    else if (hasOwner(object))
      for (const type of ['delete', 'touch', 'drift', 'recreate', 'neighbour'] as const)
        found.push({ at, action: { type, object: reference } })
  }
  return found
}

function holdEvents({ index }: Interaction, resource: string): Deviation {
  return { at: { type: 'effect', index }, action: { type: 'hold', resource } }
}

function coalesceEvents({ index }: Interaction, resource: string): Deviation {
  return { at: { type: 'effect', index }, action: { type: 'coalesce', resource } }
}

function refuse(status: number, reason: string): Extract<DeviationAction, { type: 'refuse' }> {
  return { type: 'refuse', status, reason }
}

function watchedResources(world: World): string[] {
  const found = new Set<string>()
  for (const proc of world.processes)
    for (const resource of proc.network.watched) if (resource !== 'leases') found.add(resource)
  return [...found]
}
