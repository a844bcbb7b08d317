/**
 * What Evenkeel did with a Process, as lines: made from its status, so nothing is written for it.
 *
 *   2026-01-01T00:00:00Z run 1 was started (pid 812): it was created
 *   2026-01-01T00:00:09Z run 1 exited with code 3
 *   2026-01-01T00:00:09Z BackOff: its program exited with code 3; it waits before the next start
 */
import type { ProcessObject } from '../process-kind.ts'

interface SystemLine {
  /** Names the fact: a reader shows it once. */
  readonly key: string
  readonly at: string
  readonly text: string
}

/** Oldest first. */
export function systemLines({ status }: Pick<ProcessObject, 'status'>): readonly SystemLine[] {
  const runs = [...(status?.runs ?? []), ...(status?.run ? [status.run] : [])]
  const lines: SystemLine[] = runs.flatMap(({ number, pid, startedAt = '', finishedAt, cause, message, reason }) => [
    {
      key: `${number} started`,
      at: startedAt,
      text: `run ${number} was started${pid === undefined ? '' : ` (pid ${pid})`}: ${cause ?? 'for an unknown reason'}`,
    },
    ...(finishedAt === undefined
      ? []
      : [{ key: `${number} ended`, at: finishedAt, text: `run ${number} ${message ?? reason ?? 'ended'}` }]),
  ])
  const started = status?.conditions?.find(({ type }) => type === 'Started')
  if (started && started.reason !== 'Running') {
    const at = started.lastTransitionTime ?? ''
    lines.push({
      key: `${at} ${started.reason} ${started.message}`,
      at,
      text: `${started.reason}${started.message ? `: ${started.message}` : ''}`,
    })
  }
  // The same moment: in the order of the status.
  return lines
    .map((line, index) => ({ line, index }))
    .sort((a, b) => compare(a.line.at, b.line.at) || a.index - b.index)
    .map(({ line }) => ({ ...line, text: line.text.replaceAll(/\s*\n\s*/g, ' ') }))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
