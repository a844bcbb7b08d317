/**
 * Rule 2: idempotent. When everything is as it should be, looking again changes nothing, here or outside.
 *
 * What changes at the first extra look and never again was not done before: a change was missed, which is rule 1.
 */
import { compareSnapshots, type Snapshot } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

/** What happens later than this is not because of the look. */
const soonMs = 1000

export const idempotence: Rule = {
  code: 'idempotent',
  number: 2,
  says: 'doing it again changes nothing',
  watch: (world) => ({
    async probe() {
      const first = await lookAgain(world)
      if (first.length === 0) return
      const second = await lookAgain(world)
      for (const about of second) reportRepeatedChange(world, about)
      if (second.length === 0) for (const about of first) reportMissedChange(world, about)
    },
  }),
}

/** Makes every controller look at everything. @returns what was changed by that */
async function lookAgain(world: World): Promise<readonly string[]> {
  // A program that has ended has been told of.
  if (world.ends.length > 0) return []
  const [happened, outside, points, startMs] = [
    world.history.events.length,
    world.facts.quietState().outside,
    world.interactions.length,
    world.clock.monotonic(),
  ]
  for (const controller of world.processes.findLast(({ isDead }) => !isDead)?.manager?.controllers ?? [])
    controller.reconcileAll({ note: 'again' })
  if (!(await world.runUntilQuiet())) return []
  judgeRepeats(world, points)
  const changed = new Set(compareSnapshots(outside, world.facts.quietState().outside).map(({ about }) => about))
  for (const { actor, after, before, resource, atMs } of world.history.events.slice(happened)) {
    if (!world.facts.isProcess(actor) || resource === 'events' || resource === 'leases' || atMs - startMs > soonMs)
      continue
    const object = after ?? before
    if (object) changed.add(`${object.kind} ${object.metadata.name ?? ''}`)
  }
  return [...changed]
}

/** The same call that creates something, made again for the same thing, is a twin waiting to happen. */
function judgeRepeats(world: World, from: number): void {
  for (const { call, outcome } of world.interactions.slice(from)) {
    if (call && outcome.startsWith('failed'))
      world.addFinding({
        rule: 'idempotent',
        severity: 'warning',
        about: `${call.service}.${call.method}`,
        message: `${call.service}.${call.method} is called again although nothing changed, and fails: ${outcome}`,
        hint: 'look whether it is there before you make it',
      })
  }
}

function reportRepeatedChange(world: World, about: string): void {
  world.addFinding({
    rule: 'idempotent',
    severity: 'error',
    about,
    message: `${about} is changed again although nothing else has changed`,
    hint: 'compare with what is there and write only what differs',
  })
}

function reportMissedChange(world: World, about: string): void {
  world.addFinding({
    rule: 'state',
    severity: 'error',
    about,
    message: `${about} is changed by looking once more: what it follows from had changed before, and nobody looked`,
    hint: 'watch everything that a reconcile reads, and map it to the right keys',
  })
}

/*
 * Looks: what is called to look changes nothing. A get that does something is done by every retry, cache and curious person.
 */

export const readOnlyCalls: Rule = {
  code: 'look',
  says: 'what only looks changes nothing',
  watch(world) {
    let before: Snapshot | undefined
    return {
      quiet() {
        before ??= world.facts.outside()
      },
      done({ call, type }) {
        if (!call || world.options.reference) return
        const now = world.facts.outside()
        if (type === 'look' && before)
          for (const { about } of compareSnapshots(before, now))
            world.addFinding({
              rule: 'look',
              severity: 'error',
              about: `${call.service}.${call.method}`,
              message: `${call.service}.${call.method} says that it only looks, and changes ${about}`,
              hint: 'give what changes something a name and a method that say so, and permissions of its own',
            })
        before = now
      },
    }
  },
}
