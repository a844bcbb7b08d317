/**
 * What a running manager says about its reconciles, asked at its debug endpoint.
 *
 * `evenkeel up` leaves the address in the data folder; any other manager is named with `--manager`. Without one the
 * server's side of the story is all there is, and commands say so.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControllerHealth, LedgerEntry } from 'evenkeel/controller'
import type { Io, Options, Values } from '../frame/command.ts'
import { Failure } from '../frame/failure.ts'

/** Where `evenkeel up` leaves the address of its manager. */
export const managerFileName = 'manager.json'

export const ofManager: Options = { manager: { type: 'string', value: 'URL', about: 'the endpoints of a running manager (default: that of evenkeel up in this folder)' } }

export interface ManagerReport {
  readonly controllers: readonly ControllerHealth[]
  /** Newest first. */
  readonly runs: readonly LedgerEntry[]
}

/** Undefined when none is named and none runs here. @throws {Failure} `no-server` when the one that was named does not answer. */
export async function readManager(values: Values, io: Pick<Io, 'cwd' | 'signal'>): Promise<ManagerReport | undefined> {
  const given = values.text('manager')
  const url = given ?? await leftAddress(io.cwd)
  if (url === undefined) return undefined
  try {
    return await readJson(new URL('/debug/reconciles', url), io) as ManagerReport
  } catch (error) {
    if (given === undefined) return undefined
    throw new Failure('no-server', `no manager answers at ${given}: ${(error as Error).message}`, { cause: error, hint: 'start it with endpoints: { port }, and name that port' })
  }
}

/** One JSON document of a manager's endpoints. */
export async function readJson(url: URL, { signal }: Pick<Io, 'signal'>): Promise<unknown> {
  const answer = await fetch(url, { signal })
  if (!answer.ok) throw new Error(`${url.pathname} answers ${answer.status}`)
  return answer.json()
}

async function leftAddress(cwd: string): Promise<string | undefined> {
  try {
    const { url } = JSON.parse(await readFile(join(cwd, 'data', managerFileName), 'utf8')) as { url?: unknown }
    return typeof url === 'string' ? url : undefined
  } catch {
    return undefined
  }
}
