/**
 * Notices what leaves the simulation: the machine's own timers, its clock, its chance, its network, its end.
 *
 * A program that takes them is not controlled any more, so its schedules are not the same twice. Timers, time and chance
 * are given from the simulation all the same, so that the rest can go on; that they were taken is told once for each
 * place.
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
  /** Whose code runs is followed: what is taken of the machine by other ways can be told as well. */
  readonly isFollowed: boolean
  readonly random: Random
  onEscape(escape: Escape): void
  /** A program ends the process. */
  onExit(life: SimulatedProcess | undefined, code: unknown): void
}

/** What is thrown in the place of the end of the process. */
class ProcessEnd extends Error {
  override readonly name = 'ProcessEnd'
}

/** @returns what ends the guard */
export function guardMachine({ isFollowed, random, onEscape, onExit }: GuardOptions): () => void {
  const told = new Set<string>()
  /** The life whose code is running, if it is the user's code and not ours. */
  const escaping = (what: string): SimulatedProcess | undefined => {
    const life = currentProcess()
    const origin = life && originOf({ direct: true })
    if (!life || origin === undefined) return undefined
    if (!told.has(`${what} ${origin}`)) onEscape({ what, origin })
    told.add(`${what} ${origin}`)
    return life
  }
  const stopWatching = isFollowed ? watchResources(escaping) : () => undefined
  const putBack = overrideGlobals({
    timer: (kind, delayMs, callback) => {
      const life = escaping(kind)
      if (!life) return undefined
      if (kind !== 'setInterval') return life.clock.after(delayMs, callback)
      let cancel = (): void => undefined
      const again = (): void => {
        cancel = life.clock.after(Math.max(delayMs, 1), () => {
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
    putBack()
    stopWatching()
  }
}

/*
 * Notices what a program takes of the machine that no function can be put in front of: sockets, files, processes, and timers
 * that were imported instead of taken from the global scope.
 *
 * Node tells when such a thing is made, and who is making it is on the stack. That costs, so it is done only while an
 * undisturbed schedule runs.
 */

const resourceNames: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPWRAP: 'a connection',
  PIPEWRAP: 'a connection',
  TCPCONNECTWRAP: 'a connection',
  TCPSERVERWRAP: 'a server',
  PIPECONNECTWRAP: 'a connection',
  UDPWRAP: 'a socket',
  GETADDRINFOREQWRAP: 'a look-up of a name',
  QUERYWRAP: 'a look-up of a name',
  HTTPCLIENTREQUEST: 'a connection',
  FSREQCALLBACK: 'a file',
  FSREQPROMISE: 'a file',
  FSEVENTWRAP: 'a file',
  STATWATCHER: 'a file',
  PROCESSWRAP: 'a process',
  WORKER: 'a thread',
}

/** @param taken hears what is made while it is being made @returns what ends it */
function watchResources(taken: (what: string) => void): () => void {
  let isTelling = false
  const hook = createHook({
    init(_, type) {
      const what = resourceNames[type]
      if (what === undefined || isTelling) return
      isTelling = true
      try {
        taken(what)
      } finally {
        isTelling = false
      }
    },
  })
  hook.enable()
  return () => {
    hook.disable()
  }
}

/*
 * Where in the user's code something was asked for: `reconcile.ts:41`.
 *
 * The first frame of the stack that is neither ours nor Node's. Taking a stack costs more than a step of the world, so
 * it is done only when a story will be told.
 */

// The whole package: a frame of a built file may name its source where source maps are used.
const packageFolder = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url))
// The build keeps both modules in a file called interceptors (tools/build.mjs).
const interceptorFrames = /\/(?:base\/global-overrides|testing\/escapes|dist\/interceptors-[^/]+)\./
const stackDepth = 60

/**
 * The place in the user's code, if there is one on the stack.
 *
 * @param options `direct`: only if it is the caller, with nothing of ours in between
 */
export function originOf({ direct = false }: { direct?: boolean } = {}): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = stackDepth
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  for (const line of stack.split('\n').slice(1)) {
    if (line.includes('node:internal') || /[( ]node:/.test(line)) continue
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line) ?? []
    if (place === undefined) continue
    const path = place.startsWith('file://') ? place.slice('file://'.length) : place
    if (isOwnCode(path) && interceptorFrames.test(path)) continue
    if (direct && isOwnCode(path)) return undefined
    if (isOwnCode(path) || path.includes('/node_modules/')) continue
    return path.replace(/:\d+$/, '')
  }
  return undefined
}

/** Our own tests are somebody's programs. */
function isOwnCode(path: string): boolean {
  return path.startsWith(packageFolder) && !/\.test\.[jt]s/.test(path)
}
