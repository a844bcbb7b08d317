/**
 * What an `evenkeel run` leaves in its data folder while it runs, so that `ps`, `logs` and `down` find it, and a second one is refused.
 *
 *   data/run.json                 { "pid": 4711, "startTicks": 98000, "namespace": "default", "state": "ready" }
 *   data/copies/blue/run.json     the same of `evenkeel run --copy blue`
 *
 * Invariant: a record counts only while the process with its pid and start time lives.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { OptionSpecs, OptionValues } from '../command.ts'
import { Failure } from '../failure.ts'
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
export function dataFolderOf(values: OptionValues, cwd: string): string {
  const copy = copyNameOf(values)
  const folder = resolve(cwd, values.text('data') ?? 'data')
  return copy === undefined ? folder : join(folder, 'copies', copy)
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

/** The record as it is written; undefined when there is none. */
export async function readRecord(folder: string): Promise<RunRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(join(folder, fileName), 'utf8')) as RunRecord
    return Number.isInteger(record.pid) ? record : undefined
  } catch {
    return undefined
  }
}

/** Whether the program of a record lives. */
export function isAlive(
  { pid, startTicks }: RunRecord,
  { systemTable }: Pick<WorkloadsPackage, 'systemTable'>,
): boolean {
  return systemTable().find(pid)?.startTicks === startTicks
}

/** The `evenkeel run` that is active in a data folder. */
export async function activeRun(
  folder: string,
  workloads: Pick<WorkloadsPackage, 'systemTable'>,
): Promise<RunRecord | undefined> {
  const record = await readRecord(folder)
  return record && record.state !== 'failed' && isAlive(record, workloads) ? record : undefined
}

/** @throws {Failure} `busy` when another one is active */
export async function refuseSecond(folder: string, workloads: Pick<WorkloadsPackage, 'systemTable'>): Promise<void> {
  const active = await activeRun(folder, workloads)
  if (!active || active.pid === process.pid) return
  throw new Failure('busy', `evenkeel run is active in ${folder} with pid ${active.pid}`, {
    hint: ['evenkeel ps', 'evenkeel down', 'evenkeel run --copy NAME: a copy with a namespace and ports of its own'],
  })
}
