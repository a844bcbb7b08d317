/**
 * The types of run.mjs, for tools written in TypeScript that start TypeScript children.
 */

/** The arguments of `node` before those of the program to run a TypeScript file from the sources. */
export function sourceArguments(file: string): string[]

/** How a program ended: with an exit code, or by a signal. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Runs `node` with these arguments in the foreground; forwards signals. */
export function runForeground(args: readonly string[]): Promise<Ending>

/** Ends this process like the child ended. */
export function endAs(ending: Ending): void
