/**
 * Rule 5: finalizers. Each takes off its own and nobody else's, and an object that is being deleted goes in the end.
 */
import { describeObject } from '../../state/normalize.ts'
import { foreignFinalizer } from '../../world/deeds.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'

export const finalizers: Rule = {
  code: 'cleanup',
  number: 5,
  says: 'clean up what you made, take off only your own finalizer, and always get done',
  watch: (world) => ({
    done() {
      judgeRemovals(world)
    },
    quiet({ isHealed, isLast }) {
      if (isHealed && isLast) judgeStuck(world)
    },
  }),
}

function judgeRemovals(world: World): void {
  for (const { actor, before, after, resource } of world.facts.eventsSince('finalizers')) {
    if (!before || !world.facts.isProcess(actor) || resource === 'customresourcedefinitions') continue
    const left = new Set(after?.metadata.finalizers)
    for (const name of before.metadata.finalizers ?? []) {
      if (left.has(name) || world.facts.addedBy(before, name) !== 'somebody') continue
      world.addFinding({
        rule: 'cleanup',
        severity: 'error',
        about: describeObject(before),
        message: `the finalizer ${name} of ${describeObject(before)} belongs to somebody else and was taken off`,
        hint: 'remove your own finalizer from the list and send the rest back as it was',
      })
    }
  }
}

function judgeStuck(world: World): void {
  for (const object of world.facts.objects) {
    const { deletionTimestamp, finalizers: names = [] } = object.metadata
    // Somebody else may hold it still.
    if (names.includes(foreignFinalizer)) continue
    if (
      deletionTimestamp === undefined ||
      !(world.facts.state.isReconciled(object) || world.facts.state.isOwned(object))
    )
      continue
    world.addFinding({
      rule: 'cleanup',
      severity: 'error',
      about: describeObject(object),
      message: `${describeObject(object)} is being deleted and never goes: ${names.join(', ')} stays on it`,
      hint: 'a cleanup must succeed when there is nothing (left) to clean up',
    })
  }
}
