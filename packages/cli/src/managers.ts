/**
 * Reads the debug endpoints of running managers.
 *
 * `run` and `evenkeel up` write the addresses of their managers into the data folder (`manager.json`); `--manager` names
 * another one. Without a manager, commands use only the server and report that.
 */
import type { ControllerHealth } from 'evenkeel/controller'
import type { LedgerEntry } from 'evenkeel/unstable/controller'
import type { Io, OptionSpecs, OptionValues } from './command.ts'
import { Failure } from './failure.ts'
import { dataFolder, isLoopbackUrl, readLocalFile } from './local-folder.ts'

export const managerOptions: OptionSpecs = {
  manager: {
    type: 'string',
    value: 'URL',
    about: 'the endpoints of a running manager (default: that of the program that runs in this folder)',
  },
}

export interface ManagerReport {
  readonly controllers: readonly ControllerHealth[]
  /** Newest first. */
  readonly runs: readonly LedgerEntry[]
}

/** A rule that a running manager breaks. */
export interface RuleFinding {
  readonly rule: string
  readonly severity: string
  readonly about: string
  readonly message: string
  readonly hint?: string
  readonly seen: number
}

/** Undefined when no manager runs here. @throws {Failure} `no-server` when the manager of `--manager` does not respond. */
export async function readManager(
  values: OptionValues,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<ManagerReport | undefined> {
  const reports = await readEndpoints<ManagerReport>('/debug/reconciles', {
    values,
    io,
    lists: ['controllers', 'runs'],
  })
  if (reports.length === 0) return undefined
  return {
    controllers: reports.flatMap(({ controllers }) => controllers),
    runs: reports.flatMap(({ runs }) => runs).toSorted((a, b) => b.startedMs - a.startedMs),
  }
}

/** The findings of the live rules; undefined when no manager runs here. @throws {Failure} `no-server` */
export async function readRules(
  values: OptionValues,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<readonly RuleFinding[] | undefined> {
  const reports = await readEndpoints<{ findings: readonly RuleFinding[] }>('/debug/rules', {
    values,
    io,
    lists: ['findings'],
  })
  return reports.length === 0 ? undefined : reports.flatMap(({ findings }) => findings)
}

interface EndpointCall {
  readonly values: OptionValues
  readonly io: Pick<Io, 'cwd' | 'signal'>
  /** The fields that an answer must have. */
  readonly lists: readonly string[]
}

/** Reads a path of every manager. The manager of `--manager` must respond; of local managers those that do are used. */
async function readEndpoints<T>(path: string, { values, io, lists }: EndpointCall): Promise<readonly T[]> {
  const given = values.text('manager')
  const read = (url: string): Promise<T> => readJson(new URL(path, url), { ...io, lists }) as Promise<T>
  if (given === undefined) {
    const answers = await Promise.allSettled((await readManagerFile(io.cwd)).map(read))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
  if (!URL.canParse(path, given))
    throw new Failure('usage', `--manager must be a URL, got ${JSON.stringify(given)}`, {
      hint: '--manager http://127.0.0.1:8080',
    })
  try {
    return [await read(given)]
  } catch (error) {
    throw new Failure('no-server', `no response from the manager at ${given}: ${reasonOf(error as Error)}`, {
      cause: error,
      hint: 'start it with endpoints: { port }, and use that port',
    })
  }
}

/** The reason of a failed `fetch` is in its cause. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** Reads one JSON document with these lists. The address may be that of another program. */
async function readJson(
  url: URL,
  { signal, lists }: { readonly signal: AbortSignal; readonly lists: readonly string[] },
): Promise<unknown> {
  const answer = await fetch(url, { signal, redirect: 'error' })
  if (!answer.ok) throw new Error(`${url.pathname} returns ${answer.status}`)
  const value = (await answer.json()) as Record<string, unknown> | null
  if (!lists.every((name) => Array.isArray(value?.[name]))) throw new Error(`${url.pathname} is not that of a manager`)
  return value
}

const fileName = 'manager.json'

/** The addresses in the data folder of this directory: managers of this machine. @throws {Failure} `bad-file` */
async function readManagerFile(cwd: string): Promise<readonly string[]> {
  const text = await readLocalFile(dataFolder(cwd), fileName)
  if (text === undefined) return []
  try {
    const { managers = [] } = JSON.parse(text) as { managers?: readonly { readonly url?: unknown }[] }
    return managers.flatMap(({ url }) => (typeof url === 'string' && isLoopbackUrl(url) ? [url] : []))
  } catch {
    return []
  }
}
