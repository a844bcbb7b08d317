/**
 * Rule 2: idempotent. When everything is as it should be, looking again changes nothing, here or outside.
 */
import { compareSnapshots } from '../../state/compare.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'

export const again: Rule = {
  code: 'idempotent', number: 2,
  says: 'doing it again changes nothing',
  watch: (world) => ({
    async probe() {
      const [happened, outside, points] = [world.chronicle.happenings.length, world.facts.rest().outside, world.points.length]
      // A program that has ended has been told of.
      if (world.ends.length > 0) return
      for (const controller of world.lives.findLast(({ isDead }) => !isDead)?.manager?.controllers ?? []) controller.reconcileAll({ note: 'again' })
      if (!await world.settleDown()) return
      judgeWrites(world, happened)
      for (const { about } of compareSnapshots(outside, world.facts.rest().outside)) tell(world, about)
      judgeRepeats(world, points)
    },
  }),
}

function judgeWrites(world: World, from: number): void {
  for (const { actor, after, before, resource } of world.chronicle.happenings.slice(from)) {
    if (!world.facts.isLife(actor) || resource === 'events' || resource === 'leases') continue
    const object = after ?? before
    if (object) tell(world, `${object.kind} ${object.metadata.name ?? ''}`)
  }
}

/** The same call that creates something, made again for the same thing, is a twin waiting to happen. */
function judgeRepeats(world: World, from: number): void {
  for (const { call, outcome } of world.points.slice(from)) {
    if (call && outcome.startsWith('failed')) world.find({ rule: 'idempotent', severity: 'warning', about: `${call.service}.${call.method}`, message: `${call.service}.${call.method} is called again although nothing changed, and fails: ${outcome}`, hint: 'look whether it is there before you make it' })
  }
}

function tell(world: World, about: string): void {
  world.find({ rule: 'idempotent', severity: 'error', about, message: `${about} is changed again although nothing else has changed`, hint: 'compare with what is there and write only what differs' })
}
