/**
 * What an `evenkeel run` leaves in its data folder while it runs, so that `ps`, `logs` and `down` find it, and a second one is refused.
 *
 *   data/run.json                 { "pid": 4711, "startTicks": 98000, "namespace": "default", "state": "ready" }
 *   data/copies/blue/run.json     the same of `evenkeel run --copy blue`
 *
 * Invariants: a record counts only while a process of the caller with its pid and start time lives. It is read with the
 * checks of `local-folder.ts`, because the pid in it gets a signal.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OptionSpecs, OptionValues } from '../command.ts'
import { Failure } from '../failure.ts'
import { dataFolder, readLocalFile, type DataFolder } from '../local-folder.ts'
import type { WorkloadsPackage } from '../modules.ts'

export interface RunRecord {
  readonly pid: number
  readonly startTicks: number
  readonly namespace: string
  /** `failed`: it has ended; `message` says why. */
  readonly state: 'starting' | 'ready' | 'failed'
  readonly message?: string
}

const fileName = 'run.json'

/** The option of commands for one copy of an application. */
export const copyOption: OptionSpecs = {
  copy: {
    type: 'string',
    value: 'NAME',
    about: 'a copy of the application: a namespace, a data folder and ports of its own',
  },
}

/** @throws {Failure} `usage` */
export function copyNameOf(values: OptionValues): string | undefined {
  const name = values.text('copy')
  if (name === undefined || /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name
  throw new Failure(
    'usage',
    `--copy must be a name in lower case with letters, digits and -, got ${JSON.stringify(name)}`,
    {
      hint: '--copy blue',
    },
  )
}

/** The data folder of an application, or of a copy. */
export function dataFolderOf(values: OptionValues, cwd: string): DataFolder {
  return dataFolder(cwd, { root: values.text('data'), copy: copyNameOf(values) })
}

export async function writeRecord(folder: string, record: RunRecord): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, fileName)
  await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export async function removeRecord(folder: string): Promise<void> {
  await rm(join(folder, fileName), { force: true })
}

/** The record as it is written; undefined when there is none. @throws {Failure} `bad-file` when others could have written it */
export async function readRecord(folder: DataFolder): Promise<RunRecord | undefined> {
  const text = await readLocalFile(folder, fileName)
  if (text === undefined) return undefined
  try {
    const record = JSON.parse(text) as RunRecord
    // A negative pid is a group of processes.
    return Number.isInteger(record.pid) && record.pid > 0 ? record : undefined
  } catch {
    return undefined
  }
}

/** Whether the program of a record lives and the caller may end it. */
export function isAlive(
  { pid, startTicks }: RunRecord,
  { systemTable }: Pick<WorkloadsPackage, 'systemTable'>,
): boolean {
  return systemTable().find(pid)?.startTicks === startTicks && mayEnd(pid)
}

function mayEnd(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The `evenkeel run` that is active in a data folder. */
export async function activeRun(
  folder: DataFolder,
  workloads: Pick<WorkloadsPackage, 'systemTable'>,
): Promise<RunRecord | undefined> {
  const record = await readRecord(folder)
  return record && record.state !== 'failed' && isAlive(record, workloads) ? record : undefined
}

/** @throws {Failure} `busy` when another one is active */
export async function refuseSecond(
  folder: DataFolder,
  workloads: Pick<WorkloadsPackage, 'systemTable'>,
): Promise<void> {
  const active = await activeRun(folder, workloads)
  if (!active || active.pid === process.pid) return
  throw new Failure('busy', `evenkeel run is active in ${folder.path} with pid ${active.pid}`, {
    hint: ['evenkeel ps', 'evenkeel down', 'evenkeel run --copy NAME: a copy with a namespace and ports of its own'],
  })
}
