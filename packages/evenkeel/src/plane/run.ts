/**
 * `run`: the last line of a program. Finds a cluster or starts one, runs the controllers until a signal, and says in
 * plain words what it does and what goes wrong.
 *
 * @example
 * await run({ controllers: [{ for: Website, owns: [Deployment], reconcile }] })
 *
 * What it needs is loaded when it is called: whoever imports the package for its kinds alone pays for nothing else.
 */
import type { Kind } from '#api'
import type { RunOptions, RunProgramOptions } from './run-options.ts'

/**
 * Runs controllers until SIGTERM or SIGINT; resolves when everything has stopped. A second signal ends the process.
 *
 * What a person can put right (a wrong kubeconfig, a server that is not there, a port that is taken) is said in one
 * line, and the process then ends with code 1.
 *
 * @throws whatever else goes wrong: that is a mistake in the program.
 */
export async function run<const Kinds extends readonly Kind[]>(options: RunProgramOptions<Kinds>): Promise<void> {
  const { runProgram } = await import('./program.ts')
  await runProgram(options as RunProgramOptions)
}

/** The same as a part of a larger program: no signals, no printing; what goes wrong is thrown. */
export async function runControllers<const Kinds extends readonly Kind[]>(
  signal: AbortSignal,
  options: RunOptions<Kinds>,
): Promise<void> {
  const parts = await import('./run-controllers.ts')
  await parts.runControllers(signal, options as RunOptions)
}
