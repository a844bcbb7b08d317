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

/** A rule that a running manager was seen to break. */
export interface RuleFinding {
  readonly rule: string
  readonly severity: string
  readonly about: string
  readonly message: string
  readonly hint?: string
  readonly seen: number
}

/** Undefined when none is named and none runs here. @throws {Failure} `no-server` when the one that was named does not answer. */
export async function readManager(values: Values, io: Pick<Io, 'cwd' | 'signal'>): Promise<ManagerReport | undefined> {
  return await read('/debug/reconciles', values, io) as ManagerReport | undefined
}

/** What the rules found. Undefined when no manager runs here. @throws {Failure} `no-server` */
export async function readRules(values: Values, io: Pick<Io, 'cwd' | 'signal'>): Promise<readonly RuleFinding[] | undefined> {
  const { findings } = await read('/debug/rules', values, io) as { findings?: readonly RuleFinding[] } | undefined ?? {}
  return findings
}

async function read(path: string, values: Values, io: Pick<Io, 'cwd' | 'signal'>): Promise<unknown> {
  const given = values.text('manager')
  const url = given ?? await leftAddress(io.cwd)
  if (url === undefined) return undefined
  if (!URL.canParse(path, url)) throw new Failure('usage', `--manager must be a URL, got ${JSON.stringify(url)}`, { hint: '--manager http://127.0.0.1:8080' })
  try {
    return await readJson(new URL(path, url), io)
  } catch (error) {
    if (given === undefined) return undefined
    throw new Failure('no-server', `no manager answers at ${given}: ${reasonOf(error as Error)}`, { cause: error, hint: 'start it with endpoints: { port }, and name that port' })
  }
}

/** `fetch` says that it failed; why is in the cause. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** One JSON document of a manager's endpoints. */
async function readJson(url: URL, { signal }: Pick<Io, 'signal'>): Promise<unknown> {
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
