/**
 * What happened in a schedule, as a timeline with a column per actor: user, processes, server, external services, cluster
 * controllers.
 */
import { otherClient } from '../foreign-writes.ts'
import type { HistoryEvent, TraceEntry } from '../history.ts'
import type { Finding } from '../rules/rule.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'
import { changedFields } from './changed-fields.ts'

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
const fieldsMax = 6

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
    fields: what === 'changed' ? changedFields(before, after, { max: fieldsMax }) : [],
  }
}
