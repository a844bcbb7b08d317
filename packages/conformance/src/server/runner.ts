/**
 * Runs cases against a server, several in parallel, and returns their results.
 */
import { SystemClock } from 'evenkeel/unstable/base'
import { reasonToSkip, runCase } from './target.ts'
import type { ServerCase, ServerTarget } from './target.ts'

export interface CaseResult {
  readonly id: string
  readonly rule: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  readonly reason?: string
  readonly tookMs: number
}

interface RunOptions {
  /**
   * How many cases run at once.
   *
   * @default 8
   */
  readonly concurrency?: number
  /** Called with each result as it arrives. */
  readonly onResult?: (result: CaseResult) => void
}

const clock = new SystemClock()

/** All results, in the order of the cases. */
export async function runCases(
  cases: readonly ServerCase[],
  target: ServerTarget,
  { concurrency = 8, onResult = () => undefined }: RunOptions = {},
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const work = async (waiting: Iterable<[number, ServerCase]>): Promise<void> => {
    for (const [index, one] of waiting) {
      const result = await resultOf(one, target)
      results[index] = result
      onResult(result)
    }
  }
  const numbered = [...cases.entries()]
  const together = numbered.filter(([, one]) => !disturbsOthers(one)).values()
  await Promise.all(Array.from({ length: concurrency }, () => work(together)))
  await work(numbered.filter(([, one]) => disturbsOthers(one)))
  return results
}

/** Cases that compact the server remove history that others need, and so run last and alone. */
function disturbsOthers({ needs = [] }: ServerCase): boolean {
  return needs.includes('compaction')
}

async function resultOf(one: ServerCase, target: ServerTarget): Promise<CaseResult> {
  const { id, rule } = one
  const skipped = reasonToSkip(one, target)
  if (skipped !== undefined) return { id, rule, outcome: 'skipped', reason: skipped, tookMs: 0 }
  const started = clock.monotonic()
  try {
    await runCase(one, target)
    return { id, rule, outcome: 'passed', tookMs: Math.round(clock.monotonic() - started) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { id, rule, outcome: 'failed', reason, tookMs: Math.round(clock.monotonic() - started) }
  }
}
