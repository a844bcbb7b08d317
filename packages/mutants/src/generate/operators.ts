/**
 * The mutation operators: each makes one kind of mistake at every place of a right controller where it fits.
 *
 * `changes: 'wish'` marks operators that mostly change *what* is wanted, at every run in the same way: a field that is
 * left out, a constant. Without an expectation such a program is another right program, so they are counted apart.
 */
import * as checks from './checks.ts'
import * as effects from './effects.ts'
import * as identities from './identities.ts'
import type { Mutation, Source } from './source.ts'
import * as values from './values.ts'

export interface Operator {
  readonly name: string
  /** The mistake in one line. */
  readonly mistake: string
  readonly changes: 'way' | 'wish'
  readonly apply: (source: Source) => readonly Mutation[]
}

type Row = readonly [name: string, mistake: string, apply: Operator['apply']]

const ways: readonly Row[] = [
  ['drop-write', 'a write is left out', effects.dropWrite],
  ['drop-await', 'an await is missing', effects.dropAwait],
  ['reorder', 'two steps in the other order', effects.reorder],
  ['swallow-error', 'an error of a write is ignored', effects.swallowError],
  ['swallow-others', 'every error is taken for the expected one', effects.swallowOthers],
  ['drop-tolerance', 'an expected error fails the run', effects.dropTolerance],
  ['drop-precondition', 'a write without its uid or version', effects.dropPrecondition],
  ['create-only', 'create where it may exist', effects.createOnly],
  ['recreate', 'deletes what it then applies', effects.recreate],
  ['drop-force', 'applies without force', effects.dropForce],
  ['patch-for-update', 'a merge patch without a version replaces an update', effects.patchForUpdate],
  ['status-first', 'the status is written before the work', effects.statusFirst],
  ['drop-prune', 'old children stay', effects.dropPrune],
  ['first-only', 'a loop ends after the first element', effects.firstOnly],
  ['always-true', 'a check is skipped: always yes', checks.alwaysTrue],
  ['never-true', 'a check is skipped: always no', checks.neverTrue],
  ['drop-operand', 'half of a check is missing', checks.dropOperand],
  ['ignore-deletion', 'an object that is being deleted is like any other', checks.ignoreDeletion],
  ['drop-filter', 'a list is not filtered or sorted', checks.dropFilter],
  ['drop-return', 'goes on where it should stop', checks.dropReturn],
  ['drop-owner-reference', 'a child without its owner', identities.dropOwnerReference],
  ['ignore-owner', 'takes the children of others for its own', identities.ignoreOwner],
  ['drop-owns', 'children are not watched', identities.dropOwns],
  ['drop-watch', 'what a run reads is not watched', identities.dropWatch],
  ['wrong-mapping', 'an event reaches the wrong key', identities.wrongMapping],
  ['drop-cleanup', 'a cleanup is missing', identities.dropCleanup],
  ['drop-finalizer', 'a finalizer is not added, or not removed', identities.dropFinalizer],
  ['reorder-steps', 'cleanup steps or verbs in the other order', identities.reorderSteps],
  ['drop-permission', 'a permission is not declared', identities.dropPermission],
  ['name-loses-part', 'a name without its owner or uid', identities.nameLosesPart],
  ['fixed-namespace', 'always the namespace default', identities.fixedNamespace],
  ['random-name', 'a random part in a name', identities.randomName],
  ['drop-controller', 'one of two controllers is missing', identities.dropController],
  ['stale-read', 'what was read once is never read again', values.staleRead],
  ['shared-state', 'a local value is kept between runs', values.sharedState],
  ['drop-live', 'reads the cache where only the server knows', values.dropLive],
  ['time-in-status', 'the time is in the status', values.timeInStatus],
  ['time-in-child', 'the time is in a child', values.timeInChild],
  ['drop-requeue', 'does not come again when it is time', values.dropRequeue],
  ['poll-fast', 'comes again after a millisecond', values.pollFast],
  ['ignore-signal', 'goes on without the lease', values.ignoreSignal],
  ['drop-wait', 'does not wait for a child', values.dropWait],
]

const wishes: readonly Row[] = [
  ['raw-status', 'the status without observedGeneration', effects.rawStatus],
  ['drop-status', 'the status lacks a part', effects.dropStatus],
  ['off-by-one', 'one more, or one less', checks.offByOne],
  ['constant-field', 'a constant in place of a field of the spec', values.constantField],
  ['drop-field', 'a field is not written', values.dropField],
]

export const operators: readonly Operator[] = [
  ...ways.map(([name, mistake, apply]) => ({ name, mistake, apply, changes: 'way' as const })),
  ...wishes.map(([name, mistake, apply]) => ({ name, mistake, apply, changes: 'wish' as const })),
]
