/**
 * Rule 6: truth. A status says what was seen, for the generation it names, and a time of transition moves only with one.
 */
import { isJsonObject, type JsonValue, type UnstructuredObject } from '#api'
import type { HistoryEvent } from '../history.ts'
import { compareSnapshots, describeDifference, describeObject, type Difference } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

export const truth: Rule = {
  code: 'truth',
  number: 6,
  says: 'a status says what was seen, for the generation it names',
  watch: (world) => ({
    done() {
      const news = world.facts.eventsSince('truth')
      judgeTransitions(world, news)
      judgeFinalStatus(world, news)
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

/** A condition whose status stays keeps its time. */
function judgeTransitions(world: World, news: readonly HistoryEvent[]): void {
  for (const { before, after, actor } of news) {
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
        message: `lastTransitionTime of the condition ${type} of ${describeObject(after)} moves although its status stays ${String(condition['status'])}`,
        hint: 'keep the old time unless the status of the condition changes',
      })
    }
  }
}

/** What is being deleted is not ready, and nobody says so anew. */
function judgeFinalStatus(world: World, news: readonly HistoryEvent[]): void {
  for (const { before, after, actor } of news) {
    if (!before || after?.metadata.deletionTimestamp === undefined || !world.facts.isProcess(actor)) continue
    for (const type of ['Ready', 'Available']) {
      const [old, now] = [conditionsOf(before).get(type), conditionsOf(after).get(type)]
      if (now?.['status'] !== 'True' || JSON.stringify(old) === JSON.stringify(now)) continue
      world.addFinding({
        rule: 'truth',
        severity: 'error',
        about: describeObject(after),
        message: `${describeObject(after)} is being deleted, and ${actor} writes that it is ${type}`,
        hint: 'say in the cleanup that it is not ready any more, or say nothing',
      })
    }
  }
}

function judgeGenerations(world: World): void {
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
        reportGeneration(world, object, `the condition ${type} speaks of generation ${seen}, which does not exist yet`)
    }
  }
}

function reportGeneration(world: World, object: UnstructuredObject, what: string): void {
  world.addFinding({
    rule: 'truth',
    severity: 'error',
    about: describeObject(object),
    message: `${describeObject(object)}: ${what}, and nothing more happens`,
    hint: 'write observedGeneration from the object that this run has read',
  })
}

/** The program is down: what its status says it has done must be done. */
function judgeClaims(world: World): void {
  const { reference } = world.options
  const rest = world.facts.quietState()
  const expected = reference?.matchingState(rest)
  if (!reference || !expected) return
  const before = reference.at(expected.phase - 1)
  for (const [about, status] of rest.statuses) {
    const claimed = expected.statuses.get(about)
    if (claimed === undefined || claimed !== status || status === 'null' || before?.statuses.get(about) === status)
      continue
    const difference = [
      ...compareSnapshots(expected.objects, rest.objects, reference.randomPaths),
      ...compareSnapshots(expected.outside, rest.outside, reference.randomPaths),
    ].find((one) => rest.statuses.size === 1 || concerns(one, about, rest.statuses))
    if (difference)
      world.addFinding({
        rule: 'truth',
        severity: 'error',
        about,
        message: `the status of ${about} says that everything is done, and ${difference.about} is not as it should be`,
        diff: describeDifference(difference),
        hint: 'write the status last, from what you saw',
      })
  }
}

/** Of several objects each speaks for itself: for what has its name, or names it. */
function concerns(
  { about: what, expected, found }: Difference,
  about: string,
  all: ReadonlyMap<string, string>,
): boolean {
  if (all.has(what)) return what === about
  const name = about.slice(about.lastIndexOf('/') + 1).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`\\b${name}\\b`).test([what, ...expected, ...found].join(' '))
}

/** The scenario knows when an object that says it is ready is ready. */
function judgePredicate(world: World): void {
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
      message: `${describeObject(object)} says that it is ready, and it is not`,
      hint: 'say ready only of what this run has seen to be so',
    })
  }
}

function conditionsOf({ status }: UnstructuredObject): Map<string, Readonly<Record<string, JsonValue | undefined>>> {
  const conditions = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : []
  return new Map(conditions.filter(isJsonObject).map((condition) => [String(condition['type']), condition]))
}

/*
 * What the scenario itself expects whenever everything has come to rest.
 */

export const expectation: Rule = {
  code: 'expectation',
  says: 'whatever goes wrong, in the end it is as the scenario expects',
  watch: (world) => ({
    quiet({ isHealed }) {
      if (world.nonConvergence || (world.isBroken && !isHealed)) return
      const wrong = world.options.scenario.expects?.(world.facts.truth())
      if (wrong !== undefined)
        world.addFinding({ rule: 'expectation', severity: 'error', about: 'the world', message: wrong })
    },
  }),
}
