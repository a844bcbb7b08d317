/**
 * Schedules by chance: several things go wrong, of a few kinds, and the seed says which.
 *
 * Every seed draws a mixture of its own first: which kinds of deviations take part, and how much each of them weighs. A
 * schedule in which only answers get lost finds what one with a little of everything does not.
 */
import { randomInt, SeededRandom } from '#base'
import type { Random } from '#base'
import type { Deviation } from '../../faults/deviation.ts'
import { schedulePointKey } from './fingerprint.ts'

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
