/**
 * Plans schedules with several deviations: pairs for tier 2, and random combinations for tier 3.
 *
 * Pairs are pruned in two ways. By causality: the second deviation comes after the first, and two deviations that touch
 * only objects of different owners do not influence each other. By fingerprint: when the world before the second
 * deviation is the same as in another schedule, that schedule covers the pair; the first deviation has healed, or another
 * first deviation led to the same state.
 *
 * A random schedule first draws a mixture: which types of deviations take part, and with which weight. A schedule in
 * which only responses get lost finds failures that a little of everything does not.
 */
import type { UnstructuredObject } from '#api'
import { randomInt, SeededRandom, type Random } from '#base'
import { schedulePointKey, type Deviation, type ObjectReference } from './deviation.ts'
import type { Fingerprints } from './fingerprint.ts'
import { planSingles } from './plan.ts'
import type { World } from './world.ts'

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
      if (!print) return first === undefined ? [{ deviation, key: JSON.stringify(deviation) }] : []
      if (print.order <= from || isIndependent(family, familyOf(deviation, world))) return []
      const {
        at: { type, when = 'before' },
        action,
      } = deviation
      return [{ deviation, key: `${print.hash} ${when} ${type} ${print.about} ${JSON.stringify(action)}` }]
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
