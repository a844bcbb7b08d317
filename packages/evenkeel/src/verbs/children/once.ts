/**
 * `children.once`: children that are made for an event and never changed, such as Jobs, backups and snapshots.
 *
 * The name follows from the parent and the key of the event, so there is one child for each event, whatever crashes or
 * lags in between: a create of an existing child of ours is a success. Old ones are history, limited by their outcome.
 *
 * Children of one kind and `name` are a series. Example with `keep: { Complete: 2, Failed: 1 }`, newest first:
 *
 *   e running   d Failed   c Complete   b Failed   a Complete      b is deleted: d is the newest failed one
 *
 * Of the finished ones only the newest counts for `ChildrenReady` (here d: the parent is not ready, until e completes).
 *
 * Invariants: a child that has not finished is never deleted, nor is one that the current run names; nothing but the
 * newest outcome of a series makes its parent unready.
 */
import { compareText, conflict, isAlreadyExists, isJsonObject, type Kind, type KubeObject } from '#api'
import { digestOf } from '../digest.ts'
import { checkOwnership, describeWriteProblem, ifCached, withAppliedAnnotation, type ChildRun } from './apply.ts'
import type { OnceOptions } from './children.ts'
import { idText, type PreparedChild } from './desired-child.ts'
import { onceLabel, readLimits, readyAnnotation, type HistoryLimits, type OnceSeries } from './ownership-labels.ts'
import { declaredKinds } from './prune.ts'
import type { ObservedChild } from './status.ts'

type Outcome = keyof HistoryLimits

/** Names of Jobs, and of the Pods made for them, are label values. */
const nameMax = 63
const digits = 10

/** The series of a call. @throws {RangeError} for invalid options. */
export function seriesOf(kind: Pick<Kind, 'kind'>, { key, name, keep = {} }: OnceOptions<never>): OnceSeries {
  const who = `children.once(${kind.kind})`
  if (typeof key !== 'string' || key === '')
    throw new RangeError(`${who} needs a key that identifies the event: a child is made once for each key`)
  if (name !== undefined && !/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    throw new RangeError(
      `${who}: name must be at most 40 lower-case letters, digits and dashes, got ${JSON.stringify(name)}`,
    )
  const { Complete = 3, Failed = 1 } = keep
  for (const [outcome, count] of Object.entries({ Complete, Failed }))
    if (!(Number.isInteger(count) && count >= 0))
      throw new RangeError(`${who}: keep.${outcome} must be a whole number of 0 or more, got ${count}`)
  return { series: name ?? kind.kind.toLowerCase(), keep: { Complete, Failed } }
}

/** The name of the child of an event: parent, name of the series and key; cut, with a digest, where that is no valid name. */
export function onceName(parts: readonly (string | undefined)[], key: string): string {
  const wanted = [...parts, key].filter((part) => part !== undefined).join('-')
  const valid = wanted.toLowerCase().replace(/[^a-z0-9.-]+/g, '-')
  if (valid === wanted && wanted.length <= nameMax && /[a-z0-9]$/.test(wanted)) return wanted
  return `${valid.slice(0, nameMax - digits - 1).replace(/[-.]+$/, '')}-${digestOf(wanted).slice(0, digits)}`
}

/** The child of an event: the existing one, or a new one. @throws {ChildProblem} if an object of another owner has the name. */
export async function createOnce(run: ChildRun, desired: PreparedChild): Promise<KubeObject> {
  const {
    base: { client, signal },
    run: { controller, cache },
  } = run
  const { kind, id } = desired
  const key = { name: id.name, ...(id.namespace !== '' && { namespace: id.namespace }) }
  const findLive = async (): Promise<KubeObject | undefined> => await client.find(kind, key, { live: true, signal })
  const ours = (live: KubeObject): KubeObject => {
    checkOwnership(run, { live, desired, adopt: 'never' })
    return live
  }
  const cached = ifCached(() => cache.find(kind, key))
  const known = cached ? (cached.value as KubeObject | undefined) : await findLive()
  if (known) return ours(known)
  try {
    return await client.create(withAppliedAnnotation(run, desired), { fieldManager: controller, signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw describeWriteProblem(error, desired)
    // The cache lags, or the response to an earlier create was lost.
    const live = await findLive()
    const { group, kind: name } = id
    if (!live) throw conflict({ group, kind: name, name: id.name }, 'it existed, and was deleted at the same time')
    return ours(live)
  }
}

type OnceChild = ObservedChild & { readonly object: KubeObject }

export interface History {
  /** Finished children beyond the limits. */
  readonly surplus: readonly OnceChild[]
  /** Keys of finished children that do not count any more. */
  readonly superseded: ReadonlySet<string>
}

interface HistoryOptions {
  /** Keys of the children that the current run names. */
  readonly named: ReadonlySet<string>
  /** The limits of the series that the current run names; others have those of their newest child. */
  readonly limits: ReadonlyMap<string, HistoryLimits>
}

/** What is history among the children of a parent. Children that were not made by `once` are ignored. */
export function historyOf(
  run: ChildRun,
  children: readonly ObservedChild[],
  { named, limits }: HistoryOptions,
): History {
  const surplus: OnceChild[] = []
  const superseded = new Set<string>()
  for (const [series, members] of bySeries(children)) {
    const newestFirst = members.toSorted(compareAge)
    const finished = newestFirst.flatMap((child) => {
      const outcome = outcomeOf(run, child)
      return outcome === undefined ? [] : [{ child, outcome }]
    })
    for (const { child } of finished.slice(1)) superseded.add(idText(child.id))
    const keep = limits.get(series) ?? (newestFirst[0] && readLimits(newestFirst[0].object))
    for (const outcome of ['Complete', 'Failed'] as const) {
      const beyond = finished.filter((one) => one.outcome === outcome).slice(keep?.[outcome] ?? Infinity)
      surplus.push(...beyond.map(({ child }) => child).filter(({ id }) => !named.has(idText(id))))
    }
  }
  return { surplus, superseded }
}

/** The key of a series: each kind has its own. */
export function seriesKey(kind: string, series: string): string {
  return `${kind} ${series}`
}

function bySeries(children: readonly ObservedChild[]): ReadonlyMap<string, OnceChild[]> {
  const found = new Map<string, OnceChild[]>()
  for (const { object, ...child } of children) {
    const series = object?.metadata.labels?.[onceLabel]
    if (object === undefined || series === undefined) continue
    const key = seriesKey(object.kind, series)
    found.set(key, [...(found.get(key) ?? []), { ...child, object }])
  }
  return found
}

function compareAge({ object: { metadata: a } }: OnceChild, { object: { metadata: b } }: OnceChild): number {
  return compareText(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || compareText(b.name ?? '', a.name ?? '')
}

/** How a child has ended; undefined while it runs. A kind with a status that reports nothing yet has not ended. */
function outcomeOf(run: ChildRun, { object, readiness: { state } }: OnceChild): Outcome | undefined {
  if (state === 'Failed') return 'Failed'
  if (state !== 'Ready') return undefined
  const { status } = object as { readonly status?: unknown }
  const hasOwnRule =
    object.metadata.annotations?.[readyAnnotation] !== undefined || run.known.ruleOf(object) !== undefined
  if (hasOwnRule) return 'Complete'
  if (object.apiVersion === 'v1' && object.kind === 'Pod')
    return isJsonObject(status) && status['phase'] === 'Succeeded' ? 'Complete' : undefined
  const hasReported = isJsonObject(status) && Object.keys(status).length > 0
  return hasReported || !mayReport(run, object) ? 'Complete' : undefined
}

function mayReport(run: ChildRun, { apiVersion, kind }: KubeObject): boolean {
  return !declaredKinds(run).some(
    (declared) =>
      declared.apiVersion === apiVersion &&
      declared.kind === kind &&
      'subresources' in declared &&
      !declared.subresources.status,
  )
}
