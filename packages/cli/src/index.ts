/**
 * The program behind the command `evenkeel`, and the types of what a module for `evenkeel up` exports.
 */
import { main } from './main.ts'

export type { Address, ServeContext } from './modules.ts'

/** Runs the command line of a process, and sets its exit code. Ctrl-C stops in order; a second one ends it. */
export async function runProcess(own: NodeJS.Process): Promise<void> {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) own.exit(130)
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.on(signal, onSignal)
  // Whoever reads our output may stop reading, as `head` does; that is no error of ours.
  own.stdout.on('error', () => undefined)
  own.exitCode = await main(own.argv.slice(2), {
    stdout: own.stdout,
    stderr: own.stderr,
    stdin: own.stdin,
    env: own.env,
    cwd: own.cwd(),
    signal: stop.signal,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.off(signal, onSignal)
}
