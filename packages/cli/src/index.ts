/**
 * The program of the command `evenkeel`, and the types for the exports of a module for `evenkeel up`.
 */
import { SystemClock } from 'evenkeel/unstable/base'
import type { Output, Terminal } from './command.ts'
import { main } from './main.ts'

export type { Address, ServeContext } from './modules.ts'

/**
 * Runs the command line of this process and sets its exit code. The first Ctrl-C stops gracefully, the second at once; a command
 * that has something to kill first takes the second one, and the third ends the process.
 */
export async function runProcess(own: NodeJS.Process): Promise<void> {
  const stop = new AbortController()
  let onSecond: (() => void) | undefined
  const onSignal = (): void => {
    if (!stop.signal.aborted) {
      stop.abort()
      return
    }
    const call = onSecond
    onSecond = undefined
    if (call) call()
    else own.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.on(signal, onSignal)
  // The reader of stdout may close it, as `head` does: that is no error.
  own.stdout.on('error', () => undefined)
  // After SIGHUP there is no terminal any more.
  own.stderr.on('error', () => undefined)
  own.exitCode = await main(own.argv.slice(2), {
    stdout: outputOf(own.stdout),
    stderr: outputOf(own.stderr),
    stdin: own.stdin,
    env: own.env,
    cwd: own.cwd(),
    signal: stop.signal,
    clock: new SystemClock(),
    onSecondSignal: (call) => {
      onSecond = call
    },
    ...(own.stdin.isTTY && own.stdout.isTTY && { terminal: terminalOf(own) }),
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) own.off(signal, onSignal)
}

/** The size is read when it is needed: it changes. */
function outputOf(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => stream.write(text),
    writeBytes: (bytes) =>
      new Promise((resolve) => {
        stream.write(bytes, () => {
          resolve()
        })
      }),
    get isTTY() {
      return stream.isTTY
    },
    get columns() {
      return stream.columns
    },
    get rows() {
      return stream.rows
    },
  }
}

function terminalOf(own: NodeJS.Process): Terminal {
  const { stdin, stdout } = own
  return {
    setRaw: (isRaw) => {
      stdin.setRawMode(isRaw)
    },
    onResize(call) {
      stdout.on('resize', call)
      return () => stdout.off('resize', call)
    },
    readKeys(call) {
      stdin.setRawMode(true)
      stdin.on('data', call)
      return () => {
        stdin.off('data', call)
        stdin.setRawMode(false)
        stdin.pause()
      }
    },
    suspend(onContinue) {
      stdin.setRawMode(false)
      own.once('SIGCONT', () => {
        stdin.setRawMode(true)
        onContinue()
      })
      own.kill(own.pid, 'SIGTSTP')
    },
  }
}
