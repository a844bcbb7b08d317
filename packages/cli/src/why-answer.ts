/**
 * The answers of `evenkeel why` as data, and as text. Every reason is a fact of an object, an Event or the ledger.
 *
 * The text is made from the data alone, so that `--json` has everything that is printed. Worked example:
 *
 *     { question: 'ran', answer: 'the ledger has 1 reconcile',
 *       reasons: [{ kind: 'reconcile', message: 'lamp succeeded in 3 ms and wrote nothing', at: '2026-11-15T17:59:30Z' },
 *                 { kind: 'cause', message: 'lamp/desk in default was created (for Lamp)' }] }
 *
 *     Why did its controller run? The ledger has 1 reconcile.
 *       - lamp succeeded in 3 ms and wrote nothing (5s ago)
 *         because lamp/desk in default was created (for Lamp)
 */
import type { KubeObject } from 'evenkeel'
import type { EventSummary } from './events.ts'
import type { ManagerReport } from './managers.ts'
import type { OwnerGraph } from './owner-graph.ts'
import { ago, safeLine } from './terminal.ts'

export type WhyQuestion = 'not-ready' | 'still-here' | 'changed' | 'ran'

export interface WhyAnswer {
  readonly question: WhyQuestion
  /** One sentence without its full stop. */
  readonly answer: string
  /** The most important first. */
  readonly reasons: readonly WhyReason[]
  /** What to do. @default nothing */
  readonly try?: readonly string[]
}

export interface WhyReason {
  /** What the fact is about. A `cause` belongs to the reason before it. */
  readonly kind:
    | 'cause'
    | 'child'
    | 'condition'
    | 'controller'
    | 'dependency'
    | 'dependent'
    | 'event'
    | 'finalizer'
    | 'generation'
    | 'node'
    | 'owner'
    | 'reconcile'
    | 'write'
  /** One sentence without its full stop. */
  readonly message: string
  /** The field of the object that says so: `status.children`. */
  readonly field?: string
  /** The fields that were written. */
  readonly fields?: readonly string[]
  /** The type of the condition. */
  readonly condition?: string
  /** Since when, or when; an ISO time. */
  readonly at?: string
  /** The file of the program that threw. */
  readonly file?: string
  readonly line?: number
}

/** What the answers are based on; read once. */
export interface WhyFacts {
  readonly object: KubeObject
  readonly events: readonly EventSummary[]
  readonly ownerGraph: OwnerGraph
  /** Undefined when no manager is reachable. */
  readonly manager: ManagerReport | undefined
  /** How many nodes can run pods; undefined when the object runs none, or nodes may not be read. */
  readonly nodes?: number | undefined
  readonly nowMs: number
}

const headings: Readonly<Record<WhyQuestion, string>> = {
  'not-ready': 'Is it ready?',
  'still-here': 'Why is it still here?',
  changed: 'Why did it change?',
  ran: 'Why did its controller run?',
}

/** An answer as lines of text. */
export function answerLines(
  { question, answer, reasons, try: advice = [] }: WhyAnswer,
  nowMs: number,
): readonly string[] {
  return [
    `${headings[question]} ${capitalized(answer)}.`,
    ...reasons.map((reason) => safeLine(`  ${reason.kind === 'cause' ? '  because' : '-'} ${textOf(reason, nowMs)}`)),
    ...advice.map((line) => safeLine(`  try: ${line}`)),
  ]
}

function textOf({ kind, message, at, file, line }: WhyReason, nowMs: number): string {
  const age = at === undefined ? '' : ago(at, nowMs)
  const notes = [
    ...(file === undefined ? [] : [`${file}${line === undefined ? '' : `:${line}`}`]),
    ...(age === '' ? [] : [kind === 'condition' ? `for ${age}` : `${age} ago`]),
  ]
  return notes.length === 0 ? message : `${message} (${notes.join(', ')})`
}

/** The name of a controller stays as it is. */
function capitalized(text: string): string {
  return text.replace(/^(?:yes|no|it|its|the)\b/, (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
}

export function refOf({ kind, metadata: { name = '', namespace } }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}
