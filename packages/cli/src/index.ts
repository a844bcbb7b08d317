/**
 * The program of the command `evenkeel`, and the types for the exports of a module for `evenkeel up`.
 */
import { SystemClock } from 'evenkeel/unstable/base'
import { main } from './main.ts'

export type { Address, ServeContext } from './modules.ts'

/** Runs the command line of this process and sets its exit code. The first Ctrl-C stops gracefully, the second at once. */
export async function runProcess(own: NodeJS.Process): Promise<void> {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) own.exit(130)
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.on(signal, onSignal)
  // The reader of stdout may close it, as `head` does: that is no error.
  own.stdout.on('error', () => undefined)
  own.exitCode = await main(own.argv.slice(2), {
    stdout: own.stdout,
    stderr: own.stderr,
    stdin: own.stdin,
    env: own.env,
    cwd: own.cwd(),
    signal: stop.signal,
    clock: new SystemClock(),
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.off(signal, onSignal)
}
