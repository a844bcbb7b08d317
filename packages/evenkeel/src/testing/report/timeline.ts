/**
 * What happened in a schedule: as a timeline with a column per actor (user, processes, server, external services, cluster
 * controllers), and as a story of a few lines.
 *
 * A story has the lines around each fault, the lines about the object of the failure, and how it ended. Longer stories
 * are not read.
 */
import { stringifyJson } from '#api'
import type { UnstructuredObject } from '#api'
import { describeDeviation } from '../deviation.ts'
import type { Failure } from '../failures.ts'
import { otherClient } from '../foreign-writes.ts'
import type { HistoryEvent, TraceEntry } from '../history.ts'
import type { Finding } from '../rules/rule.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'

/** A change of an object. */
export interface ObjectChange {
  /** `ConfigMap default/a` */
  readonly object: string
  readonly what: 'created' | 'changed' | 'deleted'
  /** The revision of the change. */
  readonly version: string
  /** The fields that differ: `spec.size: 1 → 2`. */
  readonly fields: readonly string[]
}

export interface TimelineRow {
  readonly step: number
  /** Simulated time in milliseconds. */
  readonly atMs: number
  readonly column: string
  readonly text: string
  /** `/home/me/reconcile.ts:41` */
  readonly origin?: string
  /** A deviation, or a failed response. */
  readonly isFault: boolean
  /** The rule is broken here. */
  readonly isBroken: boolean
  readonly changes: readonly ObjectChange[]
}

export interface Timeline {
  readonly columns: readonly string[]
  readonly rows: readonly TimelineRow[]
  /** How many rows were left out. */
  readonly leftOut: number
}

/** A longer timeline is not read. */
const rowsMax = 300

/** @param world the world of a schedule that ran with its trace kept */
export function timelineOf(world: World, { step: brokenAt }: Pick<Finding, 'step'>): Timeline {
  const events = byStep(world.history.events.filter(({ resource }) => resource !== 'leases' && resource !== 'events'))
  const entries = world.trace.entries.filter((entry) => matters(entry, events.has(entry.step)))
  const broken = entries.findLastIndex(({ step }) => step <= brokenAt)
  const until = Math.min(entries.length, Math.max(rowsMax, broken + 1))
  const from = Math.max(0, until - rowsMax)
  const reported = new Set<number>()
  const rows = entries.slice(from, until).map((entry, index): TimelineRow => {
    const isFirst = !reported.has(entry.step) && isAction(entry)
    if (isFirst) reported.add(entry.step)
    const origin = entry.origin ?? world.origins.get(entry.what.replace(/: [^:]*$/, ''))
    return {
      step: entry.step,
      atMs: entry.atMs,
      column: columnOf(entry),
      text: entry.what,
      isFault: isFault(entry),
      isBroken: from + index === broken,
      ...(origin !== undefined && { origin }),
      changes: isFirst ? (events.get(entry.step) ?? []).map(changeOf) : [],
    }
  })
  return {
    rows,
    columns: [...new Set(rows.map(({ column }) => column))].sort((a, b) => rankOf(a) - rankOf(b)),
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

/** Leaves out reads, watches, leases and Events, and requests that changed nothing: their response is enough. */
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
  return actor !== 'world' && what !== 'starts' && what !== 'crashes'
}

export function isFault({ actor, what }: TraceEntry): boolean {
  if (
    actor === otherClient ||
    what === 'crashes' ||
    what.endsWith(': no response') ||
    /^answer .*: [45]\d\d$/.test(what) ||
    /^reply .*: (?:refuse|reset|failed)/.test(what)
  )
    return true
  return actor === 'world' && !/^is quiet|^all faults are over/.test(what)
}

function columnOf({ actor, what }: TraceEntry): string {
  if (what.startsWith('call ')) return 'external'
  if (what.startsWith('request ')) return 'server'
  if (actor === 'gc') return 'cluster'
  if (actor === otherClient) return 'another client'
  return actor
}

const lastColumns = ['world', 'cluster', 'server', 'external']

/** The user and other clients first, then the processes, then the rest. */
function rankOf(column: string): number {
  if (column === 'user') return -2
  return column === 'another client' ? -1 : lastColumns.indexOf(column) + 1
}

function changeOf({ before, after, revision }: HistoryEvent): ObjectChange {
  const object = after ?? before
  const what = !after ? 'deleted' : before && before.metadata.uid === after.metadata.uid ? 'changed' : 'created'
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
  else if (value !== undefined) into.set(path, shortened(stringifyJson(value)))
  return into
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

export interface StoryLine {
  readonly text: string
  /** `reconcile.ts:41` */
  readonly origin?: string
  /** A deviation, or a failed response. */
  readonly isFault: boolean
}

const linesMax = 6

/** The story of a failure. @param world the failing schedule, run with its trace kept */
export function buildStory({ about, deviations }: Pick<Failure, 'about' | 'deviations'>, world: World): StoryLine[] {
  const lines = withoutRepeats(world.trace.entries.flatMap((entry) => lineOf(entry, world)))
  // Without a fault, the end is what matters.
  if (deviations.length === 0) return lines.slice(-linesMax)
  const faults = new Set(lines.flatMap((line, index) => (line.isFault ? [index] : [])))
  const words = about
    .toLowerCase()
    .split(/[ /]/)
    .filter((word) => word.length > 0)
  const kept = new Set<number>()
  for (const [index, { text }] of lines.entries())
    if (
      faults.has(index) ||
      faults.has(index + 1) ||
      faults.has(index - 1) ||
      words.every((word) => text.toLowerCase().includes(word))
    )
      kept.add(index)
  if (kept.size === 0) return deviations.map((deviation) => ({ text: describeDeviation(deviation), isFault: true }))
  fillContext(kept, { faults, length: lines.length })
  const chosen = lines.filter((_, index) => kept.has(index))
  if (chosen.length <= linesMax) return chosen
  const first = chosen.findIndex(({ isFault }) => isFault)
  const from = Math.max(0, Math.min(first - 2, chosen.length - linesMax))
  // The fault, and the end.
  return [...chosen.slice(from, from + linesMax - lastLines), ...chosen.slice(-lastLines)]
}

const lastLines = 2

/** Fills the story with the lines after the last fault and before the first. */
function fillContext(kept: Set<number>, { faults, length }: { faults: ReadonlySet<number>; length: number }): void {
  const [first, last] = [Math.min(...faults, length), Math.max(...faults, 0)]
  for (let distance = 1; kept.size < linesMax && distance < length; distance++) {
    for (const index of [last + distance, first - distance])
      if (index >= 0 && index < length && kept.size < linesMax) kept.add(index)
  }
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

function lineOf({ actor, what, origin: thrownAt }: TraceEntry, world: World): StoryLine[] {
  const origin = thrownAt ?? world.origins.get(what.replace(/: [^:]*$/, ''))
  if (actor === 'user') return [{ text: `the user ${what}`, isFault: false }]
  if (actor === otherClient) return [{ text: `-- another client: ${what}`, isFault: true }]
  if (actor === 'world') return /quiet|faults are over/.test(what) ? [] : [{ text: `-- ${what}`, isFault: true }]
  if (actor === 'gc') return [{ text: `the cluster: ${what.replace(/^collect /, '')}`, isFault: false }]
  if (what === 'crashes') return [{ text: `-- ${actor} crashes`, isFault: true }]
  if (what === 'starts') return [{ text: `${actor} starts`, isFault: false }]
  if (what.startsWith('fails '))
    return [{ text: `${actor} ${what}`, isFault: false, ...(origin !== undefined && { origin }) }]
  const [, type, about = ''] = /^(answer|reply) (.*)$/.exec(what) ?? []
  if (type === undefined || /^(?:watch|get|list) /.test(about)) return []
  return [
    {
      text: `${actor}: ${about}`,
      isFault: about.endsWith('no response') || /: (?:[45]\d\d)$/.test(about),
      ...(origin !== undefined && { origin }),
    },
  ]
}
