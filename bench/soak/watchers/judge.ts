/**
 * Checks that every watcher received every change of the store in order, once, and nothing else.
 */
import type { EventLine, Watcher } from './watcher.ts'

export interface Verdict {
  /** Received events. */
  readonly events: number
  /** Changes that a watcher did not receive. */
  readonly lost: number
  /** Unexpected events, or events in the wrong order. */
  readonly extra: number
  /** The first few of them. */
  readonly examples: readonly string[]
}

const examplesMax = 5

/** Compares with the history up to a version that all watchers have reached. */
export function judge(
  watchers: readonly Pick<Watcher, 'namespace' | 'from' | 'received'>[],
  history: readonly EventLine[],
  until: number,
): Verdict {
  const verdict = { events: 0, lost: 0, extra: 0, examples: [] as string[] }
  for (const { namespace, from, received } of watchers) {
    const expected = history.filter(
      (line) =>
        revisionOf(line) > from && revisionOf(line) <= until && (namespace === '' || namespaceIn(line) === namespace),
    )
    const actual = received.filter((line) => revisionOf(line) <= until)
    verdict.events += actual.length
    const [had, wanted] = [new Set(actual), new Set(expected)]
    const lost = expected.filter((line) => !had.has(line))
    const extra = actual.filter(
      (line, index) => !wanted.has(line) || (index > 0 && revisionOf(line) <= revisionOf(actual[index - 1] ?? '')),
    )
    verdict.lost += lost.length
    verdict.extra += extra.length
    for (const line of [...lost.map((one) => `lost ${one}`), ...extra.map((one) => `extra ${one}`)])
      if (verdict.examples.length < examplesMax) verdict.examples.push(`${namespace || 'all'}: ${line}`)
  }
  return verdict
}

function revisionOf(line: EventLine): number {
  return Number.parseInt(line, 10)
}

function namespaceIn(line: EventLine): string {
  return line.slice(line.indexOf(' ') + 1, line.indexOf('/'))
}
