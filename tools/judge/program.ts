/**
 * Runs a program of a suite to its end and keeps what it prints.
 *
 * Each program has a process group of its own: what it leaves behind, such as a `kubectl proxy`, ends with it.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** The working folder. */
  readonly folder?: string
  readonly onLine?: ((line: string) => void) | undefined
}

/** All output. A program that fails is no error: its results say which tests did. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, signal, folder, onLine }: ProgramOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(folder && { cwd: folder }),
    })
    let output = ''
    const take = (piece: Buffer): void => {
      const text = piece.toString()
      output += text
      if (onLine) for (const line of text.split('\n')) if (line.trim() !== '') onLine(line)
    }
    const end = (): void => {
      killGroup(child.pid)
    }
    signal.addEventListener('abort', end, { once: true })
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', reject)
    child.on('exit', end)
    child.on('close', () => {
      signal.removeEventListener('abort', end)
      resolve(signal.aborted ? `${output}\nended: ${String(signal.reason)}` : output)
    })
    if (signal.aborted) end()
  })
}

/** The signal of the caller, or the end of this time. */
export function limitedSignal(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)])
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}

/** A folder that is removed at the end. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judge-'))
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
