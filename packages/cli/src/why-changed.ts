/**
 * Explains why an object changed (which manager wrote which fields), and why a reconcile ran (the causes in the ledger of
 * the manager).
 */
import { formatTime, isJsonObject, parseKey, type JsonValue } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { LedgerEntry } from 'evenkeel/unstable/controller'
import type { RunCause } from 'evenkeel/controller'
import type { WhyAnswer, WhyFacts, WhyReason } from './why-answer.ts'

/** How many writers are shown, and how many fields of each in the text. */
const writersMax = 6
const fieldsMax = 5

export function whyChanged({ object, manager }: WhyFacts): WhyAnswer {
  const written = [...(object.metadata.managedFields ?? [])].sort((a, b) =>
    String(b.time ?? '').localeCompare(String(a.time ?? '')),
  )
  const write = lastWrite(object, manager?.runs ?? [])
  const byReconcile: readonly WhyReason[] = write
    ? [
        {
          kind: 'reconcile',
          message: `reconcile ${write.run.reconcileId.slice(0, 8)} of ${write.run.controller} wrote version ${write.version}`,
          at: formatTime(write.run.startedMs),
        },
        ...causesOf(write.run),
      ]
    : []
  // Managed fields have times in seconds; the ledger has the exact version.
  const last = write && write.version === object.metadata.resourceVersion ? write.run.controller : written[0]?.manager
  return {
    question: 'changed',
    answer: last === undefined ? 'its managed fields name no writer' : `${last} wrote it last`,
    reasons: [...byReconcile, ...written.slice(0, writersMax).map(writeReason)],
    ...(!manager && { try: ['--manager URL adds the reconcile and its cause'] }),
  }
}

function writeReason({
  manager = 'an unknown manager',
  operation = 'Update',
  time,
  subresource,
  fieldsV1,
}: NonNullable<KubeObject['metadata']['managedFields']>[number]): WhyReason {
  const fields = [...new Set(pathsOf(fieldsV1 as JsonValue | undefined).map(shownPath))]
  const more = fields.length > fieldsMax ? ` and ${fields.length - fieldsMax} more` : ''
  return {
    kind: 'write',
    message: `${manager} (${operation}${subresource ? `, ${subresource}` : ''}) wrote ${fields.slice(0, fieldsMax).join(', ')}${more}`,
    fields,
    ...(time !== undefined && { at: String(time) }),
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
function isKeyOf(
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
const writesMax = 3

export function whyRan(facts: WhyFacts): WhyAnswer {
  const { manager } = facts
  if (!manager)
    return {
      question: 'ran',
      answer: 'no manager is running here',
      reasons: [],
      try: ['evenkeel up starts one; --manager URL reads from another'],
    }
  const runs = lastRunsOf(facts)
  if (runs.length === 0)
    return {
      question: 'ran',
      answer: 'the ledger has no reconcile of it',
      reasons: manager.controllers.map(({ name, isWorking }) => ({
        kind: 'controller',
        message: `controller ${name} ${isWorking ? 'is running' : 'is not running: another replica may lead'}`,
      })),
    }
  return {
    question: 'ran',
    answer: `the ledger has ${runs.length} ${runs.length === 1 ? 'reconcile' : 'reconciles'}`,
    reasons: runs
      .slice(0, shownMax)
      .flatMap((run) => [
        { kind: 'reconcile', message: endOf(run), at: formatTime(run.startedMs), ...placeOf(run) } as const,
        ...causesOf(run),
      ]),
  }
}

/** The line of the program that threw. */
export function placeOf({ end }: Pick<LedgerEntry, 'end'>): Pick<WhyReason, 'file' | 'line'> {
  const [, file, line] = /^(.*):(\d+)$/.exec(end?.at ?? '') ?? []
  return file === undefined ? {} : { file, line: Number(line) }
}

function causesOf(run: Pick<LedgerEntry, 'causes'>): readonly WhyReason[] {
  return causeLines(run).map((message) => ({ kind: 'cause', message }))
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
  const shown = writes
    .slice(0, writesMax)
    .map(({ verb, object, subresource }) => `${verb} ${nameOf(object)}${subresource ? `/${subresource}` : ''}`)
  const more = writes.length > writesMax ? ` and ${writes.length - writesMax} more` : ''
  const wrote = writes.length === 0 ? 'and wrote nothing' : `with writes: ${shown.join(', ')}${more}`
  const took = `in ${Math.round(end.durationMs)} ms`
  if (end.error !== undefined)
    return `${controller} failed ${took} (attempt ${attempt + 1})${writes.length === 0 ? '' : ` ${wrote}`}: ${end.error}`
  if (end.waitingFor !== undefined) return `${controller} parked ${took}, waiting for ${end.waitingFor}, ${wrote}`
  return `${controller} succeeded ${took} ${wrote}`
}
