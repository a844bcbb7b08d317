/**
 * Tools that explain: describe, why, tree, wait, rules, failed_reconciles. They use the functions of the commands.
 */
import { formatTime, parseKey, type JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { eventsOf } from '../events.ts'
import { Failure } from '../failure.ts'
import { notFound } from '../not-found.ts'
import { stateOf } from '../object-state.ts'
import { readTree, type Branch } from '../object-tree.ts'
import { watchObjects } from '../object-watch.ts'
import { waitGoalOf, type WaitGoal } from '../wait-goal.ts'
import type { WhyQuestion } from '../why-answer.ts'
import { causeLines } from '../why-changed.ts'
import { answersOf, readFacts, whyDocument, whyQuestions } from '../why-facts.ts'
import type { ObjectTarget } from './scope.ts'
import { argument, field, reads, type Tool, type ToolArguments, type ToolCall } from './tool.ts'

/** The object that the arguments name. */
export function targetOf(given: ToolArguments, { scope }: Pick<ToolCall, 'scope'>): Promise<ObjectTarget> {
  return scope.target(given.text('kind'), given.text('name'), { namespace: given.optional('namespace') })
}

const eventsMax = 30

const describe: Tool = {
  name: 'describe',
  title: 'Describe an object',
  about: 'Reads one object with its state in a word and its last events.',
  input: argument,
  required: ['kind', 'name'],
  output: { object: field.object, state: field.object, events: field.objects },
  effect: reads,
  narrow: 'use get with path',
  async run(given, call) {
    const { scope, signal } = call
    const object = await scope.read(await targetOf(given, call), signal)
    const found = await eventsOf(await scope.client(), object, { signal })
    return {
      object: scope.shown(object),
      state: jsonOf(stateOf(object)),
      events: found.slice(-eventsMax).map((event) => ({ ...event })),
    }
  },
}

const why: Tool = {
  name: 'why',
  title: 'Explain the state of an object',
  about:
    'Explains why an object is not ready, still exists, changed, or was reconciled: from its conditions, children, events, field managers and the ledger of its controller. Start here when something is wrong.',
  input: {
    ...argument,
    question: { type: 'string', enum: whyQuestions, description: 'Only this question; without it all that apply' },
  },
  required: ['kind', 'name'],
  output: { answers: field.objects, object: field.object },
  effect: reads,
  narrow: 'give question',
  async run(given, call) {
    const { scope, signal } = call
    const object = await scope.read(await targetOf(given, call), signal)
    const facts = await readFacts(await scope.client(), object, {
      manager: scope.manager(signal),
      nowMs: scope.clock.now(),
      signal,
    })
    return jsonOf(whyDocument(object, answersOf(facts, given.optional('question') as WhyQuestion | undefined)))
  },
}

const tree: Tool = {
  name: 'tree',
  title: 'Show dependents',
  about: 'Shows what an object owns, by owner references, with the state of each.',
  input: argument,
  required: ['kind', 'name'],
  output: { tree: field.object, notListed: field.objects },
  effect: reads,
  async run(given, call) {
    const { scope, signal } = call
    const root = await scope.read(await targetOf(given, call), signal)
    const { branch, unreadKinds } = await readTree(await scope.client(), root, { signal })
    return jsonOf({
      tree: scope.limit === undefined ? branch : within(branch),
      ...(unreadKinds.length > 0 && { notListed: unreadKinds }),
    })
  },
}

/** Without cluster-scoped dependents. */
function within(branch: Branch): Branch {
  return { ...branch, children: branch.children.filter(({ namespace }) => namespace !== undefined).map(within) }
}

const wait: Tool = {
  name: 'wait',
  title: 'Wait for a condition',
  about:
    'Waits until an object meets a condition, by watching it. When the time is over, met is false and missing says how the object is instead.',
  input: {
    ...argument,
    for: {
      type: 'string',
      description: 'condition=Ready, condition=Ready=False, jsonpath={.status.phase}=Running, create or delete',
    },
    timeoutSeconds: { type: 'integer', minimum: 0, maximum: 600, default: 30, description: 'How long; 0 looks once' },
  },
  required: ['kind', 'name', 'for'],
  output: { met: field.flag, missing: field.text, for: field.text },
  effect: reads,
  async run(given, call) {
    const goal = waitGoalOf(given.text('for'))
    const missing = await waitFor(await targetOf(given, call), goal, {
      call,
      timeoutMs: given.count('timeoutSeconds', 30) * 1000,
    })
    return { met: missing === undefined, for: given.text('for'), ...(missing !== undefined && { missing }) }
  },
}

/** What is missing when the time is over; undefined when the goal is met. @throws {Failure} `not-found` */
async function waitFor(
  target: ObjectTarget,
  goal: WaitGoal,
  { call, timeoutMs }: { readonly call: ToolCall; readonly timeoutMs: number },
): Promise<string | undefined> {
  const { scope, signal } = call
  const { resource, name, namespace } = target
  const over = new AbortController()
  const cancel = scope.clock.after(timeoutMs, () => {
    if (timeoutMs > 0) over.abort(new Error('the time is over'))
  })
  const changes = watchObjects(await scope.client(), resource, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.any([signal, over.signal]),
    clock: scope.clock,
  })
  let missing = 'the server has not answered yet'
  let uid: string | undefined
  try {
    for await (const change of changes) {
      const seen = change.type === 'LISTED' ? change.objects[0] : change.type === 'DELETED' ? undefined : change.object
      if (!seen && uid === undefined && goal.type !== 'create' && goal.type !== 'delete')
        throw await absence(target, call)
      // An object with the same name that follows a deleted one is another object.
      const object = seen && uid !== undefined && seen.metadata.uid !== uid && goal.type === 'delete' ? undefined : seen
      uid ??= seen?.metadata.uid
      const shown = object && (scope.shown(object) as unknown as KubeObject)
      if (goal.isMet(shown)) return undefined
      missing = goal.describe(shown)
      if (timeoutMs === 0) break
      call.progress(missing)
    }
  } catch (error) {
    if (!over.signal.aborted || signal.aborted) throw error
  } finally {
    cancel()
  }
  return missing
}

async function absence(
  { resource: { apiVersion, kind }, name, namespace }: ObjectTarget,
  call: ToolCall,
): Promise<Failure> {
  const { scope, signal } = call
  if (scope.limit !== undefined) return new Failure('not-found', `${kind.toLowerCase()}/${name} does not exist`)
  return notFound(await scope.client(), { object: { apiVersion, kind, name, namespace }, signal })
}

const rules: Tool = {
  name: 'rules',
  title: 'List broken rules',
  about:
    'Lists the golden rules that a running manager of this machine breaks: writes that overwrite others, missing permissions.',
  input: {},
  output: { findings: field.objects },
  effect: reads,
  async run(_, { scope, signal }) {
    // Findings name objects of every namespace.
    if (scope.limit !== undefined)
      throw new Failure('not-allowed', `this server is limited to namespace ${scope.limit}, and rules are about all`)
    const findings = await scope.rules(signal)
    if (!findings) throw noManager()
    return jsonOf({ findings })
  },
}

const failedReconciles: Tool = {
  name: 'failed_reconciles',
  title: 'List failed reconciles',
  about:
    'Lists the last reconciles of the managers of this machine that failed, newest first, with the error, its line in the program, and the causes.',
  input: { limit: { type: 'integer', minimum: 1, maximum: 200, default: 20, description: 'How many' } },
  output: { reconciles: field.objects },
  effect: reads,
  narrow: 'give a smaller limit',
  async run(given, { scope, signal }) {
    const report = await scope.manager(signal)
    if (!report) throw noManager()
    const failed = report.runs.filter(
      ({ end, key }) =>
        end?.error !== undefined && (scope.limit === undefined || parseKey(key).namespace === scope.limit),
    )
    return {
      reconciles: failed.slice(0, given.count('limit', 20)).map((run) => {
        const { kind, name, namespace } = parseKey(run.key)
        return jsonOf({
          controller: run.controller,
          object: { kind, name, namespace },
          startedAt: formatTime(run.startedMs),
          durationMs: Math.round(run.end?.durationMs ?? 0),
          attempt: run.attempt + 1,
          error: run.end?.error,
          at: run.end?.at,
          causes: causeLines(run),
        })
      }),
    }
  },
}

function noManager(): Failure {
  return new Failure('no-server', 'no manager is running in this directory', {
    hint: 'a person starts one with evenkeel up, or names one: evenkeel mcp --manager URL',
  })
}

/** Plain data as JSON: without fields that are undefined. */
function jsonOf(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

export const whyTools: readonly Tool[] = [describe, why, tree, wait, rules, failedReconciles]
