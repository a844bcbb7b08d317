/**
 * Rule 6, truth: a status describes what the program observed, for the generation it names, and lastTransitionTime changes
 * only with the status of its condition.
 * Rule `expectation`: what the scenario itself checks in every quiet state.
 */
import { isJsonObject, type JsonValue, type UnstructuredObject, stringifyJson } from '#api'
import type { HistoryEvent } from '../history.ts'
import { compareStates, type QuietState } from '../reference.ts'
import { describeDifference, describeObject, type Difference } from '../snapshot.ts'
import type { Rule, RuleContext } from './rule.ts'

export const truth: Rule = {
  code: 'truth',
  number: 6,
  says: 'a status describes what was observed, for the generation it names',
  watch: (world) => ({
    done() {
      const events = world.facts.eventsSince('truth')
      judgeTransitions(world, events)
      judgeFinalStatus(world, events)
    },
    between() {
      if (!world.isBroken) judgeGenerations(world)
      judgePredicate(world)
    },
    quiet({ isHealed }) {
      if (world.nonConvergence) return
      if (!world.isBroken || isHealed) judgeGenerations(world)
      if (world.isBroken && !isHealed) judgeClaims(world)
      judgePredicate(world)
    },
  }),
}

/** A condition whose status does not change keeps its lastTransitionTime. */
function judgeTransitions(world: RuleContext, events: readonly HistoryEvent[]): void {
  for (const { before, after, actor } of events) {
    if (!before || !after || !world.facts.isProcess(actor)) continue
    for (const [type, condition] of conditionsOf(after)) {
      const old = conditionsOf(before).get(type)
      if (
        !old ||
        old['status'] !== condition['status'] ||
        old['lastTransitionTime'] === condition['lastTransitionTime'] ||
        old['lastTransitionTime'] === undefined
      )
        continue
      world.addFinding({
        rule: 'truth',
        severity: 'error',
        about: describeObject(after),
        message: `lastTransitionTime of condition ${type} of ${describeObject(after)} changes although the status remains ${String(condition['status'])}`,
        hint: 'keep lastTransitionTime unless the status of the condition changes',
      })
    }
  }
}

/** An object in deletion does not become ready. */
function judgeFinalStatus(world: RuleContext, events: readonly HistoryEvent[]): void {
  for (const { before, after, actor } of events) {
    if (!before || after?.metadata.deletionTimestamp === undefined || !world.facts.isProcess(actor)) continue
    for (const type of ['Ready', 'Available']) {
      const [old, now] = [conditionsOf(before).get(type), conditionsOf(after).get(type)]
      if (now?.['status'] !== 'True' || stringifyJson(old) === stringifyJson(now)) continue
      world.addFinding({
        rule: 'truth',
        severity: 'error',
        about: describeObject(after),
        message: `${actor} writes ${type}=True to ${describeObject(after)}, which is being deleted`,
        hint: 'set the condition to False in the cleanup, or leave it unchanged',
      })
    }
  }
}

function judgeGenerations(world: RuleContext): void {
  for (const object of world.facts.state.parents) {
    const {
      status,
      metadata: { generation, deletionTimestamp },
    } = object
    if (!isJsonObject(status) || generation === undefined || deletionTimestamp !== undefined) continue
    const observed = status['observedGeneration']
    if (observed !== undefined && observed !== generation)
      reportGeneration(
        world,
        object,
        `status.observedGeneration is ${String(observed)}, the generation is ${generation}`,
      )
    for (const [type, condition] of conditionsOf(object)) {
      const seen = condition['observedGeneration']
      if (seen !== undefined && seen !== generation && typeof seen === 'number' && seen > generation)
        reportGeneration(world, object, `condition ${type} names generation ${seen}, which does not exist yet`)
    }
  }
}

function reportGeneration(world: RuleContext, object: UnstructuredObject, what: string): void {
  world.addFinding({
    rule: 'truth',
    severity: 'error',
    about: describeObject(object),
    message: `${describeObject(object)}: ${what}, and the program is quiet`,
    hint: 'copy observedGeneration from the object that this reconcile read',
  })
}

/** The program is down: the work that its status claims must be done, unless another client undid it unnoticed. */
function judgeClaims(world: RuleContext): void {
  const { reference } = world.options
  if (!world.facts.hasNoticedOthers) return
  const state = world.facts.quietState()
  const expected = reference?.matchingState(state)
  if (!reference || !expected) return
  const before = reference.at(expected.phase - 1)
  for (const [about, status] of state.statuses) {
    const claimed = expected.statuses.get(about)
    if (claimed === undefined || claimed !== status || status === 'null' || before?.statuses.get(about) === status)
      continue
    const differenceFrom = (one: QuietState): Difference | undefined =>
      compareStates(one, state, world.options).find(
        (difference) => state.statuses.size === 1 || concerns(difference, about, state.statuses),
      )
    // The process died before something was due.
    const isBeforeDue = reference
      .restsLike(state)
      .some((rest) => rest.statuses.get(about) === status && !differenceFrom(rest))
    const difference = isBeforeDue ? undefined : differenceFrom(expected)
    if (difference)
      world.addFinding({
        rule: 'truth',
        severity: 'error',
        about,
        message: `the status of ${about} claims that all work is done, but ${difference.about} is not as expected`,
        diff: describeDifference(difference),
        hint: 'write the status last, from what you observed',
      })
  }
}

/** Of several objects, a status is about the objects that have its name or contain it. */
function concerns(
  { about: what, expected, found }: Difference,
  about: string,
  all: ReadonlyMap<string, string>,
): boolean {
  if (all.has(what)) return what === about
  const name = about.slice(about.lastIndexOf('/') + 1).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`\\b${name}\\b`).test([what, ...expected, ...found].join(' '))
}

/** The scenario decides whether an object with Ready=True is ready. */
function judgePredicate(world: RuleContext): void {
  const { ready } = world.options.scenario
  if (!ready) return
  for (const object of world.facts.state.parents) {
    const condition = conditionsOf(object).get('Ready')
    const isCurrent =
      condition?.['observedGeneration'] === undefined || condition['observedGeneration'] === object.metadata.generation
    if (condition?.['status'] !== 'True' || !isCurrent || ready(object, world.facts.truth())) continue
    world.addFinding({
      rule: 'truth',
      severity: 'error',
      about: describeObject(object),
      message: `${describeObject(object)} has Ready=True and is not ready`,
      hint: 'set Ready=True only for what this reconcile observed',
    })
  }
}

function conditionsOf({ status }: UnstructuredObject): Map<string, Readonly<Record<string, JsonValue | undefined>>> {
  const conditions = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : []
  return new Map(conditions.filter(isJsonObject).map((condition) => [String(condition['type']), condition]))
}

export const expectation: Rule = {
  code: 'expectation',
  says: 'in every quiet state the expectation of the scenario holds',
  watch: (world) => ({
    quiet({ isHealed }) {
      if (world.nonConvergence || (world.isBroken && !isHealed)) return
      const wrong = world.options.scenario.expects?.(world.facts.truth())
      if (wrong !== undefined)
        world.addFinding({ rule: 'expectation', severity: 'error', about: 'the world', message: wrong })
    },
  }),
}
