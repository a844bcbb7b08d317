/**
 * `run`: the last line of a program. Finds a cluster or starts one, runs the controllers until a signal, and says in
 * plain words what it does and what goes wrong.
 *
 * @example
 * await run({ controllers: [{ for: Website, owns: [Deployment], reconcile }] })
 */
import { createLogger, prettyLines, SystemClock } from '#base'
import type { Kind } from '#api'
import { stopSignal } from '#manager'
import type { SignalledProcess } from '#manager'
import { explain } from './explain.ts'
import { runControllers } from './run-controllers.ts'
import type { Ready, RunOptions } from './run-controllers.ts'

/** What of a process `run` uses. */
export interface RunProcess extends SignalledProcess {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown, readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
}

export interface RunProgramOptions<Kinds extends readonly Kind[] = readonly Kind[]> extends RunOptions<Kinds> {
  /** Stops it as well. @default signals of the process only */
  readonly signal?: AbortSignal
  /** @default this process */
  readonly process?: RunProcess
}

/**
 * Runs controllers until SIGTERM or SIGINT; resolves when everything has stopped. A second signal ends the process.
 *
 * What a person can put right (a wrong kubeconfig, a server that is not there, a port that is taken) is said in one
 * line, and the process then ends with code 1.
 *
 * @throws whatever else goes wrong: that is a mistake in the program.
 */
export async function run<const Kinds extends readonly Kind[]>(options: RunProgramOptions<Kinds>): Promise<void> {
  const { signal: given, process: own = process, clock = new SystemClock(), onReady } = options
  const { log = createLogger({ clock, sink: prettyLines((text) => { own.stderr.write(text) }, { color: own.stderr.isTTY === true }) }) } = options
  const stop = stopSignal(own)
  const signal = given ? AbortSignal.any([given, stop.signal]) : stop.signal
  try {
    await runControllers(signal, {
      ...options, clock, log,
      onReady(ready) {
        own.stdout.write(welcome(ready))
        onReady?.(ready)
      },
    })
  } catch (error) {
    const line = explain(error)
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
