/**
 * The facts that the answers of `evenkeel why` are based on, and the answers themselves: for the command and for `evenkeel mcp`.
 */
import type { KubeObject } from 'evenkeel'
import { metadataOnly, type Client } from 'evenkeel/client'
import { eventsOf } from './events.ts'
import type { ManagerReport } from './managers.ts'
import { readOwnerGraph } from './owner-graph.ts'
import type { WhyAnswer, WhyFacts, WhyQuestion } from './why-answer.ts'
import { whyChanged, whyRan } from './why-changed.ts'
import { whyNotReady } from './why-not-ready.ts'
import { whyStillHere } from './why-still-here.ts'

const questions: Readonly<Record<WhyQuestion, (facts: WhyFacts) => WhyAnswer>> = {
  'not-ready': whyNotReady,
  'still-here': whyStillHere,
  changed: whyChanged,
  ran: whyRan,
}

export const whyQuestions = Object.keys(questions) as readonly WhyQuestion[]

interface FactSources {
  /** What the managers of this machine report; undefined when none is reachable. */
  readonly manager: Promise<ManagerReport | undefined>
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** Reads everything that an answer about the object may need. */
export async function readFacts(
  client: Client,
  object: KubeObject,
  { manager: report, nowMs, signal }: FactSources,
): Promise<WhyFacts> {
  const [events, ownerGraph, manager, nodes] = await Promise.all([
    eventsOf(client, object, { signal }),
    readOwnerGraph(client, { namespace: object.metadata.namespace, signal }),
    report,
    runsPods(object) ? countNodes(client, signal) : undefined,
  ])
  return { object, events, ownerGraph, manager, nodes, nowMs }
}

/** The answer to one question, or to all that apply. */
export function answersOf(facts: WhyFacts, asked?: WhyQuestion): readonly WhyAnswer[] {
  return (asked ? [asked] : fitting(facts)).map((question) => questions[question](facts))
}

/** The answers as `evenkeel why --json` prints them. */
export function whyDocument(
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  answers: readonly WhyAnswer[],
): { readonly object: object; readonly answers: readonly WhyAnswer[] } {
  return { object: { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }, answers }
}

function fitting({ object, manager }: WhyFacts): readonly WhyQuestion[] {
  const first: WhyQuestion = object.metadata.deletionTimestamp === undefined ? 'not-ready' : 'still-here'
  return [first, 'changed', ...(manager ? (['ran'] as const) : [])]
}

/** Workloads of Kubernetes: they are ready when nodes run their pods. */
function runsPods({ apiVersion, kind }: KubeObject): boolean {
  return (
    /^(?:apps|batch)\//.test(apiVersion) || (apiVersion === 'v1' && ['Pod', 'ReplicationController'].includes(kind))
  )
}

/** Undefined when nodes may not be read. */
async function countNodes(client: Client, signal: AbortSignal): Promise<number | undefined> {
  try {
    return (await client.page(metadataOnly({ apiVersion: 'v1', kind: 'Node' }), { pageSize: 1, signal })).items.length
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}
