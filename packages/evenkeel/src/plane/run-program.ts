/**
 * The implementation of `run`: handles signals, prints progress, and turns errors that a user can correct into one line
 * and an exit code.
 *
 * Such an error is not a bug of the program: a configuration, a network, a permission, a port, a folder. Other errors
 * are thrown, because their stack helps.
 */
import { resolve } from 'node:path'
import { isApiError } from '#api'
import { anySignal, createLogger, prettyLines, SystemClock } from '#base'
import { isConfigError, isConnectionError } from '#client'
import { GraceExceededError, stopSignal } from '#manager'
import { IdentityError, SchemaChangeError } from '#server'
import { isStoreError } from '#store'
import { runControllers } from './run-controllers.ts'
import type { Ready, RunProgramOptions } from './run.ts'

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
      data: 'data',
      // The file store does not support Windows.
      memory: process.platform === 'win32',
      ...options,
      clock,
      log,
      onReady(ready) {
        own.stdout.write(welcome(ready))
        return onReady?.(ready)
      },
    })
  } catch (error) {
    // Stopped before anything ran.
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
  const { kind, plural } = kinds[0] ?? { kind: 'Namespace', plural: 'namespaces' }
  const commands = `
  npx evenkeel get ${plural} -A       in another terminal, in this directory
  npx evenkeel why ${kind.toLowerCase()}/NAME
`
  return `No cluster is configured: this program brings its own API server.
${what}Objects are kept in ${embedded.isDurable ? `${embedded.folder}` : 'memory: they are gone when it stops'}
${isHere(embedded.folder) ? commands : ''}
  export KUBECONFIG=${embedded.kubeconfig}
  kubectl get ${plural} --all-namespaces --watch

Ctrl-C stops it.
`
}

/** Whether commands in this directory find the server by themselves. */
function isHere(folder: string): boolean {
  return folder === resolve('data')
}

// Errors that a user can correct.

/** The line; undefined for a mistake in the program. */
export function explainError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (
    isConfigError(error) ||
    isConnectionError(error) ||
    isStoreError(error) ||
    error instanceof IdentityError ||
    error instanceof SchemaChangeError ||
    error instanceof GraceExceededError
  )
    return oneLine(error.message)
  if (isApiError(error))
    return oneLine(
      error.reason === 'Unauthorized'
        ? `the server rejected our credentials (${error.message}): check the user of the kubeconfig, its token or certificate may have expired`
        : error.message,
    )
  const { code, port, message } = error as NodeJS.ErrnoException & { readonly port?: number }
  if (code === 'EADDRINUSE') return `port ${port ?? ''} is taken: stop what uses it, or choose another`
  if (code === 'EACCES' || code === 'EPERM' || code === 'ENOSPC' || code === 'EROFS') return oneLine(message)
  return undefined
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
