/**
 * Reads the debug endpoints of running managers, and keeps their addresses.
 *
 * `evenkeel up` writes the addresses of its managers into the data folder (`manager.json`); `--manager` names another one.
 * Without a manager, commands use only the server and say so.
 *
 * A program may run further managers and replace them. Each has a name, and the last address of a name counts. Only the
 * process that owns the data folder writes and removes the file.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControllerHealth } from 'evenkeel/controller'
import type { LedgerEntry } from 'evenkeel/unstable/controller'
import type { Io, OptionSpecs, OptionValues } from './command.ts'
import { Failure } from './failure.ts'
import { isLoopbackUrl, readLocalFile } from './local-folder.ts'

export const managerOptions: OptionSpecs = {
  manager: {
    type: 'string',
    value: 'URL',
    about: 'the endpoints of a running manager (default: that of evenkeel up in this folder)',
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

export class ManagerFile {
  readonly #path: string
  readonly #urls = new Map<string, string>()
  #isOpen = false
  #writing: Promise<void> = Promise.resolve()

  /** @param folder the data folder */
  constructor(folder: string) {
    this.#path = join(folder, fileName)
  }

  /** Starts writing the file: this process owns the data folder. */
  open(): Promise<void> {
    this.#isOpen = true
    return this.#write()
  }

  /** Adds a manager; it replaces the one with the same name. */
  add(name: string, url: string): Promise<void> {
    this.#urls.set(name, url)
    return this.#write()
  }

  async remove(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#writing.catch(() => undefined)
    await rm(this.#path, { force: true })
  }

  /** Writes one after the other: the last write is complete. */
  #write(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve()
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(() =>
        writeFile(
          this.#path,
          `${JSON.stringify({ pid: process.pid, managers: [...this.#urls].map(([name, url]) => ({ name, url })) })}\n`,
          { mode: 0o600 },
        ),
      )
    return this.#writing
  }
}

/** The addresses in the data folder of this directory: managers of this machine. @throws {Failure} `bad-file` */
async function readManagerFile(cwd: string): Promise<readonly string[]> {
  const text = await readLocalFile(cwd, fileName)
  if (text === undefined) return []
  try {
    const { managers = [] } = JSON.parse(text) as { managers?: readonly { readonly url?: unknown }[] }
    return managers.flatMap(({ url }) => (typeof url === 'string' && isLoopbackUrl(url) ? [url] : []))
  } catch {
    return []
  }
}
