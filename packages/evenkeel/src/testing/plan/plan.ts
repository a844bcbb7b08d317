/**
 * Plans the deviations of a scenario: single deviations for tier 1, pairs for tier 2, random combinations for tier 3.
 *
 * Tier 1 has every fault once, at every place where it makes a difference. The places are the interactions of the
 * undisturbed schedule (just before and just after each effect, and each read), its quiet states, and the start.
 * Between two interactions only undelivered events differ, and `hold` covers those.
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
 * and the longer faults of plan-state.ts. Each is one schedule. Those that find most come first.
 *
 * Pairs are pruned in two ways. By causality: the second deviation comes after the first, and two deviations that touch
 * only objects of different owners do not influence each other. By fingerprint: when the world before the second
 * deviation is the same as in another schedule, that schedule covers the pair; the first deviation has healed, or
 * another first deviation led to the same state.
 *
 * A random schedule first draws a mixture: which types of deviations take part, and with which weight. A schedule in
 * which only responses get lost finds failures that a little of everything does not.
 */
import { isJsonObject, type UnstructuredObject, stringifyJson } from '#api'
import { randomInt, SeededRandom, type Random } from '#base'
import {
  schedulePointKey,
  type Deviation,
  type DeviationAction,
  type Interaction,
  type ObjectReference,
  type Profile,
  type SchedulePoint,
} from '../deviation.ts'
import type { Fingerprints } from '../fingerprint.ts'
import { hasOwner, objectReferenceOf, objectsAt, objectsAtQuiet, quietIndexesOf } from '../history.ts'
import { planSpecChanges, planWorldFaults } from './plan-state.ts'
import { bodyOf } from '../requests.ts'
import type { World } from '../world.ts'

const atStart: SchedulePoint = { type: 'start', index: 0 }

/** The interactions of a schedule, and the world it ran in. */
interface PlanInput {
  readonly interactions: readonly Interaction[]
  readonly world: World
  readonly profile: Profile
}

/** Every single deviation, the most productive first. */
function planSingles(seen: PlanInput): Deviation[] {
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
    if (world.facts.state.isWish(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const) push(type, reference)
    else if (isTarget && !world.facts.isDue(object))
      for (const type of ['delete', 'recreate', 'touch'] as const) push(type, reference)
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
  return request !== undefined && stringifyJson(bodyOf(request) ?? null).includes('resourceVersion')
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
    if (world.facts.state.isWish(object))
      for (const type of ['delete', 'recreate', 'touch', 'finalize', 'terminate'] as const)
        found.push({ at, action: { type, object: reference } })
    // What was done when it was due is not done again.
    else if (world.facts.isDue(object)) found.push({ at, action: { type: 'touch', object: reference } })
    else if (hasOwner(object))
      for (const type of ['delete', 'touch', ...driftOf(object), 'recreate', ...neighbourOf(object, world)] as const)
        found.push({ at, action: { type, object: reference } })
  }
  return found
}

/** `children.once` does not maintain what it makes: a change by another client stays. */
function driftOf({ metadata: { labels } }: UnstructuredObject): readonly 'drift'[] {
  return labels?.['evenkeel.dev/once'] === undefined ? ['drift'] : []
}

/** What looks like a child and has a controller of its own is another wish: its own children would follow. */
function neighbourOf(object: UnstructuredObject, world: World): readonly 'neighbour'[] {
  return world.facts.state.isReconciled(object) ? [] : ['neighbour']
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

// Pairs and random combinations.

/** A deviation that could follow, and a key of the state it would meet: equal keys are one case. */
export interface NextDeviation {
  readonly deviation: Deviation
  readonly key: string
}

interface NextDeviationsOptions {
  readonly fingerprints: Fingerprints
  /** The deviation before; undefined: none. */
  readonly first?: Deviation | undefined
}

/** The deviations that could follow in a schedule; for the undisturbed schedule: all. */
export function planNextDeviations(world: World, { fingerprints, first }: NextDeviationsOptions): NextDeviation[] {
  const from =
    first === undefined || first.at.type === 'start'
      ? -1
      : (fingerprints.get(schedulePointKey(first.at))?.order ?? Infinity)
  const family = first && familyOf(first, world)
  return planSingles({ interactions: world.interactions, world, profile: world.options.profile }).flatMap(
    (deviation) => {
      const print = fingerprints.get(schedulePointKey(deviation.at))
      if (!print) return first === undefined ? [{ deviation, key: stringifyJson(deviation) }] : []
      if (print.order <= from || isIndependent(family, familyOf(deviation, world))) return []
      const {
        at: { type, when = 'before' },
        action,
      } = deviation
      return [{ deviation, key: `${print.hash} ${when} ${type} ${print.about} ${stringifyJson(action)}` }]
    },
  )
}

/**
 * Pairs of a single deviation and one that could follow, without those that another schedule covers.
 *
 * The pairs alternate between the singles: when the time runs out, each single has been followed a little.
 */
export function planPairs(
  singles: readonly NextDeviation[],
  nexts: readonly (readonly NextDeviation[])[],
): { readonly pairs: readonly (readonly Deviation[])[]; readonly pruned: number } {
  const known = new Set(singles.map(({ key }) => key))
  let pruned = 0
  const byFirst = nexts.map((those, index) =>
    those.flatMap(({ deviation, key }) => {
      const first = singles[index]?.deviation
      if (!first || known.has(key)) {
        pruned++
        return []
      }
      known.add(key)
      return [[first, deviation]]
    }),
  )
  const pairs: (readonly Deviation[])[] = []
  for (let rank = 0; byFirst.some(({ length }) => length > rank); rank++) {
    for (const those of byFirst) {
      const pair = those[rank]
      if (pair) pairs.push(pair)
    }
  }
  return { pairs, pruned }
}

function isIndependent(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

/** The root owner of the objects that a deviation touches; undefined when it may touch more. */
function familyOf({ at, action }: Deviation, world: World): string | undefined {
  if ('object' in action) return familyOfObject(action.object, world)
  if (action.type !== 'refuse' && action.type !== 'lose') return undefined
  const requestInfo = world.interactions.find(({ type, index }) => type === at.type && index === at.index)?.requestInfo
  if (!requestInfo || requestInfo.name === '') return undefined
  const { events } = world.history
  const object = events.find(
    ({ resource, after }) =>
      resource === requestInfo.resource &&
      after?.metadata.name === requestInfo.name &&
      (after.metadata.namespace ?? '') === requestInfo.namespace,
  )?.after
  return object && rootOf(object, world)
}

function familyOfObject({ kind, namespace, name }: ObjectReference, world: World): string | undefined {
  const object = world.history.events.find(
    ({ after }) =>
      after?.kind === kind && after.metadata.name === name && (after.metadata.namespace ?? '') === namespace,
  )?.after
  return object && rootOf(object, world)
}

/** Longer chains of owners are not followed. */
const generationsMax = 8

/** The root of the chain of owners; undefined when an object of it has two owners or is unknown. */
function rootOf(object: UnstructuredObject, world: World): string | undefined {
  let now = object
  for (let depth = 0; depth < generationsMax; depth++) {
    const [owner, another] = now.metadata.ownerReferences ?? []
    if (another) return undefined
    if (!owner) return `${now.kind} ${now.metadata.namespace ?? ''}/${now.metadata.name ?? ''}`
    const next = world.history.events.find(({ after }) => after?.metadata.uid === owner.uid)?.after
    if (!next) return undefined
    now = next
  }
  return undefined
}

/** With more deviations the effect of each is hard to see. */
const deviationsMax = 6

/** How far an effect index may move: a disturbed schedule has more effects than the undisturbed one. */
const shiftMax = 6

/** The random schedule of a seed: the same for the same seed and the same undisturbed schedule. */
export function drawSchedule(seed: string, singles: readonly Deviation[]): readonly Deviation[] {
  if (singles.length === 0) return []
  const random = new SeededRandom(`${seed} swarm`)
  const mixture = drawMixture(random, singles)
  const drawn = new Map<string, Deviation>()
  // At least two: tier 1 has run every single one.
  const count = 2 + randomInt(random, deviationsMax - 1)
  for (let turn = 0; turn < count; turn++) {
    const deviation = shifted(pick(random, pick(random, mixture)), random)
    drawn.set(`${schedulePointKey(deviation.at)} ${deviation.action.type}`, deviation)
  }
  return [...drawn.values()].sort(
    (one, other) => ranks[one.at.type] - ranks[other.at.type] || one.at.index - other.at.index,
  )
}

const ranks = { start: 0, effect: 1, read: 2, quiet: 3 } as const

/** Some types of deviations, each as often as its weight. */
function drawMixture(random: Random, singles: readonly Deviation[]): Deviation[][] {
  const kinds = new Map<string, Deviation[]>()
  for (const deviation of singles) {
    const those = kinds.get(deviation.action.type)
    if (those) those.push(deviation)
    else kinds.set(deviation.action.type, [deviation])
  }
  const all = [...kinds.values()]
  const chosen = all
    .filter(() => randomInt(random, 2) === 0)
    .flatMap((those) => Array.from({ length: 1 + randomInt(random, 4) }, () => those))
  return chosen.length > 0 ? chosen : all
}

function shifted({ at, action }: Deviation, random: Random): Deviation {
  const by = at.type === 'effect' && randomInt(random, 2) === 0 ? randomInt(random, shiftMax) : 0
  return { at: { ...at, index: at.index + by }, action }
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[randomInt(random, from.length)] as T
}
