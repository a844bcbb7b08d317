/**
 * Detects what bypasses the simulation: system timers, the system clock, Math.random, the network and process.exit.
 *
 * A program that uses them is not deterministic. Timers, time and random numbers still come from the simulation, so that
 * the schedule can continue; each use is reported once per place in the code.
 *
 * Sockets, files, child processes and imported timers cannot be replaced. `async_hooks` reports when one is created, and
 * the stack shows by whom. That costs time, so it happens only while an undisturbed schedule runs.
 */
import { createHook } from 'node:async_hooks'
import { fileURLToPath } from 'node:url'
import { overrideGlobals, randomFraction, type Random } from '#base'
import { currentProcess, type SimulatedProcess } from './process.ts'

export interface Escape {
  /** `setTimeout`, `Date`, `Math.random`, `fetch`, `process.exit` */
  readonly what: string
  /** `reconcile.ts:41` */
  readonly origin: string
}

interface GuardOptions {
  /** The running process is tracked: also detect sockets, files and other resources. */
  readonly isTracked: boolean
  readonly random: Random
  onEscape(escape: Escape): void
  /** The program called process.exit. */
  onExit(proc: SimulatedProcess | undefined, code: unknown): void
}

/** Thrown instead of the exit of this process. */
class ProcessEnd extends Error {
  override readonly name = 'ProcessEnd'
}

/** Replaces the globals of the machine. @returns a function that restores them */
export function guardMachine({ isTracked, random, onEscape, onExit }: GuardOptions): () => void {
  const reported = new Set<string>()
  /** Reports an escape of the running process, if the caller is the user's code and not ours. */
  const escaping = (what: string): SimulatedProcess | undefined => {
    const proc = currentProcess()
    const origin = proc && originOf({ direct: true })
    if (!proc || origin === undefined) return undefined
    if (!reported.has(`${what} ${origin}`)) onEscape({ what, origin })
    reported.add(`${what} ${origin}`)
    return proc
  }
  const stopWatching = isTracked ? watchResources((what) => escaping(what)) : () => undefined
  const restore = overrideGlobals({
    timer: (kind, delayMs, callback) => {
      const proc = escaping(kind)
      if (!proc) return undefined
      if (kind !== 'setInterval') return proc.clock.after(delayMs, callback)
      let cancel = (): void => undefined
      const again = (): void => {
        cancel = proc.clock.after(Math.max(delayMs, 1), () => {
          again()
          callback()
        })
      }
      again()
      return () => {
        cancel()
      }
    },
    now: () => escaping('Date')?.clock.now(),
    random: () => (escaping('Math.random') ? randomFraction(random) : undefined),
    fetch: () => {
      escaping('fetch')
    },
    exit: (code) => {
      onExit(currentProcess(), code)
      throw new ProcessEnd(`process.exit(${String(code)})`)
    },
  })
  return () => {
    restore()
    stopWatching()
  }
}

const resourceNames: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPWRAP: 'a connection',
  PIPEWRAP: 'a connection',
  TCPCONNECTWRAP: 'a connection',
  TCPSERVERWRAP: 'a server',
  PIPECONNECTWRAP: 'a connection',
  UDPWRAP: 'a socket',
  GETADDRINFOREQWRAP: 'a DNS lookup',
  QUERYWRAP: 'a DNS lookup',
  HTTPCLIENTREQUEST: 'a connection',
  FSREQCALLBACK: 'a file',
  FSREQPROMISE: 'a file',
  FSEVENTWRAP: 'a file',
  STATWATCHER: 'a file',
  PROCESSWRAP: 'a process',
  WORKER: 'a thread',
}

/** @param onCreate called while a resource is created @returns a function that ends it */
function watchResources(onCreate: (what: string) => void): () => void {
  let isReporting = false
  const hook = createHook({
    init(_, type) {
      const what = resourceNames[type]
      if (what === undefined || isReporting) return
      isReporting = true
      try {
        onCreate(what)
      } finally {
        isReporting = false
      }
    },
  })
  hook.enable()
  return () => {
    hook.disable()
  }
}

// The folder of this package, in `src` and in `dist`: with source maps, stacks of the build name the sources.
const packageFolder = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url))
const stackDepth = 60
/** Frames between the user's call and the stack that is taken: the replaced global, its override, `escaping`, `originOf`. */
const interceptorFrames = 4

/**
 * The place in the user's code from which something was called, if it is on the stack: `reconcile.ts:41`.
 *
 * @param options `direct`: only if the user's code is the direct caller, without code of this package in between
 */
export function originOf({ direct = false }: { direct?: boolean } = {}): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = stackDepth
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  let skipped = direct ? interceptorFrames : 0
  for (const line of stack.split('\n').slice(1)) {
    if (line.includes('node:internal') || /[( ]node:/.test(line)) continue
    const [, location] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line) ?? []
    if (location === undefined) continue
    const path = location.startsWith('file://') ? location.slice('file://'.length) : location
    if (isOwnCode(path) && skipped-- > 0) continue
    if (direct && isOwnCode(path)) return undefined
    if (isOwnCode(path) || path.includes('/node_modules/')) continue
    return path.replace(/:\d+$/, '')
  }
  return undefined
}

/** Code of this package; its tests count as user code. */
function isOwnCode(path: string): boolean {
  return path.startsWith(packageFolder) && !/\.test\.[jt]s/.test(path)
}
