/**
 * All that happened in a schedule, in lanes: the user, each life of the program, the collector, what is outside, and what
 * the server came to store because of it.
 */
import type { UnstructuredObject } from '#api'
import { describeDeviation } from '../deviation.ts'
import type { Failure } from '../failures.ts'
import type { HistoryEvent, TraceEntry } from '../history.ts'
import type { Finding } from '../rules/rule.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'

/** A change of an object. */
export interface ObjectChange {
  /** `ConfigMap default/a` */
  readonly object: string
  readonly what: 'made' | 'changed' | 'deleted'
  /** Its version after that. */
  readonly version: string
  /** The fields that differ: `spec.size: 1 → 2`. */
  readonly fields: readonly string[]
}

export interface TimelineRow {
  readonly step: number
  /** Milliseconds of the world's time. */
  readonly atMs: number
  readonly lane: string
  readonly text: string
  /** `/home/me/reconcile.ts:41` */
  readonly origin?: string
  /** Something goes otherwise than undisturbed. */
  readonly isTurn: boolean
  /** The rule is found broken here. */
  readonly isBroken: boolean
  readonly changes: readonly ObjectChange[]
}

export interface Timeline {
  readonly lanes: readonly string[]
  readonly rows: readonly TimelineRow[]
  /** Rows that were left out because there were too many. */
  readonly leftOut: number
}

/** A page with more is not read. */
const rowsMax = 300

/** @param world a schedule that was run with its trace kept */
export function timelineOf(world: World, { step: brokenAt }: Pick<Finding, 'step'>): Timeline {
  const events = byStep(world.history.events.filter(({ resource }) => resource !== 'leases' && resource !== 'events'))
  const entries = world.trace.entries.filter((entry) => matters(entry, events.has(entry.step)))
  const broken = entries.findLastIndex(({ step }) => step <= brokenAt)
  const until = Math.min(entries.length, Math.max(rowsMax, broken + 1))
  const from = Math.max(0, until - rowsMax)
  const told = new Set<number>()
  const rows = entries.slice(from, until).map((entry, index): TimelineRow => {
    const isFirst = !told.has(entry.step) && isAction(entry)
    if (isFirst) told.add(entry.step)
    const origin = world.origins.get(entry.what.replace(/: [^:]*$/, ''))
    return {
      step: entry.step,
      atMs: entry.atMs,
      lane: laneOf(entry),
      text: entry.what,
      isTurn: isTurn(entry),
      isBroken: from + index === broken,
      ...(origin !== undefined && { origin }),
      changes: isFirst ? (events.get(entry.step) ?? []).map(changeOf) : [],
    }
  })
  return {
    rows,
    lanes: [...new Set(rows.map(({ lane }) => lane))].sort((a, b) => rankOf(a) - rankOf(b)),
    leftOut: entries.length - rows.length,
  }
}

function byStep(events: readonly HistoryEvent[]): Map<number, HistoryEvent[]> {
  const found = new Map<number, HistoryEvent[]>()
  for (const event of events) {
    const those = found.get(event.step)
    if (those) those.push(event)
    else found.set(event.step, [event])
  }
  return found
}

/** Looks, watches, and what an election and Events need are not told; nor is a request that changed nothing, its answer is. */
function matters({ what }: TraceEntry, isWrite: boolean): boolean {
  if (
    /^event (?:leases|events)\b|^event .*: BOOKMARK|^(?:answer|request) (?:(?:watch|list|get) |\w+ (?:leases|events)\b)/.test(
      what,
    )
  )
    return false
  return isWrite || !what.startsWith('request ')
}

function isAction({ actor, what }: TraceEntry): boolean {
  return actor !== 'world' && what !== 'starts' && what !== 'dies'
}

export function isTurn({ actor, what }: TraceEntry): boolean {
  if (
    actor === 'somebody' ||
    what === 'dies' ||
    what.endsWith(': no answer') ||
    /^answer .*: [45]\d\d$/.test(what) ||
    /^reply .*: (?:refuse|reset|failed)/.test(what)
  )
    return true
  return actor === 'world' && !/^is quiet|^everything is made well/.test(what)
}

function laneOf({ actor, what }: TraceEntry): string {
  if (what.startsWith('call ')) return 'outside'
  if (what.startsWith('request ')) return 'server'
  if (actor === 'gc') return 'collector'
  if (actor === 'somebody') return 'somebody else'
  return actor
}

const lastLanes = ['world', 'collector', 'server', 'outside']

/** People first, then the lives of the program, then what is around them. */
function rankOf(lane: string): number {
  if (lane === 'user') return -2
  return lane === 'somebody else' ? -1 : lastLanes.indexOf(lane) + 1
}

function changeOf({ before, after, revision }: HistoryEvent): ObjectChange {
  const object = after ?? before
  const what = !after ? 'deleted' : before && before.metadata.uid === after.metadata.uid ? 'changed' : 'made'
  return {
    object: object ? describeObject(object) : '',
    what,
    version: String(revision),
    fields: what === 'changed' ? fieldsOf(before, after) : [],
  }
}

const fieldsMax = 6

/** The fields that differ, one line each. */
function fieldsOf(before: UnstructuredObject | undefined, after: UnstructuredObject | undefined): string[] {
  const [old, now] = [flat(before), flat(after)]
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => old.get(name) !== now.get(name) && !/^metadata\.(?:managedFields|resourceVersion|generation)/.test(name),
  )
  const lines = names
    .slice(0, fieldsMax)
    .map((name) => `${name}: ${old.get(name) ?? 'nothing'} → ${now.get(name) ?? 'nothing'}`)
  return names.length > fieldsMax ? [...lines, `and ${names.length - fieldsMax} more`] : lines
}

function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) flat(inner, path === '' ? key : `${path}.${key}`, into)
  else if (value !== undefined) into.set(path, shortened(JSON.stringify(value)))
  return into
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/*
 * The shortest story of a failure: what the program did, what went wrong, and how it ended, in a few lines.
 */

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
