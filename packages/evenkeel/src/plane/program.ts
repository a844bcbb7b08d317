/**
 * What `run` does: listens to signals, says in plain words what happens, and turns what a person can put right into one
 * line and an exit code.
 */
import { createLogger, anySignal, prettyLines, SystemClock } from '#base'
import { stopSignal } from '#manager'
import { explainError } from './explain.ts'
import { runControllers } from './run-controllers.ts'
import type { Ready, RunProgramOptions } from './run-options.ts'

/** See `run`. */
export async function runProgram(options: RunProgramOptions): Promise<void> {
  const { signal: given, process: own = process, clock = new SystemClock(), onReady } = options
  const {
    log = createLogger({
      clock,
      sink: prettyLines(
        (text) => {
          own.stderr.write(text)
        },
        { color: own.stderr.isTTY === true },
      ),
    }),
  } = options
  const stop = stopSignal(own)
  const signal = given ? anySignal(given, stop.signal) : stop.signal
  try {
    await runControllers(signal, {
      ...options,
      clock,
      log,
      onReady(ready) {
        own.stdout.write(welcome(ready))
        onReady?.(ready)
      },
    })
  } catch (error) {
    // Told to stop before anything ran.
    if (signal.aborted && error === signal.reason) return
    const line = explainError(error)
    if (line === undefined) throw error
    own.stderr.write(`Error: ${line}\n`)
    own.exitCode = 1
  } finally {
    stop[Symbol.dispose]()
  }
}

function welcome({ manager, kinds, url, embedded }: Ready): string {
  const what = `${manager.name} runs on ${url}\n`
  if (!embedded) return what
  const plural = kinds[0]?.plural ?? 'namespaces'
  return `No cluster is configured: this program brings its own API server.
${what}Objects are kept in ${embedded.isDurable ? 'a folder' : 'memory: they are gone when it stops'}

  export KUBECONFIG=${embedded.kubeconfig}
  kubectl get ${plural} --all-namespaces --watch

Ctrl-C stops it.
`
}
