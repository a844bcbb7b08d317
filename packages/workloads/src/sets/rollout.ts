/**
 * The next step of a ProcessSet: which Processes to make, to bring to the new revision, and to remove. Nothing here acts.
 *
 * Names are stable: NAME-0 to NAME-(n-1), so that logs, ports and run numbers belong to a place that stays. During a roll there is one
 * more, the spare NAME-n: it is made first, with the new revision. When it is ready, one Process after the other gets the new template
 * in its place, and starts again, while the spare stands in for it. When all are ready the spare is removed.
 *
 * Worked example, three replicas, o an old one, N a new one that is ready, n a new one that is not:
 *
 *   0 1 2 spare    ready
 *   o o o          3      the template changes
 *   o o o n        3      the spare is made
 *   o o o N        4
 *   o o n N        3      2 starts again; the next one waits for it
 *   o o N N        4
 *   o n N N  …     3      then 1, then 0
 *   N N N N        4      all are new: the spare is removed
 *   N N N          3
 *
 * Invariants: a ready Process is updated or, as the spare, removed only when as many others are ready as are wanted; at most one
 * Process more than wanted exists; none is updated while a new one is not ready, so a template that does not work stops at the spare.
 */

/** A Process of the set. */
export interface Member {
  readonly index: number
  readonly revision: string
  /** Ready as it is specified now, without a restart to come. */
  readonly isReady: boolean
  readonly isDeleting: boolean
}

interface RolloutState {
  readonly replicas: number
  readonly partition: number
  readonly isPaused: boolean
  readonly updateRevision: string
  readonly members: readonly Member[]
}

interface RolloutStep {
  /** Indexes without a Process. */
  readonly create: readonly number[]
  /** The one that gets the new revision now. */
  readonly update: number | undefined
  readonly remove: readonly number[]
  /** Processes are still to be updated. */
  readonly isRolling: boolean
}

export function nextRollout(state: RolloutState): RolloutStep {
  const { replicas, partition, isPaused, updateRevision, members } = state
  const byIndex = new Map(members.map((member) => [member.index, member]))
  const outdated = members.filter(
    ({ index, revision }) => index < replicas && index >= partition && revision !== updateRevision,
  )
  const isRolling = outdated.length > 0 && !isPaused
  const spare = byIndex.get(replicas)
  const create = numbersTo(replicas).filter((index) => !byIndex.has(index))
  const surplus = members.filter(({ index }) => index > replicas)
  if (isRolling && !spare && surplus.length === 0) create.push(replicas)
  const canLeave = spare !== undefined && !isRolling && isSafe(spare, state)
  const leaving = [...surplus, ...(canLeave ? [spare] : [])].filter(({ isDeleting }) => !isDeleting)
  return {
    create,
    update: isRolling ? nextUpdate([...outdated, ...(spare ? [spare] : [])], state) : undefined,
    remove: leaving.map(({ index }) => index),
    isRolling,
  }
}

/** Those that are not ready first: that costs nothing. Then the highest number. */
function nextUpdate(candidates: readonly Member[], state: RolloutState): number | undefined {
  const { updateRevision, members } = state
  if (members.some(({ revision, isReady }) => revision === updateRevision && !isReady)) return undefined
  return candidates
    .filter(({ revision, isDeleting }) => revision !== updateRevision && !isDeleting)
    .toSorted((a, b) => Number(a.isReady) - Number(b.isReady) || b.index - a.index)
    .find((member) => isSafe(member, state))?.index
}

/** Whether enough others are ready, or it is not ready itself. */
function isSafe(member: Member, { members, replicas }: RolloutState): boolean {
  const others = members.filter(({ index, isReady }) => isReady && index !== member.index)
  return !member.isReady || others.length >= replicas
}

function numbersTo(end: number): number[] {
  return Array.from({ length: end }, (_, index) => index)
}
