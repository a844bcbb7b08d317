/**
 * `evenkeel run --detach`: the same command as a process of its own, without a terminal.
 *
 *   this process ─ starts ─▶ evenkeel run, in a session of its own; its output goes to FOLDER/run.log
 *                ◀─ FOLDER/run.json: starting, ready, or failed with a message
 *
 * It has no log lines of programs in its output: those are in their own files, and `evenkeel logs` prints them.
 */
import { spawn } from 'node:child_process'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from 'evenkeel/unstable/base'
import type { Invocation, Io } from '../command.ts'
import { Failure } from '../failure.ts'
import type { DataFolder } from '../local-folder.ts'
import type { WorkloadsPackage } from '../modules.ts'
import { activeRun, readRecord, removeRecord } from './run-record.ts'

const variable = 'EVENKEEL_DETACHED'
const lookMs = 20

/** Whether this process is the one in the background. */
export function isDetachedChild(env: Io['env']): boolean {
  return env[variable] !== undefined
}

/** What the programs of an application inherit: a command `evenkeel` among them is one of its own. */
export function inheritedEnv({ [variable]: _, ...env }: Io['env']): Io['env'] {
  return env
}

interface DetachOptions {
  readonly folder: DataFolder
  readonly workloads: Pick<WorkloadsPackage, 'systemTable'>
  /** Return when everything is ready, not when it has begun. */
  readonly waits: boolean
}

/** @throws {Failure} when it ends before it is ready */
export async function detach(call: Invocation, { folder, workloads, waits }: DetachOptions): Promise<number> {
  const { io, json } = call
  const { path } = folder
  await removeRecord(path)
  const { pid, hasEnded } = await startChild(call, path)
  for (;;) {
    const record = await readRecord(folder)
    if (record && record.pid === pid) {
      if (record.state === 'failed') {
        await removeRecord(path)
        throw new Failure('timeout', record.message ?? 'it has ended', { hint: `read ${join(path, 'run.log')}` })
      }
      if ((record.state === 'ready' || !waits) && (await activeRun(folder, workloads))) break
    } else if (hasEnded())
      throw new Failure('refused', 'evenkeel run exited before it was ready', {
        hint: `read ${join(path, 'run.log')}`,
      })
    await sleep(io.clock, lookMs, { signal: io.signal })
  }
  io.stdout.write(
    json
      ? `${JSON.stringify({ pid, folder: path })}\n`
      : `Evenkeel runs in the background with pid ${pid}.\n\n  evenkeel ps     what runs\n  evenkeel down   stop it\n`,
  )
  return 0
}

async function startChild(
  { io }: Invocation,
  folder: string,
): Promise<{ readonly pid: number | undefined; hasEnded(): boolean }> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const output = await open(join(folder, 'run.log'), 'w', 0o600)
  const [, program = ''] = process.argv
  const words = process.argv.slice(2).filter((word) => word !== '--detach' && word !== '-d')
  const child = spawn(process.execPath, [...process.execArgv, program, ...words, '--plain'], {
    cwd: io.cwd,
    detached: true,
    env: { ...io.env, [variable]: 'true' },
    stdio: ['ignore', output.fd, output.fd],
  })
  let hasEnded = false
  child.once('exit', () => {
    hasEnded = true
  })
  child.once('error', () => {
    hasEnded = true
  })
  child.unref()
  await output.close()
  return { pid: child.pid, hasEnded: () => hasEnded }
}
