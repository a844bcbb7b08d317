/**
 * `evenkeel why`: explains why an object is not ready, still exists, changed, or was reconciled.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import { namespaceOptions, type Command } from '../command.ts'
import { readTarget } from '../lookup.ts'
import { managerOptions, readManager } from '../managers.ts'
import { safeText } from '../terminal.ts'
import { answerLines, refOf, type WhyAnswer, type WhyFacts, type WhyQuestion } from '../why-answer.ts'
import { answersOf, readFacts, whyDocument, whyQuestions } from '../why-facts.ts'

export const why: Command = {
  name: 'why',
  about: 'explain the state of an object: not ready, still here, changed, reconciled',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    ...managerOptions,
    question: { type: 'string', short: 'q', choices: whyQuestions, about: 'answer only this question' },
  },
  details:
    'Without -q all questions that apply. Reconciles come from the manager of this directory, or from --manager. With --json each answer is { question, answer, reasons: [{ kind, message, field, condition, at, file, line }], try }.',
  examples: ['evenkeel why app/web', 'evenkeel why namespace/old -q still-here', 'evenkeel why shape/foo --json'],
  async run(call) {
    const { io, values } = call
    const client = await call.connect({ warnings: false })
    const object = await readTarget(client, call)
    const facts = await readFacts(client, object, {
      manager: readManager(values, io),
      nowMs: io.clock.now(),
      signal: io.signal,
    })
    const answers = answersOf(facts, values.text('question') as WhyQuestion | undefined)
    io.stdout.write(call.json ? `${stringifyJson(whyDocument(object, answers))}\n` : page(facts, answers))
    return 0
  },
}

function page({ object, nowMs }: WhyFacts, answers: readonly WhyAnswer[]): string {
  const parts = answers.map((answer) => answerLines(answer, nowMs).join('\n'))
  return safeText(`${refOf(object)}\n\n${parts.join('\n\n')}\n`)
}
