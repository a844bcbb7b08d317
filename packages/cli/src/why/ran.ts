/**
 * Why a reconcile ran: the causes that the manager's ledger kept, and who was behind each of them.
 */
import { parseKey } from 'evenkeel/api'
import type { LedgerEntry, RunCause } from 'evenkeel/controller'
import { duration } from '../printing/ago.ts'
import type { WhyAnswer, WhyFacts } from './answer.ts'
import { isKeyOf } from './changed.ts'

const shownMax = 5

export function whyRan(facts: WhyFacts): WhyAnswer {
  const { manager, nowMs } = facts
  if (!manager)
    return {
      question: 'ran',
      answer: 'no manager could be asked',
      because: [],
      advice: ['evenkeel up runs one here; --manager URL asks another one'],
    }
  const runs = lastRunsOf(facts)
  if (runs.length === 0)
    return {
      question: 'ran',
      answer: 'no reconcile of it is remembered',
      because: manager.controllers.map(
        ({ name, isWorking }) =>
          `controller ${name} ${isWorking ? 'works' : 'does not work: another replica may lead'}`,
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
    answer: `${runs.length} ${runs.length === 1 ? 'reconcile is' : 'reconciles are'} remembered`,
    because,
    advice: [],
  }
}

/** Runs of the object's own key, newest first. */
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

/** The first few, each once. */
export function causeLines({ causes }: Pick<LedgerEntry, 'causes'>): readonly string[] {
  return [...new Set(causes.map(causeLine))].slice(0, 3)
}

/** `deployment/web changed (owns Deployment), written by website for website/web`. */
function causeLine({ type, source, object, note, isInitial = false, writer, changed = [] }: RunCause): string {
  const what = object === undefined ? undefined : nameOf(object)
  const words: Readonly<Record<string, string>> = {
    add: isInitial ? `${what ?? 'it'} was there when the controller came` : `${what ?? 'it'} was created`,
    update: `${what ?? 'it'} changed`,
    delete: `${what ?? 'it'} was deleted`,
    resync: 'everything is looked at again from time to time',
    event: `${source} told of it`,
    request: note ?? 'somebody asked for it',
    retry: 'the one before failed',
    timer: 'the one before asked to be called again',
  }
  const by = writer ? `, written by ${writer.controller} for ${nameOf(writer.key)}` : ''
  return `${words[type] ?? type} (${source})${by}${changed.length === 0 ? '' : `; changed: ${changed.slice(0, 4).join(', ')}`}`
}

function nameOf(key: string): string {
  const { kind, name, namespace } = parseKey(key)
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}

function endOf({ controller, end, writes, attempt }: LedgerEntry): string {
  if (!end) return `${controller} is at it now`
  const wrote =
    writes.length === 0
      ? 'wrote nothing'
      : `wrote ${writes
          .slice(0, 3)
          .map(({ verb, object, subresource }) => `${verb} ${nameOf(object)}${subresource ? `/${subresource}` : ''}`)
          .join(', ')}${writes.length > 3 ? ` and ${writes.length - 3} more` : ''}`
  return `${controller} ${end.error === undefined ? (end.waitingFor === undefined ? 'succeeded' : `parked, waiting for ${end.waitingFor}`) : `failed (attempt ${attempt + 1}): ${end.error}`} in ${Math.round(end.durationMs)} ms and ${wrote}`
}
