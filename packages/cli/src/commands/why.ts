/**
 * `evenkeel why`: explains why an object is not ready, still exists, changed, or was reconciled.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { SystemClock } from 'evenkeel/unstable/base'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { eventsOf } from '../events.ts'
import { readTarget } from '../lookup.ts'
import { managerOptions, readManager } from '../managers.ts'
import { readOwnerGraph } from '../owner-graph.ts'
import { safeText } from '../terminal.ts'
import { refOf, whyChanged, whyRan, type WhyAnswer, type WhyFacts } from '../why-changed.ts'
import { whyNotReady, whyStillHere } from '../why-not-ready.ts'

const questions = { 'not-ready': whyNotReady, 'still-here': whyStillHere, changed: whyChanged, ran: whyRan } as const
type Question = keyof typeof questions

const headings: Readonly<Record<Question, string>> = {
  'not-ready': 'Is it ready?',
  'still-here': 'Why is it still here?',
  changed: 'Why did it change?',
  ran: 'Why did its controller run?',
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
    'Without -q all questions that apply. Reconciles come from the manager of this directory, or from --manager.',
  examples: ['evenkeel why app/web', 'evenkeel why namespace/old -q still-here', 'evenkeel why shape/foo --json'],
  async run(call) {
    const client = await call.connect({ warnings: false })
    const facts = await gather(client, call)
    const asked = call.values.text('question') as Question | undefined
    const answers = (asked ? [asked] : fitting(facts)).map((question) => questions[question](facts))
    call.io.stdout.write(
      call.json ? `${stringifyJson({ object: refOf(facts.object), answers })}\n` : page(facts.object, answers),
    )
    return 0
  },
}

function fitting({ object, manager }: WhyFacts): readonly Question[] {
  const first: Question = object.metadata.deletionTimestamp === undefined ? 'not-ready' : 'still-here'
  return [first, 'changed', ...(manager ? (['ran'] as const) : [])]
}

async function gather(client: Client, call: Invocation): Promise<WhyFacts> {
  const { io, values } = call
  const object = await readTarget(client, call)
  const [events, family, manager] = await Promise.all([
    eventsOf(client, object, io),
    readOwnerGraph(client, { namespace: object.metadata.namespace, signal: io.signal }),
    readManager(values, io),
  ])
  return { object, events, ownerGraph: family, manager, nowMs: new SystemClock().now() }
}

function page(object: KubeObject, answers: readonly WhyAnswer[]): string {
  const parts = answers.map(({ question, answer, because, advice }) =>
    [
      `${headings[question as Question]} ${answer}.`,
      ...because.map((line) => `  ${line.startsWith('  ') ? line : `- ${line}`}`),
      ...advice.map((line) => `  try: ${line}`),
    ].join('\n'),
  )
  return safeText(`${refOf(object)}\n\n${parts.join('\n\n')}\n`)
}
