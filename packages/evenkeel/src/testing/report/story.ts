/**
 * The story of a failure: a few lines that say what was done, where, and what came in between.
 *
 * A line is made from what was carried out, not from what was answered: a process that dies after a write has written.
 *
 *     trace                                             story
 *     user  makes App a smaller                         the user makes App a smaller
 *     A     request delete configmaps default/a-1       A deletes ConfigMap default/a-1            shrink.ts:56
 *     A     crashes                                     -- A crashes before it gets the response
 *     A2    request patch apps/status default/a         A2 changes App default/a (status.phase: "Shrinking" → "Failed")
 *     A2    answer patch apps/status default/a: 200
 *
 * Reads, and writes that change nothing, are left out. Of a long story the lines around the faults, the last step of the
 * user before them, those about the object and the end remain.
 */
import type { Failure } from '../failures.ts'
import { otherClient } from '../foreign-writes.ts'
import type { HistoryEvent, TraceEntry } from '../history.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'
import { changedFields } from './changed-fields.ts'

export interface StoryLine {
  readonly text: string
  /** `/home/me/reconcile.ts:41` */
  readonly origin?: string
  /** A deviation, or a failed response. */
  readonly isFault: boolean
}

type StoryWorld = Pick<World, 'origins'> & {
  readonly trace: Pick<World['trace'], 'entries'>
  readonly history: Pick<World['history'], 'events'>
}

const linesMax = 8
const [fieldsMax, valueMax] = [2, 32]

/** @param world the failing schedule, run with its trace kept */
export function buildStory({ about }: Pick<Failure, 'about'>, world: StoryWorld): StoryLine[] {
  const lines = withoutRepeats(new StoryTeller(world).lines())
  const scores = scoreLines(lines, about)
  const least = [...scores].sort((a, b) => b - a)[linesMax - 1] ?? Number.NEGATIVE_INFINITY
  return lines.filter((_, index) => (scores[index] ?? 0) >= least).slice(-linesMax)
}

/** How much a reader needs each line; no two lines are equal. */
function scoreLines(lines: readonly StoryLine[], about: string): number[] {
  const words = about.toLowerCase().split(/[ /]/).filter(Boolean)
  const firstFault = lines.findIndex(({ isFault }) => isFault)
  const lastStep = lines.findLastIndex(({ text }, index) => isUser(text) && (firstFault < 0 || index < firstFault))
  return lines.map(({ text, isFault }, index) => {
    const isNamed = words.every((word) => text.toLowerCase().includes(word))
    const score = Math.max(
      isFault ? (text.startsWith('-- ') ? 100 : 60) : 0,
      index === lastStep ? 90 : 0,
      lines[index + 1]?.isFault === true ? 80 : 0,
      index === lines.length - 1 ? 75 : 0,
      lines[index - 1]?.isFault === true ? 70 : 0,
      isNamed ? 50 : 0,
      isUser(text) ? 40 : 0,
    )
    // Of equal lines the later one.
    return score + index / lines.length
  })
}

function isUser(text: string): boolean {
  return text.startsWith('the user ')
}

/** Joins equal lines in a row. */
function withoutRepeats(lines: readonly StoryLine[]): StoryLine[] {
  const found: { line: StoryLine; times: number }[] = []
  for (const line of lines) {
    const last = found.at(-1)
    if (last?.line.text === line.text) last.times++
    else found.push({ line, times: 1 })
  }
  return found.map(({ line, times }) => (times === 1 ? line : { ...line, text: `${line.text} (${times} times)` }))
}

class StoryTeller {
  readonly #world: StoryWorld
  readonly #changes = new Map<number, HistoryEvent[]>()
  /** What each actor did last and has no answer for. */
  readonly #unanswered = new Map<string, string>()

  constructor(world: StoryWorld) {
    this.#world = world
    for (const event of world.history.events) {
      if (event.resource === 'leases' || event.resource === 'events') continue
      this.#changes.set(event.step, [...(this.#changes.get(event.step) ?? []), event])
    }
  }

  lines(): StoryLine[] {
    return this.#world.trace.entries.flatMap((entry, index) => this.#linesOf(entry, index))
  }

  #linesOf(entry: TraceEntry, index: number): StoryLine[] {
    const { actor, what } = entry
    if (actor === 'user') return [{ text: `the user ${what}`, isFault: false }]
    if (actor === otherClient) return [{ text: `-- another client: ${what}`, isFault: true }]
    if (actor === 'world') return /quiet|faults are over/.test(what) ? [] : [{ text: `-- ${what}`, isFault: true }]
    if (actor === 'gc') return [{ text: `the cluster: ${what.replace(/^collect /, '')}`, isFault: false }]
    if (what === 'crashes') return [this.#crash(actor)]
    if (what === 'starts') return [{ text: `${actor} starts`, isFault: false }]
    const [, type, about = ''] = /^(request|answer|call|reply) (.*)$/.exec(what) ?? []
    if (type === 'request') return this.#request(entry, { about, index })
    if (type === 'call') return this.#call(entry, { about, index })
    if (type === 'answer' || type === 'reply') return this.#response(entry, about)
    return what.startsWith('fails ') ? [this.#line(`${actor} ${what}`, entry.origin)] : []
  }

  #crash(actor: string): StoryLine {
    const text = this.#unanswered.has(actor) ? ' before it gets the response' : ''
    this.#unanswered.delete(actor)
    return { text: `-- ${actor} crashes${text}`, isFault: true }
  }

  /** A request that changed something. */
  #request({ actor, step }: TraceEntry, { about, index }: { about: string; index: number }): StoryLine[] {
    const changes = this.#changes.get(step) ?? []
    if (changes.length === 0) return []
    const { suffix, isFault } = this.#outcome(`answer ${about}`, { actor, index })
    const origin = this.#world.origins.get(`answer ${about}`)
    return changes.map((change, at) => ({
      ...this.#line(`${actor} ${describeChange(change)}${at === changes.length - 1 ? suffix : ''}`, origin),
      isFault,
    }))
  }

  #call({ actor }: TraceEntry, { about, index }: { about: string; index: number }): StoryLine[] {
    const { suffix, isFault } = this.#outcome(`reply ${about}`, { actor, index })
    return [{ ...this.#line(`${actor} calls ${about}${suffix}`, this.#world.origins.get(`reply ${about}`)), isFault }]
  }

  /** What became of a request or call: found in the response, which follows later. */
  #outcome(response: string, { actor, index }: { actor: string; index: number }): { suffix: string; isFault: boolean } {
    const found = this.#world.trace.entries.find(
      (later, at) => at > index && later.actor === actor && later.what.startsWith(`${response}: `),
    )
    if (!found) {
      this.#unanswered.set(actor, response)
      return { suffix: '', isFault: false }
    }
    const outcome = found.what.slice(response.length + 2)
    if (outcome === 'no response') return { suffix: '; the response is lost', isFault: true }
    return /^(?:2\d\d|done)$/.test(outcome)
      ? { suffix: '', isFault: false }
      : { suffix: `: ${outcomes[outcome] ?? outcome}`, isFault: true }
  }

  /** A failed response to a request that changed nothing; the others are part of the line of their effect. */
  #response({ actor, what }: TraceEntry, about: string): StoryLine[] {
    if (this.#unanswered.get(actor) !== undefined && what.startsWith(`${this.#unanswered.get(actor)}: `))
      this.#unanswered.delete(actor)
    if (!what.startsWith('answer ') || !/: [45]\d\d$/.test(about)) return []
    return [
      { ...this.#line(`${actor}: ${about}`, this.#world.origins.get(what.replace(/: [^:]*$/, ''))), isFault: true },
    ]
  }

  #line(text: string, origin: string | undefined): StoryLine {
    return { text, isFault: false, ...(origin !== undefined && { origin }) }
  }
}

const outcomes: Readonly<Record<string, string>> = { refuse: 'refused', reset: 'the connection breaks' }

/** `changes App default/a (status.phase: "Ready" → "Failed")` */
function describeChange({ before, after }: HistoryEvent): string {
  const object = after ?? before
  const name = object ? describeObject(object) : 'an object'
  if (!after) return `deletes ${name}`
  if (!before || before.metadata.uid !== after.metadata.uid) return `creates ${name}`
  if (before.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined)
    return `deletes ${name}, which its finalizers keep`
  const fields = changedFields(before, after, { max: fieldsMax, valueMax })
  return fields.length === 0 ? `changes ${name}` : `changes ${name} (${fields.join('; ')})`
}
