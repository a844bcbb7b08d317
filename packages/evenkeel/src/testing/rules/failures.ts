/**
 * Rule 8, expect failure: the program keeps running, handles every rejection, and retries failures with a back-off.
 *
 * Also reports hot loops: programs that never become quiet.
 */
import { stringifyJson } from '#api'
import { placeOf } from '#base'
import type { Rule, RuleContext } from './rule.ts'

export const failures: Rule = {
  code: 'failure',
  number: 8,
  says: 'every call can fail: keep running, retry with a back-off, and finish in the end',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast) return
      for (const { process: name, error } of world.exits) {
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: 'the program',
          message: `process ${name} exits: ${textOf(error)}`,
          hint: 'the failure of one object must not end the process',
        })
      }
      for (const { error } of world.unhandledRejections) {
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: 'a promise',
          message: `unhandled rejection: ${textOf(error)}`,
          hint: 'await every promise: Node ends the process for this',
        })
      }
      reportHotLoops(world)
      if (world.nonConvergence) reportNonConvergence(world)
      judgeDesired(world)
    },
  }),
}

/** The fields of the warning that the controller logs for a hot loop. */
interface HotLoopFields {
  readonly rounds?: number
  readonly delayMs?: number
  readonly fields?: readonly string[]
}

/** The runtime detects reconciles that trigger themselves and slows them down. */
function reportHotLoops(world: RuleContext): void {
  for (const { record } of world.logs) {
    const { rounds, delayMs, fields = [] } = record.fields as HotLoopFields
    if (rounds === undefined || delayMs === undefined) continue
    world.addFinding({
      rule: 'hot-loop',
      severity: 'error',
      about: 'reconcile',
      message: `a reconcile keeps triggering itself: it writes a different value each time${fields.length > 0 ? ` (${fields.join(', ')})` : ''}`,
      hint: 'write only when a value differs, and ignore your own writes',
    })
  }
}

/** Older log records do not explain why the world is not quiet. */
const logsMax = 50

/** A spec that the schema allows causes a TypeError or ReferenceError. */
function judgeDesired(world: RuleContext): void {
  if (!world.options.deviations.some(({ action }) => action.type === 'amend')) return
  for (const { record } of world.logs) {
    const { error } = record.fields as { error?: unknown }
    if (record.message !== 'reconcile failed' || !(error instanceof TypeError || error instanceof ReferenceError))
      continue
    world.addFinding({
      rule: 'failure',
      severity: 'error',
      about: 'reconcile',
      message: `a spec that the schema allows breaks the reconcile: ${textOf(error)}`,
      hint: 'an optional field may be absent, and a list may be empty: restrict in the schema what you do not support',
    })
    return
  }
}

function reportNonConvergence(world: RuleContext): void {
  const { nonConvergence } = world
  if (!nonConvergence) return
  const failed = world.logs
    .slice(-logsMax)
    .filter(({ record }) => record.message === 'reconcile failed')
    .at(-1)
  const minutes = Math.round(nonConvergence.virtualMs / 60_000)
  // An object of another client has the name of a child: failing until it is gone is correct.
  if (
    failed &&
    world.options.deviations.some(
      ({ action }) => action.type === 'recreate' && !world.facts.state.isReconciled(action.object),
    )
  )
    return
  // Leaving a field to another client that owns it is correct too.
  if (
    failed &&
    world.options.deviations.some(({ action }) => action.type === 'drift') &&
    (failed.record.fields as { error?: { reason?: unknown } }).error?.reason === 'Conflict'
  )
    return
  if (failed) {
    const { error } = failed.record.fields as { error?: unknown }
    world.addFinding({
      rule: 'failure',
      severity: 'error',
      about: 'reconcile',
      message: `a reconcile keeps failing for ${minutes} minutes without a new fault: ${textOf(error)}`,
      hint: 'accept what already exists: an earlier reconcile may have created it',
    })
    return
  }
  if (nonConvergence.why === 'turns') {
    world.addFinding({
      rule: 'hot-loop',
      severity: 'error',
      about: 'reconcile',
      message: `the program never becomes quiet: a reconcile runs many times a second and writes nothing`,
      hint: 'watch what you wait for; requeue after seconds, not milliseconds',
    })
    return
  }
  const busiest = busiestOf(world)
  world.addFinding({
    rule: 'hot-loop',
    severity: 'error',
    about: busiest,
    message: `the program never becomes quiet: after ${nonConvergence.steps} steps and ${minutes} simulated minutes it still sends ${busiest}`,
    hint: 'write only when a value differs, and ignore your own writes',
  })
}

function busiestOf(world: RuleContext): string {
  const counts = new Map<string, number>()
  for (const { about, type } of world.interactions.slice(-200))
    if (type === 'effect') counts.set(about, (counts.get(about) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'nothing'
}

/** The message of an error, with the line of the program that threw it. */
function textOf(error: unknown): string {
  const at = placeOf(error)
  return error instanceof Error
    ? `${error.message}${at === undefined ? '' : ` (${at})`}`
    : typeof error === 'string'
      ? error
      : (stringifyJson(error) ?? String(error))
}
