/**
 * What a namespace says about its own end: five conditions, in words that people and tools know.
 *
 * Each is there as soon as the namespace is being emptied, with status False while there is nothing to complain about;
 * the moment of transition moves only when the status does.
 */
import { compareText, setCondition } from '#api'
import type { Condition } from '#api'
import type { Contents } from './contents.ts'
import type { RemainingContent } from './remove-content.ts'

/** What one look at a namespace came to. */
export interface ContentScan extends Pick<Contents, 'discoveryFailure' | 'parsingFailure'> {
  /** What is left, and what went wrong, kind by kind. */
  readonly remaining: readonly RemainingContent[]
}

interface ConditionText {
  readonly reason: string
  readonly message: string
}

/** The conditions that follow from a look; the very same list when nothing is new. */
export function terminationConditions(
  conditions: readonly Condition[] | undefined,
  look: ContentScan,
  { nowMs }: { nowMs: number },
): readonly Condition[] {
  let next = conditions ?? []
  for (const { type, good, find } of terminationConditionTypes) {
    const trouble = find(look)
    next = setCondition(next, { type, status: trouble ? 'True' : 'False', ...(trouble ?? good) }, { now: nowMs })
  }
  return next
}

interface TerminationCondition {
  readonly type: string
  readonly good: ConditionText
  find(look: ContentScan): ConditionText | undefined
}

const terminationConditionTypes: readonly TerminationCondition[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    good: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    find: ({ discoveryFailure: message }) =>
      message === undefined ? undefined : { reason: 'DiscoveryFailed', message },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    good: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    find: ({ parsingFailure: message }) =>
      message === undefined ? undefined : { reason: 'GroupVersionParsingFailed', message },
  },
  {
    type: 'NamespaceDeletionContentFailure',
    good: { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
    find: ({ remaining: left }) => findFailures(left),
  },
  {
    type: 'NamespaceContentRemaining',
    good: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    find: ({ remaining: left }) => findRemaining(left),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    good: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    find: ({ remaining: left }) => findFinalizers(left),
  },
]

function findFailures(left: readonly RemainingContent[]): ConditionText | undefined {
  const failures = left.flatMap(({ failure }) => failure ?? [])
  if (failures.length === 0) return undefined
  return {
    reason: 'ContentDeletionFailed',
    message: `Failed to delete all resource types, ${failures.length} remaining: ${sorted(failures)}`,
  }
}

function findRemaining(left: readonly RemainingContent[]): ConditionText | undefined {
  const remaining = left.filter(({ count }) => count > 0)
  if (remaining.length === 0) return undefined
  const kinds = remaining.map(
    ({ kind: { plural, group }, count }) => `${plural}.${group} has ${count} resource instances`,
  )
  return { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${sorted(kinds)}` }
}

function findFinalizers(left: readonly RemainingContent[]): ConditionText | undefined {
  const counts = new Map<string, number>()
  for (const { finalizers } of left)
    for (const [finalizer, count] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + count)
  if (counts.size === 0) return undefined
  const held = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return {
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${sorted(held)}`,
  }
}

/** In an order of its own: the same things say the same text. */
function sorted(texts: readonly string[]): string {
  return [...texts].sort(compareText).join(', ')
}
