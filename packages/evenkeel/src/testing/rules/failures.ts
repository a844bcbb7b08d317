/**
 * Rule 8: expect failure. A program does not end, a promise is not left alone, and what fails is tried again with care.
 */
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

export const failures: Rule = {
  code: 'failure',
  number: 8,
  says: 'every call can fail: stay alive, try again with care, get done in the end',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast) return
      for (const { life, error } of world.ends) {
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: 'the program',
          message: `the program ended by itself in life ${life}: ${textOf(error)}`,
          hint: 'what goes wrong for one object must not end the others',
        })
      }
      for (const { error } of world.unhandled) {
        world.addFinding({
          rule: 'failure',
          severity: 'error',
          about: 'a promise',
          message: `a promise was rejected and nobody listened: ${textOf(error)}`,
          hint: 'await every promise: Node ends a process for this',
        })
      }
      reportHotLoops(world)
      if (world.nonConvergence) reportNonConvergence(world)
      judgeDesired(world)
    },
  }),
}

/** The runtime itself notices keys that cause themselves, and slows them down. */
function reportHotLoops(world: World): void {
  for (const { record } of world.logs) {
    if (!record.message.startsWith('a reconcile keeps causing itself')) continue
    const { fields = [] } = record.fields as { fields?: readonly string[] }
    world.addFinding({
      rule: 'hot-loop',
      severity: 'error',
      about: 'reconcile',
      message: `a reconcile keeps causing itself: it writes something different each time${fields.length > 0 ? ` (${fields.join(', ')})` : ''}`,
      hint: 'write only when something differs, and never because of your own write',
    })
  }
}

/** A failure longer ago than that is not why there is no rest. */
const logsMax = 50

/** Somebody asked for something that the schema allows, and the code was not made for it. */
function judgeDesired(world: World): void {
  if (!world.options.deviations.some(({ deed }) => deed.type === 'amend')) return
  for (const { record } of world.logs) {
    const { error } = record.fields as { error?: unknown }
    if (record.message !== 'reconcile failed' || !(error instanceof TypeError || error instanceof ReferenceError))
      continue
    world.addFinding({
      rule: 'failure',
      severity: 'error',
      about: 'reconcile',
      message: `a spec that the schema allows breaks the reconcile: ${error.message}`,
      hint: 'what is optional may be absent, and what may be empty will be: say in the schema what you cannot do',
    })
    return
  }
}

function reportNonConvergence(world: World): void {
  const { nonConvergence } = world
  if (!nonConvergence) return
  const failed = world.logs
    .slice(-logsMax)
    .filter(({ record }) => record.message === 'reconcile failed')
    .at(-1)
  const minutes = Math.round(nonConvergence.virtualMs / 60_000)
  // Somebody else's object has a child's name: to fail until it is gone is an answer.
  if (
    failed &&
    world.options.deviations.some(
      ({ deed }) => deed.type === 'recreate' && !world.facts.state.isReconciled(deed.object),
    )
  )
    return
  // Nor is it a mistake to leave a field to somebody else who has taken it.
  if (
    failed &&
    world.options.deviations.some(({ deed }) => deed.type === 'drift') &&
    (failed.record.fields as { error?: { reason?: unknown } }).error?.reason === 'Conflict'
  )
    return
  if (failed) {
    const { error } = failed.record.fields as { error?: unknown }
    world.addFinding({
      rule: 'failure',
      severity: 'error',
      about: 'reconcile',
      message: `a reconcile keeps failing, ${minutes} minutes after everything was well: ${textOf(error)}`,
      hint: 'take what is there for granted: it may be your own work of an earlier run',
    })
    return
  }
  if (nonConvergence.why === 'turns') {
    world.addFinding({
      rule: 'hot-loop',
      severity: 'error',
      about: 'reconcile',
      message: `there is no rest: a reconcile looks again and again, many times a second, and nothing is written`,
      hint: 'watch what you wait for; look again by yourself only after seconds, not milliseconds',
    })
    return
  }
  const busiest = busiestOf(world)
  world.addFinding({
    rule: 'hot-loop',
    severity: 'error',
    about: busiest,
    message: `there is no rest: after ${nonConvergence.steps} steps and ${minutes} virtual minutes ${busiest} is still being written`,
    hint: 'write only when something differs, and never because of your own write',
  })
}

function busiestOf(world: World): string {
  const counts = new Map<string, number>()
  for (const { about, type } of world.interactions.slice(-200))
    if (type === 'effect') counts.set(about, (counts.get(about) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'nothing'
}

function textOf(error: unknown): string {
  return error instanceof Error
    ? error.message
    : typeof error === 'string'
      ? error
      : (JSON.stringify(error) ?? String(error))
}
