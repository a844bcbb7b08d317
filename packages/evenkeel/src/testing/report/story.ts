/**
 * The shortest story of a failure: what the program did, what went wrong, and how it ended, in a few lines.
 */
import { describeDeviation } from '../faults/deviation.ts'
import type { Failure } from '../explore/collected.ts'
import type { TraceEntry } from '../world/trace.ts'
import type { World } from '../world/world.ts'

export interface StoryLine {
  readonly text: string
  /** `reconcile.ts:41` */
  readonly origin?: string
  /** Somebody else did it, or it went wrong. */
  readonly isTurn: boolean
}

const linesMax = 6

/** @param world the failing schedule, run with its trace kept */
export function buildStory({ about, deviations }: Pick<Failure, 'about' | 'deviations'>, world: World): StoryLine[] {
  const lines = withoutRepeats(world.trace.entries.flatMap((entry) => lineOf(entry, world)))
  // Undisturbed, the end is what matters.
  if (deviations.length === 0) return lines.slice(-linesMax)
  const turns = new Set(lines.flatMap((line, index) => (line.isTurn ? [index] : [])))
  const words = about
    .toLowerCase()
    .split(/[ /]/)
    .filter((word) => word.length > 0)
  const kept = new Set<number>()
  for (const [index, { text }] of lines.entries())
    if (
      turns.has(index) ||
      turns.has(index + 1) ||
      turns.has(index - 1) ||
      words.every((word) => text.toLowerCase().includes(word))
    )
      kept.add(index)
  if (kept.size === 0) return deviations.map((deviation) => ({ text: describeDeviation(deviation), isTurn: true }))
  fillContext(kept, { turns, length: lines.length })
  const chosen = lines.filter((_, index) => kept.has(index))
  if (chosen.length <= linesMax) return chosen
  const first = chosen.findIndex(({ isTurn }) => isTurn)
  const from = Math.max(0, Math.min(first - 2, chosen.length - linesMax))
  // How it went wrong, and how it ended.
  return [...chosen.slice(from, from + linesMax - lastLines), ...chosen.slice(-lastLines)]
}

const lastLines = 2

/** Where there is room, also what came next and what came before. */
function fillContext(kept: Set<number>, { turns, length }: { turns: ReadonlySet<number>; length: number }): void {
  const [first, last] = [Math.min(...turns, length), Math.max(...turns, 0)]
  for (let distance = 1; kept.size < linesMax && distance < length; distance++) {
    for (const index of [last + distance, first - distance])
      if (index >= 0 && index < length && kept.size < linesMax) kept.add(index)
  }
}

/** The same line again and again is one line. */
function withoutRepeats(lines: readonly StoryLine[]): StoryLine[] {
  const found: { line: StoryLine; times: number }[] = []
  for (const line of lines) {
    const last = found.at(-1)
    if (last?.line.text === line.text) last.times++
    else found.push({ line, times: 1 })
  }
  return found.map(({ line, times }) => (times === 1 ? line : { ...line, text: `${line.text} (${times} times)` }))
}

function lineOf({ actor, what }: TraceEntry, world: World): StoryLine[] {
  const origin = world.origins.get(what.replace(/: [^:]*$/, ''))
  if (actor === 'user') return [{ text: `the user ${what}`, isTurn: false }]
  if (actor === 'somebody') return [{ text: `-- somebody else: ${what}`, isTurn: true }]
  if (actor === 'world') return /quiet|made well/.test(what) ? [] : [{ text: `-- ${what}`, isTurn: true }]
  if (actor === 'gc') return [{ text: `the garbage collector: ${what.replace(/^collect /, '')}`, isTurn: false }]
  if (what === 'dies') return [{ text: `-- ${actor} dies`, isTurn: true }]
  if (what === 'starts') return [{ text: `${actor} starts`, isTurn: false }]
  const [, type, about = ''] = /^(answer|reply) (.*)$/.exec(what) ?? []
  if (type === undefined || /^(?:watch|get|list) /.test(about)) return []
  return [
    {
      text: `${actor}: ${about}`,
      isTurn: about.endsWith('no answer') || /: (?:[45]\d\d)$/.test(about),
      ...(origin !== undefined && { origin }),
    },
  ]
}
