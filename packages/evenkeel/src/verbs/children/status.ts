/**
 * The status of a parent about its children: one row for each child, and the condition `ChildrenReady`.
 *
 * Rows are sorted by key, and the transition time of a row changes only with its state, so a run that observed the same
 * writes the same. A kind without `status.children` in its schema gets only the condition.
 */
import {
  compareText,
  findCondition,
  formatTime,
  getOwn,
  isJsonObject,
  readConditions,
  type ChildCount,
  type ChildReport,
  type Condition,
  type JsonObject,
  type Kind,
  type KubeObject,
  type PartState,
} from '#api'
import { observedGenerationOf, type Readiness } from '../readiness.ts'
import { describeId, idText, type ChildId } from './desired-child.ts'

/** More rows than this are cut, and `childCounts` counts all. */
const rowsMax = 100
/** How many children the message of the condition names. */
const namedMax = 3
const messageMax = 1024

/** A child as a run observed it. */
export interface ObservedChild {
  readonly id: ChildId
  readonly object?: KubeObject | undefined
  readonly readiness: Readiness
  /**
   * The generation of the parent for which this run applied it; undefined if it could not, `never` if no run applies it
   * for each generation.
   */
  readonly appliedFor?: number | 'never' | undefined
}

interface ChildrenSummary {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** The condition type of a reporting controller; the first one has no prefix. */
export function childrenConditionType(reporter: string | undefined): string {
  return reporter === undefined ? 'ChildrenReady' : `${reporter}/ChildrenReady`
}

/** The rows of all reporting controllers. */
export function allRows(parent: KubeObject): readonly ChildReport[] {
  const { status } = parent as { readonly status?: unknown }
  const rows: unknown = isJsonObject(status) ? getOwn(status, 'children') : undefined
  return Array.isArray(rows) ? (rows.filter(isJsonObject) as readonly object[] as readonly ChildReport[]) : []
}

/** Whether a run of this reporting controller has reported before. */
export function hasReport(parent: KubeObject, reporter: string | undefined): boolean {
  return conditionOf(parent, reporter) !== undefined || earlierRows(parent, reporter).size > 0
}

/** Whether the condition says, for this generation of the parent, that all children are ready. */
export function isReportedReady(parent: KubeObject, reporter: string | undefined): boolean {
  const { status, observedGeneration } = conditionOf(parent, reporter) ?? {}
  return status === 'True' && (observedGeneration ?? parent.metadata.generation) === parent.metadata.generation
}

function conditionOf(parent: KubeObject, reporter: string | undefined): Condition | undefined {
  const { status } = parent as { readonly status?: unknown }
  return findCondition(
    readConditions(isJsonObject(status) ? getOwn(status, 'conditions') : undefined),
    childrenConditionType(reporter),
  )
}

/** The rows of an earlier run of this reporting controller, by key. */
export function earlierRows(parent: KubeObject, reporter: string | undefined): ReadonlyMap<string, ChildReport> {
  return new Map(
    allRows(parent)
      .filter(({ controller }) => controller === reporter)
      .map((row) => [idText(row), row]),
  )
}

interface RowContext {
  readonly earlier: ChildReport | undefined
  readonly nowMs: number
  readonly reporter: string | undefined
}

/** The row of a child, merged with its earlier row. */
export function rowOf(
  { id, object, readiness, appliedFor }: ObservedChild,
  { earlier, nowMs, reporter }: RowContext,
): ChildReport {
  const { state, reason, message } = readiness
  const appliedForGeneration = appliedFor === 'never' ? undefined : (appliedFor ?? earlier?.appliedForGeneration)
  const { generation, uid = earlier?.uid } = object?.metadata ?? {}
  const observedGeneration = object && observedGenerationOf(object)
  return {
    group: id.group,
    kind: id.kind,
    namespace: id.namespace,
    name: id.name,
    apiVersion: id.apiVersion,
    ...(reporter !== undefined && { controller: reporter }),
    ...(uid !== undefined && { uid }),
    ...(appliedForGeneration !== undefined && { appliedForGeneration }),
    ...(generation !== undefined && { generation }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    state,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message: message.slice(0, messageMax) }),
    lastTransitionTime:
      earlier?.state === state && earlier.lastTransitionTime !== undefined
        ? earlier.lastTransitionTime
        : formatTime(nowMs),
  }
}

/** At most `rowsMax` rows, children that are not ready preferred, sorted by key; counts of all if some are cut. */
export function cutRows(rows: readonly ChildReport[]): {
  readonly children: readonly ChildReport[]
  readonly childCounts: readonly ChildCount[] | undefined
} {
  const sorted = rows.toSorted((a, b) => compareText(idText(a), idText(b)))
  if (sorted.length <= rowsMax) return { children: sorted, childCounts: undefined }
  const first = new Set(
    sorted.toSorted((a, b) => Number(a.state === 'Ready') - Number(b.state === 'Ready')).slice(0, rowsMax),
  )
  return { children: sorted.filter((row) => first.has(row)), childCounts: countRows(sorted) }
}

function countRows(rows: readonly ChildReport[]): readonly ChildCount[] {
  const counts = new Map<string, { group: string; kind: string; total: number; ready: number }>()
  for (const { group, kind, state } of rows) {
    const count = counts.get(`${group} ${kind}`) ?? { group, kind, total: 0, ready: 0 }
    count.total++
    if (state === 'Ready') count.ready++
    counts.set(`${group} ${kind}`, count)
  }
  return [...counts].sort(([a], [b]) => compareText(a, b)).map(([, count]) => count)
}

interface SummaryOptions {
  readonly parent: KubeObject
  /** The run ended before it had applied all children. */
  readonly waitsFor?: string | undefined
  /** Keys of rows that do not count. @default none */
  readonly superseded?: ReadonlySet<string>
}

/** The condition for all rows. */
export function summarize(
  all: readonly ChildReport[],
  { parent, waitsFor, superseded = new Set() }: SummaryOptions,
): ChildrenSummary {
  const rows = all.filter((row) => !superseded.has(idText(row)))
  const unready = rows.filter(({ state }) => state !== 'Ready').sort((a, b) => compareText(idText(a), idText(b)))
  const worst = unready.toSorted((a, b) => rank(a) - rank(b))
  const [first] = worst
  if (!first && waitsFor === undefined)
    return {
      status: 'True',
      reason: 'AllReady',
      message: rows.length === 1 ? '1 child is ready' : `${rows.length} children are ready`,
    }
  const named = worst
    .slice(0, namedMax)
    .map((row) => `${describeId(row, parent)}: ${row.message ?? row.reason ?? row.state}`)
  const more = unready.length > namedMax ? [`and ${unready.length - namedMax} more`] : []
  return {
    status: 'False',
    reason: first ? reasonOf(first) : 'Progressing',
    message: [...named, ...more].join('; ') || `waiting for ${waitsFor ?? ''}`,
  }
}

const ranks: Readonly<Record<PartState, number>> = {
  Failed: 1,
  Missing: 2,
  Progressing: 3,
  Pending: 3,
  Applied: 3,
  Terminating: 3,
  Ready: 4,
}

function rank({ state, reason }: ChildReport): number {
  return reason === 'Conflict' ? 0 : ranks[state]
}

function reasonOf({ state, reason }: ChildReport): string {
  if (state === 'Failed') return reason === 'Conflict' ? 'Conflict' : 'Failed'
  return state === 'Missing' ? 'Missing' : 'Progressing'
}

/** Whether the report may be written: the status of a built-in kind (Namespace, Node) belongs to the cluster. */
export function reportsOn({ group, subresources }: Kind): boolean {
  return subresources.status && group.includes('.') && !group.endsWith('.k8s.io')
}

/** Whether the schema of a kind has `status.children` with the list keys of a child report. */
export function hasRows({ schema, subresources }: Kind): boolean {
  const properties = schema && propertiesOf(schema)
  const status = properties && getOwn(properties, 'status')
  const rows = isJsonObject(status) ? getOwn(propertiesOf(status), 'children') : undefined
  const keys = isJsonObject(rows) ? rows['x-kubernetes-list-map-keys'] : undefined
  return subresources.status && Array.isArray(keys) && keys.includes('namespace') && keys.includes('kind')
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {}
}
