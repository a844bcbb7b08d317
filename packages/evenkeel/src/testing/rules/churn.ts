/**
 * Churn: the program does not destroy a stateful object or external resource that is still wanted.
 *
 * A stateless child may be deleted and created again because a cache was stale. A volume or an external resource is empty
 * afterwards, although the final state looks correct.
 */
import { describeObject, type Snapshot } from '../snapshot.ts'
import { keepsDesiredState } from './attribution.ts'
import type { Rule, RuleContext } from './rule.ts'

/** Kinds whose objects hold data. */
const statefulKinds: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeSnapshot',
  'Namespace',
  'CustomResourceDefinition',
])

/** Whether the object (`PersistentVolumeClaim default/a`) loses data when it is deleted. */
export function keepsState(about: string): boolean {
  return statefulKinds.has(about.split(' ', 1)[0] ?? '')
}

export const churn: Rule = {
  code: 'churn',
  says: 'destroy no data that is still wanted',
  watch(world) {
    let external: Snapshot = new Map()
    return {
      done({ call, type, process: proc }) {
        const gone = world.facts
          .eventsSince('churn')
          .flatMap(({ actor, before, after }) =>
            before && isGoing(before, after) && statefulKinds.has(before.kind) && world.facts.isProcess(actor)
              ? [world.facts.nameOf(describeObject(before), 'objects')]
              : [],
          )
        if (call && type === 'effect') {
          const now = world.facts.external()
          for (const [about, values] of external)
            if ((now.get(about) ?? []).length < values.length) gone.push(world.facts.nameOf(about, 'external'))
          external = now
        }
        for (const about of gone) judgeLoss(world, about, proc.name)
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

function judgeLoss(world: RuleContext, about: string, who: string): void {
  const {
    options: { reference, deviations },
    facts,
  } = world
  const what = `${facts.phase} ${about}`
  facts.destroyed.add(what)
  if (!reference || reference.destroys(what) || !deviations.every(({ action }) => keepsDesiredState(action))) return
  const isWanted = reference
    .matchingStates(facts.quietState())
    .some(({ objects, external }) => objects.has(about) || external.has(about))
  if (isWanted)
    world.addFinding({
      rule: 'churn',
      severity: 'error',
      about,
      message: `${who} destroys ${about} although it is still wanted: its data is lost, even if it is created again`,
      hint: 'before you destroy it, read the object that needs it from the server, not from a cache',
    })
}
