/**
 * The types of run-progress.mjs, for its test.
 */

type TestState = 'passed' | 'failed' | 'skipped'

/** A run of the tests, from its files and the times of the last run. */
export class RunProgress {
  constructor(run?: {
    readonly paths?: readonly string[]
    readonly times?: Readonly<Record<string, number>>
    readonly startedMs?: number
  })
  readonly times: Readonly<Record<string, number>>
  add(file: { readonly path: string; readonly ms: number; readonly states: readonly TestState[] }): void
  line(nowMs: number): string
  skippedLines(hasProgram: (name: string) => boolean): string[]
}
