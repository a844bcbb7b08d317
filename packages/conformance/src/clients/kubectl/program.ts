/**
 * Runs a program and listens to it while it runs.
 *
 * Invariant: it ends; after a while it is made to.
 */
import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { SystemClock, deferred } from 'evenkeel/unstable/base'
import type { Deferred } from 'evenkeel/unstable/base'

/** How a program ended. */
export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Program {
  readonly ended: Promise<Outcome>
  /** Resolves when either output has it; rejects when the program ends without. */
  until(pattern: RegExp): Promise<void>
  stop(signal: 'SIGINT' | 'SIGKILL'): void
}

interface Awaited {
  readonly pattern: RegExp
  readonly seen: Deferred<undefined>
}

const longestMs = 60_000

/** Starts a program; what it may read is given at once. */
export function startProgram(
  [path, ...args]: readonly [string, ...string[]],
  { stdin, cwd, env }: Pick<SpawnOptions, 'cwd' | 'env'> & { stdin: string },
): Program {
  const child = spawn(path, args, { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) })
  const cancel = new SystemClock().after(longestMs, () => {
    child.kill('SIGKILL')
  })
  child.stdin.on('error', () => undefined).end(stdin)
  const told = { out: '', err: '' }
  const awaited = new Set<Awaited>()
  const hear =
    (name: 'out' | 'err') =>
    (piece: string): void => {
      told[name] += piece
      for (const { pattern, seen } of awaited) if (isTold(told, pattern)) seen.resolve(undefined)
    }
  child.stdout.setEncoding('utf8').on('data', hear('out'))
  child.stderr.setEncoding('utf8').on('data', hear('err'))
  child.on('error', (error) => {
    told.err += `\n${String(error)}`
  })
  const ended = deferred<Outcome>()
  child.on('close', (code) => {
    cancel()
    ended.resolve({ code: code ?? -1, ...told })
    for (const { pattern, seen } of awaited)
      seen.reject(new Error(`the program ended before it wrote ${String(pattern)}\n${told.out}\n${told.err}`))
  })
  const until = async (pattern: RegExp): Promise<void> => {
    const one: Awaited = { pattern, seen: deferred<undefined>() }
    awaited.add(one)
    if (isTold(told, pattern)) one.seen.resolve(undefined)
    await one.seen.promise.finally(() => awaited.delete(one))
  }
  return {
    ended: ended.promise,
    until,
    stop: (signal) => {
      child.kill(signal)
    },
  }
}

function isTold({ out, err }: Pick<Outcome, 'out' | 'err'>, pattern: RegExp): boolean {
  return pattern.test(out) || pattern.test(err)
}
