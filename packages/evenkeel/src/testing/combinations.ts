/**
 * What else can go wrong after something went wrong: second deviations, only where the first one could matter.
 *
 * Two ways of pruning. By causality: a second deviation comes after the first, and when both touch only objects of
 * their own, of different families, their order and their company make no difference. By fingerprint: where the world is
 * as it was at such a place in another schedule, what goes wrong there has been tried, be it alone (the first deviation
 * has healed) or after another first one.
 */
import type { UnstructuredObject } from '#api'
import { randomInt, SeededRandom, type Random } from '#base'
import type { Deviation, ObjectReference } from './deviation.ts'
import { schedulePointKey, type Fingerprints } from './fingerprint.ts'
import { planSingles } from './plan.ts'
import type { World } from './world.ts'

/** A deviation that could come next, and what it would be tried on: equal keys are one case. */
export interface NextDeviation {
  readonly deviation: Deviation
  readonly key: string
}

interface NextDeviationsOptions {
  readonly prints: Fingerprints
  /** What went wrong before; undefined: nothing did. */
  readonly first?: Deviation | undefined
}

/** All that can go wrong in a schedule after its deviation; all, when it has none. */
export function planNextDeviations(world: World, { prints, first }: NextDeviationsOptions): NextDeviation[] {
  const from =
    first === undefined || first.at.type === 'start' ? -1 : (prints.get(schedulePointKey(first.at))?.order ?? Infinity)
  const family = first && familyOf(first, world)
  return planSingles({ points: world.interactions, world, profile: world.options.profile }).flatMap((deviation) => {
    const print = prints.get(schedulePointKey(deviation.at))
    if (!print) return first === undefined ? [{ deviation, key: JSON.stringify(deviation) }] : []
    if (print.order <= from || isIndependent(family, familyOf(deviation, world))) return []
    const {
      at: { type, when = 'before' },
      deed,
    } = deviation
    return [{ deviation, key: `${print.hash} ${when} ${type} ${print.about} ${JSON.stringify(deed)}` }]
  })
}

/**
 * Pairs from singles and what could come after each, without what has been tried.
 *
 * Every single gets its turn: when time is over early, each has been followed a little.
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

/** The family that a deviation touches, and no other; undefined when it may touch everything. */
function familyOf({ at, deed }: Deviation, world: World): string | undefined {
  if ('object' in deed) return familyOfObject(deed.object, world)
  if (deed.type !== 'refuse' && deed.type !== 'lose') return undefined
  const requestInfo = world.interactions.find(({ type, index }) => type === at.type && index === at.index)?.requestInfo
  if (!requestInfo || requestInfo.name === '') return undefined
  const { events } = world.history
  const place = events.find(
    ({ resource, after }) =>
      resource === requestInfo.resource &&
      after?.metadata.name === requestInfo.name &&
      (after.metadata.namespace ?? '') === requestInfo.namespace,
  )?.after
  return place && rootOf(place, world)
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

/** The first of its owners, by name; undefined when that cannot be told. */
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

/*
 * Schedules by chance: several things go wrong, of a few kinds, and the seed says which.
 *
 * Every seed draws a mixture of its own first: which kinds of deviations take part, and how much each of them weighs. A
 * schedule in which only answers get lost finds what one with a little of everything does not.
 */

/** More than this hides what each of them does. */
const deviationsMax = 6

/** How far a place may move: after something went wrong there are more effects than undisturbed. */
const shiftMax = 6

/** The schedule of a seed: the same for the same seed and the same undisturbed schedule. */
export function drawSchedule(seed: string, singles: readonly Deviation[]): readonly Deviation[] {
  if (singles.length === 0) return []
  const random = new SeededRandom(`${seed} swarm`)
  const mixture = drawMixture(random, singles)
  const drawn = new Map<string, Deviation>()
  // Two at least: one at a time has been tried.
  const count = 2 + randomInt(random, deviationsMax - 1)
  for (let turn = 0; turn < count; turn++) {
    const deviation = shifted(pick(random, pick(random, mixture)), random)
    drawn.set(`${schedulePointKey(deviation.at)} ${deviation.deed.type}`, deviation)
  }
  return [...drawn.values()].sort(
    (one, other) => ranks[one.at.type] - ranks[other.at.type] || one.at.index - other.at.index,
  )
}

const ranks = { start: 0, effect: 1, look: 2, quiet: 3 } as const

/** Some kinds of deviations, each as often as it weighs. */
function drawMixture(random: Random, singles: readonly Deviation[]): Deviation[][] {
  const kinds = new Map<string, Deviation[]>()
  for (const deviation of singles) {
    const those = kinds.get(deviation.deed.type)
    if (those) those.push(deviation)
    else kinds.set(deviation.deed.type, [deviation])
  }
  const all = [...kinds.values()]
  const chosen = all
    .filter(() => randomInt(random, 2) === 0)
    .flatMap((those) => Array.from({ length: 1 + randomInt(random, 4) }, () => those))
  return chosen.length > 0 ? chosen : all
}

function shifted({ at, deed }: Deviation, random: Random): Deviation {
  const by = at.type === 'effect' && randomInt(random, 2) === 0 ? randomInt(random, shiftMax) : 0
  return { at: { ...at, index: at.index + by }, deed }
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[randomInt(random, from.length)] as T
}
