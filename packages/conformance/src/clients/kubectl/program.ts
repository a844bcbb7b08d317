/**
 * Runs a program and reads its output while it runs.
 *
 * Invariant: the program ends; after a timeout it is killed.
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
  /** Resolves when stdout or stderr matches; rejects when the program ends without a match. */
  until(pattern: RegExp): Promise<void>
  stop(signal: 'SIGINT' | 'SIGKILL'): void
}

interface Awaited {
  readonly pattern: RegExp
  readonly seen: Deferred<undefined>
}

const longestMs = 60_000

/** Starts a program with its complete input. */
export function startProgram(
  [path, ...args]: readonly [string, ...string[]],
  { stdin, cwd, env }: Pick<SpawnOptions, 'cwd' | 'env'> & { stdin: string },
): Program {
  const child = spawn(path, args, { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) })
  const cancel = new SystemClock().after(longestMs, () => {
    child.kill('SIGKILL')
  })
  child.stdin.on('error', () => undefined).end(stdin)
  const output = { out: '', err: '' }
  const awaited = new Set<Awaited>()
  const append =
    (name: 'out' | 'err') =>
    (piece: string): void => {
      output[name] += piece
      for (const { pattern, seen } of awaited) if (hasOutput(output, pattern)) seen.resolve(undefined)
    }
  child.stdout.setEncoding('utf8').on('data', append('out'))
  child.stderr.setEncoding('utf8').on('data', append('err'))
  child.on('error', (error) => {
    output.err += `\n${String(error)}`
  })
  const ended = deferred<Outcome>()
  child.on('close', (code) => {
    cancel()
    ended.resolve({ code: code ?? -1, ...output })
    for (const { pattern, seen } of awaited)
      seen.reject(new Error(`the program ended before it wrote ${String(pattern)}\n${output.out}\n${output.err}`))
  })
  const until = async (pattern: RegExp): Promise<void> => {
    const one: Awaited = { pattern, seen: deferred<undefined>() }
    awaited.add(one)
    if (hasOutput(output, pattern)) one.seen.resolve(undefined)
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

function hasOutput({ out, err }: Pick<Outcome, 'out' | 'err'>, pattern: RegExp): boolean {
  return pattern.test(out) || pattern.test(err)
}
