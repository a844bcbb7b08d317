/**
 * Churn: what cannot be made again is not destroyed while somebody wants it.
 *
 * A child without a state of its own may be deleted and made again because a cache was behind. A volume or a thing in
 * a service outside is empty afterwards, and in the end everything looks as if nothing had happened.
 */
import { describeObject, type Snapshot } from '../snapshot.ts'
import type { World } from '../world.ts'
import { keepsDesiredState } from './attribution.ts'
import type { Rule } from './rule.ts'

/** Kinds whose objects hold what is nowhere else. */
const statefulKinds: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeSnapshot',
  'Namespace',
  'CustomResourceDefinition',
])

/** Whether something under this name (`PersistentVolumeClaim default/a`) cannot be made again as it was. */
export function keepsState(about: string): boolean {
  return statefulKinds.has(about.split(' ', 1)[0] ?? '')
}

export const churn: Rule = {
  code: 'churn',
  says: 'what cannot be made again is not destroyed while somebody wants it',
  watch(world) {
    let outside: Snapshot = new Map()
    return {
      done({ call, type, process: life }) {
        const gone = world.facts
          .eventsSince('churn')
          .flatMap(({ actor, before, after }) =>
            before && isGoing(before, after) && statefulKinds.has(before.kind) && world.facts.isProcess(actor)
              ? [describeObject(before)]
              : [],
          )
        if (call && type === 'effect') {
          const now = world.facts.outside()
          for (const [about, values] of outside) if ((now.get(about) ?? []).length < values.length) gone.push(about)
          outside = now
        }
        for (const about of gone) judgeLoss(world, about, life.name)
      },
    }
  },
}

function isGoing(
  before: { metadata: { deletionTimestamp?: string } },
  after: { metadata: { deletionTimestamp?: string } } | undefined,
): boolean {
  return (
    before.metadata.deletionTimestamp === undefined &&
    (after === undefined || after.metadata.deletionTimestamp !== undefined)
  )
}

function judgeLoss(world: World, about: string, who: string): void {
  const {
    options: { reference, deviations },
    facts,
  } = world
  const what = `${facts.phase} ${about}`
  facts.destroyed.add(what)
  if (!reference || reference.destroys(what) || !deviations.every(({ deed }) => keepsDesiredState(deed))) return
  const isWanted = reference
    .matchingStates(facts.quietState())
    .some(({ objects, outside }) => objects.has(about) || outside.has(about))
  if (isWanted)
    world.addFinding({
      rule: 'churn',
      severity: 'error',
      about,
      message: `${who} destroys ${about} although it is wanted: whatever was in it is lost, even if it is made again`,
      hint: 'before you destroy something, read the object that wants it from the server, not from a cache',
    })
}
