/**
 * Failures by cause: one mistake often breaks several rules, in several schedules.
 *
 * Two failures have one cause when the same schedule shows them, or when they end with the same difference in the same
 * object. The first one has the story; the others are listed below it.
 *
 *     RULE 8 failure:  App default/a, status.phase "Failed" instead of "Ready"   after a crash        ─┐
 *     RULE 7 conflict: App default/a, status.phase "Failed" instead of "Ready"   after a conflict      ├ one cause
 *     RULE 6 truth:    App default/a is ready, ConfigMap a-1 is missing          after the same crash ─┘
 */
import { stringifyJson } from '#api'
import type { Deviation } from '../deviation.ts'
import type { Failure } from '../failures.ts'

interface FailureGroup {
  readonly main: Failure
  readonly others: readonly Failure[]
}

/** In the order of the first failure of each group. */
export function groupByCause(failures: readonly Failure[]): FailureGroup[] {
  const groups: { main: Failure; others: Failure[]; keys: Set<string> }[] = []
  for (const failure of failures) {
    const keys = keysOf(failure)
    const known = groups.find((group) => keys.some((key) => group.keys.has(key)))
    if (!known) groups.push({ main: failure, others: [], keys: new Set(keys) })
    else {
      known.others.push(failure)
      for (const key of keys) known.keys.add(key)
    }
  }
  return groups.map(({ main, others }) => ({ main, others }))
}

function keysOf({ about, deviations, diff = [] }: Failure): string[] {
  const keys: string[] = []
  // The undisturbed schedule shows everything that is always wrong, which need not have one cause.
  if (deviations.length > 0) keys.push(`schedule ${stringifyJson(deviations as readonly Deviation[] as never)}`)
  if (diff.length > 0) keys.push(`difference ${about} ${diff.join('\n')}`)
  return keys
}

const singleDifference = /^(\S+): expected (.*), found (.*)$/

/** The message, and in which fields. A single difference is in the headline, so it needs no line of its own. */
export function headlineOf({ message, diff = [] }: Failure): { readonly text: string; readonly isWhole: boolean } {
  const found = diff.map((line) => singleDifference.exec(line)).filter((match) => match !== null)
  const [first] = found
  if (!first || found.length !== diff.length) return { text: message, isWhole: false }
  const [, path, expected = '', actual = ''] = first
  if (found.length === 1 && expected.length + actual.length < 80)
    return { text: `${message}: ${path} is ${actual} instead of ${expected}`, isWhole: true }
  return { text: `${message}: ${found.map(([, each]) => each).join(', ')}`, isWhole: false }
}
