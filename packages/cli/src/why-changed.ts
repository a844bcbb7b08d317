/**
 * Explains why an object changed (which manager wrote which fields), and why a reconcile ran (the causes in the ledger of
 * the manager). And the answer type of all `why` questions.
 */
import { isJsonObject, parseKey, type JsonValue } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { LedgerEntry } from 'evenkeel/unstable/controller'
import type { RunCause } from 'evenkeel/controller'
import type { EventSummary } from './events.ts'
import type { ManagerReport } from './managers.ts'
import type { OwnerGraph } from './owner-graph.ts'
import { ago, duration } from './terminal.ts'

export function whyChanged(facts: WhyFacts): WhyAnswer {
  const { object, manager, nowMs } = facts
  const written = [...(object.metadata.managedFields ?? [])].sort((a, b) =>
    String(b.time ?? '').localeCompare(String(a.time ?? '')),
  )
  const because = written
    .slice(0, 6)
    .map(({ manager: who = 'an unknown manager', operation = 'Update', time, subresource, fieldsV1 }) => {
      const fields = [...new Set(pathsOf(fieldsV1 as JsonValue | undefined).map(shownPath))]
      const shown = fields.slice(0, 5).join(', ')
      return `${who} (${operation}${subresource ? `, ${subresource}` : ''}) wrote ${shown}${fields.length > 5 ? ` and ${fields.length - 5} more` : ''}${time === undefined ? '' : `, ${ago(String(time), nowMs)} ago`}`
    })
  const write = lastWrite(object, manager?.runs ?? [])
  if (write)
    because.unshift(
      `version ${write.version} was written by reconcile ${write.run.reconcileId.slice(0, 8)} of ${write.run.controller}`,
      ...causeLines(write.run).map((line) => `which ran because ${line}`),
    )
  // Managed fields have times in seconds; the ledger has the exact version.
  const last = write && write.version === object.metadata.resourceVersion ? write.run.controller : written[0]?.manager
  return {
    question: 'changed',
    answer: last === undefined ? 'its managed fields name no writer' : `${last} wrote it last`,
    because,
    advice: manager ? [] : ['--manager URL adds the reconcile and its cause'],
  }
}

function lastWrite(
  { kind, metadata: { name, namespace, resourceVersion } }: KubeObject,
  runs: readonly LedgerEntry[],
): { run: LedgerEntry; version: string } | undefined {
  for (const run of runs) {
    const write = run.writes.findLast(
      ({ object, isNoop = false }) => !isNoop && isKeyOf(object, { kind, name, namespace }),
    )
    if (write) return { run, version: write.resourceVersion ?? resourceVersion ?? '' }
  }
  return undefined
}

/** Whether a canonical key belongs to the object. */
export function isKeyOf(
  key: string,
  { kind, name, namespace }: { kind: string; name?: string | undefined; namespace?: string | undefined },
): boolean {
  const parsed = parseKey(key)
  return parsed.kind === kind && parsed.name === name && (parsed.namespace ?? '') === (namespace ?? '')
}

/** The first two names of a path, three of the metadata: `spec.replicas`, `metadata.labels["app.kubernetes.io/name"]`. */
function shownPath(names: readonly string[]): string {
  return names
    .slice(0, names[0] === 'metadata' ? 3 : 2)
    .map((name, index) => (/^[\w-]+$/.test(name) ? `${index === 0 ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`))
    .join('')
}

/** The fields of an entry of managedFields, each as the names of its path up to the first list. */
function pathsOf(fields: JsonValue | undefined, path: readonly string[] = []): readonly (readonly string[])[] {
  const names = isJsonObject(fields) ? Object.keys(fields).filter((name) => name.startsWith('f:')) : []
  if (!isJsonObject(fields) || names.length === 0) return path.length === 0 ? [] : [path]
  return names.flatMap((name) => pathsOf(fields[name], [...path, name.slice(2)]))
}

const shownMax = 5

export function whyRan(facts: WhyFacts): WhyAnswer {
  const { manager, nowMs } = facts
  if (!manager)
    return {
      question: 'ran',
      answer: 'no manager is running here',
      because: [],
      advice: ['evenkeel up starts one; --manager URL reads from another'],
    }
  const runs = lastRunsOf(facts)
  if (runs.length === 0)
    return {
      question: 'ran',
      answer: 'the ledger has no reconcile of it',
      because: manager.controllers.map(
        ({ name, isWorking }) =>
          `controller ${name} ${isWorking ? 'is running' : 'is not running: another replica may lead'}`,
      ),
      advice: [],
    }
  const because = runs
    .slice(0, shownMax)
    .flatMap((run) => [
      `${duration(nowMs - run.startedMs)} ago: ${endOf(run)}`,
      ...causeLines(run).map((line) => `  because ${line}`),
    ])
  return {
    question: 'ran',
    answer: `the ledger has ${runs.length} ${runs.length === 1 ? 'reconcile' : 'reconciles'}`,
    because,
    advice: [],
  }
}

/** Reconciles of the object, newest first. */
export function lastRunsOf({
  object: {
    kind,
    metadata: { name, namespace },
  },
  manager,
}: WhyFacts): readonly LedgerEntry[] {
  return (manager?.runs ?? [])
    .filter(({ key }) => isKeyOf(key, { kind, name, namespace }))
    .toSorted((a, b) => b.startedMs - a.startedMs)
}

/** The first few distinct lines. */
export function causeLines({ causes }: Pick<LedgerEntry, 'causes'>): readonly string[] {
  return [...new Set(causes.map(causeLine))].slice(0, 3)
}

/** `deployment/web changed (owns Deployment), written by website for website/web`. */
function causeLine({ type, source, object, note, isInitial = false, writer, changed = [] }: RunCause): string {
  const what = object === undefined ? undefined : nameOf(object)
  const words: Readonly<Record<string, string>> = {
    add: isInitial ? `${what ?? 'it'} existed when the controller started` : `${what ?? 'it'} was created`,
    update: `${what ?? 'it'} changed`,
    delete: `${what ?? 'it'} was deleted`,
    resync: 'periodic resync',
    event: `an event of ${source}`,
    request: note ?? 'requested by code',
    retry: 'the previous reconcile failed',
    timer: 'the previous reconcile requested a requeue',
  }
  const by = writer ? `, written by ${writer.controller} for ${nameOf(writer.key)}` : ''
  return `${words[type] ?? type} (${source})${by}${changed.length === 0 ? '' : `; changed: ${changed.slice(0, 4).join(', ')}`}`
}

function nameOf(key: string): string {
  const { kind, name, namespace } = parseKey(key)
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}

function endOf({ controller, end, writes, attempt }: LedgerEntry): string {
  if (!end) return `${controller} is running now`
  const wrote =
    writes.length === 0
      ? 'wrote nothing'
      : `wrote ${writes
          .slice(0, 3)
          .map(({ verb, object, subresource }) => `${verb} ${nameOf(object)}${subresource ? `/${subresource}` : ''}`)
          .join(', ')}${writes.length > 3 ? ` and ${writes.length - 3} more` : ''}`
  return `${controller} ${end.error === undefined ? (end.waitingFor === undefined ? 'succeeded' : `parked, waiting for ${end.waitingFor}`) : `failed${end.at === undefined ? '' : ` at ${end.at}`} (attempt ${attempt + 1}): ${end.error}`} in ${Math.round(end.durationMs)} ms and ${wrote}`
}

/** An answer to a `why` question. Every line is a fact of an object, an Event or the ledger. */
export interface WhyAnswer {
  /** `not-ready`, `still-here`, `changed`, `ran` */
  readonly question: string
  /** One sentence. */
  readonly answer: string
  /** The facts, the most important first. */
  readonly because: readonly string[]
  /** What to do; may be empty. */
  readonly advice: readonly string[]
}

/** What the answers are based on; read once. */
export interface WhyFacts {
  readonly object: KubeObject
  readonly events: readonly EventSummary[]
  readonly ownerGraph: OwnerGraph
  /** Undefined when no manager is reachable. */
  readonly manager: ManagerReport | undefined
  readonly nowMs: number
}

export function refOf({ kind, metadata: { name = '', namespace } }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}
