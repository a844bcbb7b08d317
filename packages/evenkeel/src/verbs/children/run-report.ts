/**
 * The report of one run about its children: from what the run has applied and what the caches show.
 *
 * Invariants: only a run that returned reports that all children are ready; a run that ended early never leaves a
 * condition about a state that has passed; every row was observed, by this run or by the run that wrote it.
 *
 *   the run returned ─────▶ rows and condition of all children that exist
 *   it ended early ───────▶ the same; if all are ready, the condition stays True, or says that not all are applied yet
 *   it is still running ──▶ rows of the children so far; the condition only if it is False
 */
import type { ChildReport, KubeObject } from '#api'
import { readinessOf } from '../readiness.ts'
import { ifCached, newestParent, type ChildRun } from './apply.ts'
import { childIdOf, idText, type ChildId } from './desired-child.ts'
import { readApplied } from './ownership-labels.ts'
import { declaredKinds } from './prune.ts'
import {
  allRows,
  childrenConditionType,
  cutRows,
  earlierRows,
  hasReport,
  hasRows,
  isReportedReady,
  reportsOn,
  rowOf,
  summarize,
  type ObservedChild,
} from './status.ts'

/** With more children than this, only the end of a run writes the report. */
const intermediateReportMax = 50

/** What a run knows about the children of its parent. */
export interface RunObservation {
  /** Children of this run, by key. */
  readonly declared: ReadonlyMap<string, ObservedChild>
  /** Other children that stay. */
  readonly staying: readonly ObservedChild[]
  readonly leaving: readonly KubeObject[]
  readonly leavingElsewhere: readonly ChildId[]
  /** Keys of children that are history: reported, and without effect on the condition. */
  readonly superseded: ReadonlySet<string>
}

interface ReportOptions {
  /** How far the run is. */
  readonly at: 'progress' | 'earlyEnd' | 'end'
  /** What the run waits for. */
  readonly waitsFor?: string | undefined
}

/** Writes rows and condition into the status of the run. */
export function reportChildren(run: ChildRun, observation: RunObservation, { at, waitsFor }: ReportOptions): void {
  const {
    run: { status, kind },
    base: { clock },
    reporter,
  } = run
  const isProgress = at === 'progress'
  // Reports of a running run show where a failed one stopped. With many children they cost too much.
  if (
    !status ||
    !reportsOn(kind) ||
    (isProgress && waitsFor === undefined && observation.declared.size > intermediateReportMax)
  )
    return
  const parent = newestParent(run)
  const earlier = earlierRows(parent, reporter)
  const rows = new Map<string, ChildReport>()
  for (const child of observedChildren(run, observation, { earlier, at }))
    rows.set(idText(child.id), rowOf(child, { earlier: earlier.get(idText(child.id)), nowMs: clock.now(), reporter }))
  const all = [...(isProgress ? new Map([...earlier, ...rows]) : rows).values()]
  if (
    all.length === 0 &&
    waitsFor === undefined &&
    observation.declared.size === 0 &&
    !hasReport(parent, reporter) &&
    at === 'earlyEnd'
  )
    return
  const others = allRows(parent).filter(({ controller }) => controller !== reporter)
  if (hasRows(kind)) status.set(cutRows([...all, ...others]) as never)
  // A running run answers for its own children only.
  const summary = summarize([...rows.values()], { parent, waitsFor, superseded: observation.superseded })
  const type = childrenConditionType(reporter)
  if (at === 'end' || summary.status === 'False') status.condition(type, summary.status, summary)
  else if (at === 'earlyEnd' && !isReportedReady(parent, reporter))
    status.condition(type, false, {
      reason: 'Progressing',
      message: 'the last run ended before it had applied all children',
    })
}

function observedChildren(
  run: ChildRun,
  { declared, staying, leaving, leavingElsewhere }: RunObservation,
  { earlier, at }: Pick<ReportOptions, 'at'> & { readonly earlier: ReadonlyMap<string, ChildReport> },
): readonly ObservedChild[] {
  const unsynced = at === 'progress' ? [] : [...earlier.values()].filter((row) => !isKnown(run, declared, row))
  return [
    ...[...declared.values()].filter(({ readiness }) => at === 'end' || readiness.state !== 'Pending'),
    ...leaving.map((object) => ({ id: childIdOf(object), object, readiness: readinessOf(object) })),
    ...staying,
    ...leavingElsewhere.map((id) => ({ id, readiness: { state: 'Terminating' as const, reason: 'Deleting' } })),
    ...unsynced.map(({ apiVersion = '', ...row }) => ({ id: { ...row, apiVersion }, readiness: row })),
  ]
}

/** Whether the cache would show the child of a row if it existed. */
export function isKnown(
  run: ChildRun,
  declared: RunObservation['declared'],
  { apiVersion = '', kind, group, namespace, name }: ChildReport,
): boolean {
  if (declared.has(idText({ group, kind, namespace, name }))) return true
  const cachedKinds = [...declaredKinds(run), ...run.watches.kinds].filter(
    (cachedKind) => cachedKind.apiVersion === apiVersion && cachedKind.kind === kind,
  )
  const key = { name, ...(namespace !== '' && { namespace }) }
  return (
    cachedKinds.length === 0 ||
    cachedKinds.some((cachedKind) => ifCached(() => run.run.cache.find(cachedKind, key)) !== undefined)
  )
}

/** Whether a child was applied for a later generation than this run has: its cache lags, and it must not report. */
export function isOutdated(
  { parent }: ChildRun,
  { staying, leaving }: Pick<RunObservation, 'staying' | 'leaving'>,
): boolean {
  const { generation = 0 } = parent.metadata
  const objects = [...staying.flatMap(({ object }) => object ?? []), ...leaving]
  return objects.some((object) => (readApplied(object)?.generation ?? 0) > generation)
}
