/**
 * `evenkeel why`: explains why an object is not ready, still exists, changed, or was reconciled.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { metadataOnly, type Client } from 'evenkeel/client'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { eventsOf } from '../events.ts'
import { readTarget } from '../lookup.ts'
import { managerOptions, readManager } from '../managers.ts'
import { readOwnerGraph } from '../owner-graph.ts'
import { safeText } from '../terminal.ts'
import { answerLines, refOf, type WhyAnswer, type WhyFacts, type WhyQuestion } from '../why-answer.ts'
import { whyChanged, whyRan } from '../why-changed.ts'
import { whyNotReady } from '../why-not-ready.ts'
import { whyStillHere } from '../why-still-here.ts'

const questions: Readonly<Record<WhyQuestion, (facts: WhyFacts) => WhyAnswer>> = {
  'not-ready': whyNotReady,
  'still-here': whyStillHere,
  changed: whyChanged,
  ran: whyRan,
}

export const why: Command = {
  name: 'why',
  about: 'explain the state of an object: not ready, still here, changed, reconciled',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    ...managerOptions,
    question: { type: 'string', short: 'q', choices: Object.keys(questions), about: 'answer only this question' },
  },
  details:
    'Without -q all questions that apply. Reconciles come from the manager of this directory, or from --manager. With --json each answer is { question, answer, reasons: [{ kind, message, field, condition, at, file, line }], try }.',
  examples: ['evenkeel why app/web', 'evenkeel why namespace/old -q still-here', 'evenkeel why shape/foo --json'],
  async run(call) {
    const client = await call.connect({ warnings: false })
    const facts = await gather(client, call)
    const asked = call.values.text('question') as WhyQuestion | undefined
    const answers = (asked ? [asked] : fitting(facts)).map((question) => questions[question](facts))
    call.io.stdout.write(call.json ? `${stringifyJson(documentOf(facts.object, answers))}\n` : page(facts, answers))
    return 0
  },
}

function fitting({ object, manager }: WhyFacts): readonly WhyQuestion[] {
  const first: WhyQuestion = object.metadata.deletionTimestamp === undefined ? 'not-ready' : 'still-here'
  return [first, 'changed', ...(manager ? (['ran'] as const) : [])]
}

async function gather(client: Client, call: Invocation): Promise<WhyFacts> {
  const { io, values } = call
  const object = await readTarget(client, call)
  const [events, ownerGraph, manager, nodes] = await Promise.all([
    eventsOf(client, object, io),
    readOwnerGraph(client, { namespace: object.metadata.namespace, signal: io.signal }),
    readManager(values, io),
    runsPods(object) ? countNodes(client, io.signal) : undefined,
  ])
  return { object, events, ownerGraph, manager, nodes, nowMs: io.clock.now() }
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

function documentOf(
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  answers: readonly WhyAnswer[],
): object {
  return { object: { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }, answers }
}

function page({ object, nowMs }: WhyFacts, answers: readonly WhyAnswer[]): string {
  const parts = answers.map((answer) => answerLines(answer, nowMs).join('\n'))
  return safeText(`${refOf(object)}\n\n${parts.join('\n\n')}\n`)
}
