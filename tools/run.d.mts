/**
 * The types of run.mjs, for tools written in TypeScript that start TypeScript children.
 */

/** What `node` needs before a program's own arguments to run a TypeScript file from the sources. */
export function sourceArguments(file: string): string[]

/** How a program ended: with an exit code, or by a signal. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Runs `node` with these arguments in the foreground; signals are passed on. */
export function runForeground(args: readonly string[]): Promise<Ending>

/** Ends this process the way the child ended. */
export function endAs(ending: Ending): void
