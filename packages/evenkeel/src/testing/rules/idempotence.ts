/**
 * Rule 2, idempotent: in a converged world another reconcile changes nothing, in the API or in external services.
 * Rule `look`: an external method that is named like a read changes nothing.
 *
 * A change at the first extra reconcile that does not repeat at the second was due before: the program missed a change,
 * which is rule 1.
 */
import { compareSnapshots, type Snapshot } from '../snapshot.ts'
import type { Rule, RuleContext } from './rule.ts'

/** More than a second: a status with the current time differs. */
const betweenMs = 1100

/** A later write does not come from the extra reconcile. */
const soonMs = 1000

export const idempotence: Rule = {
  code: 'idempotent',
  number: 2,
  says: 'a second reconcile changes nothing',
  watch: (world) => ({
    async probe() {
      const forget = [world.farTimers.passUnnoticed(betweenMs, world)]
      const first = await reconcileAgain(world)
      if (first.length > 0) forget.push(world.farTimers.passUnnoticed(betweenMs, world))
      const second = first.length > 0 ? await reconcileAgain(world) : []
      for (const turnBack of forget) turnBack()
      if (first.length === 0) return
      for (const about of second) reportRepeatedChange(world, about)
      if (second.length === 0) for (const about of first) reportMissedChange(world, about)
    },
  }),
}

/** Makes every controller reconcile all its objects. @returns what changed */
async function reconcileAgain(world: RuleContext): Promise<readonly string[]> {
  // A program that exited is reported by rule 8.
  if (world.exits.length > 0) return []
  const [eventCount, external, interactionCount, startMs] = [
    world.history.events.length,
    world.facts.quietState().external,
    world.interactions.length,
    world.clock.monotonic(),
  ]
  for (const controller of world.processes.findLast(({ isDead }) => !isDead)?.manager?.controllers ?? [])
    controller.reconcileAll({ note: 'again' })
  if (!(await world.runUntilQuiet())) return []
  judgeRepeats(world, interactionCount)
  const changed = new Set(compareSnapshots(external, world.facts.quietState().external).map(({ about }) => about))
  for (const { actor, after, before, resource, atMs } of world.history.events.slice(eventCount)) {
    if (!world.facts.isProcess(actor) || resource === 'events' || resource === 'leases' || atMs - startMs > soonMs)
      continue
    const object = after ?? before
    if (object) changed.add(`${object.kind} ${object.metadata.name ?? ''}`)
  }
  return [...changed]
}

/** A repeated call that fails would create a duplicate in a service that allows it. */
function judgeRepeats(world: RuleContext, from: number): void {
  for (const { call, outcome } of world.interactions.slice(from)) {
    if (call && outcome.startsWith('failed'))
      world.addFinding({
        rule: 'idempotent',
        severity: 'warning',
        about: `${call.service}.${call.method}`,
        message: `${call.service}.${call.method} is called again although nothing changed, and the call ${outcome}`,
        hint: 'check whether it exists before you create it',
      })
  }
}

function reportRepeatedChange(world: RuleContext, about: string): void {
  world.addFinding({
    rule: 'idempotent',
    severity: 'error',
    about,
    message: `a second reconcile changes ${about} again although nothing else changed`,
    hint: 'compare with the stored state and write only what differs',
  })
}

function reportMissedChange(world: RuleContext, about: string): void {
  world.addFinding({
    rule: 'state',
    severity: 'error',
    about,
    message: `an extra reconcile changes ${about}: an earlier change of its input triggered no reconcile`,
    hint: 'watch everything that a reconcile reads, and map its events to the right keys',
  })
}

/** Retries, caches and people call a read at any time, so a read with an effect repeats that effect. */
export const readOnlyCalls: Rule = {
  code: 'look',
  says: 'a read changes nothing',
  watch(world) {
    let before: Snapshot | undefined
    return {
      quiet() {
        before ??= world.facts.external()
      },
      done({ call, type }) {
        if (!call || world.options.reference) return
        const now = world.facts.external()
        if (type === 'read' && before)
          for (const { about } of compareSnapshots(before, now))
            world.addFinding({
              rule: 'look',
              severity: 'error',
              about: `${call.service}.${call.method}`,
              message: `${call.service}.${call.method} is named like a read and changes ${about}`,
              hint: 'rename a method that changes something, and give it its own permissions',
            })
        before = now
      },
    }
  },
}
