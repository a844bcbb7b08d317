/**
 * What running managers say about their reconciles, asked at their debug endpoints.
 *
 * `evenkeel up` leaves their addresses in the data folder; any other manager is named with `--manager`. Without one the
 * server's side of the story is all there is, and commands say so.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControllerHealth } from 'evenkeel/controller'
import type { LedgerEntry } from 'evenkeel/unstable/controller'
import type { Io, OptionSpecs, OptionValues } from './command.ts'
import { Failure } from './failure.ts'

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
export async function readManager(
  values: OptionValues,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<ManagerReport | undefined> {
  const reports = (await readEndpoints('/debug/reconciles', values, io)) as readonly ManagerReport[]
  if (reports.length === 0) return undefined
  return {
    controllers: reports.flatMap(({ controllers }) => controllers),
    runs: reports.flatMap(({ runs }) => runs).toSorted((a, b) => b.startedMs - a.startedMs),
  }
}

/** What the rules found. Undefined when no manager runs here. @throws {Failure} `no-server` */
export async function readRules(
  values: OptionValues,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<readonly RuleFinding[] | undefined> {
  const reports = (await readEndpoints('/debug/rules', values, io)) as readonly { findings: readonly RuleFinding[] }[]
  return reports.length === 0 ? undefined : reports.flatMap(({ findings }) => findings)
}

/** What each of them says. One that was named must answer; of those that run here, those that do. */
async function readEndpoints(
  path: string,
  values: OptionValues,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<readonly unknown[]> {
  const given = values.text('manager')
  if (given === undefined) {
    const answers = await Promise.allSettled(
      (await readManagerFile(io.cwd)).map((url) => readJson(new URL(path, url), io)),
    )
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }
  if (!URL.canParse(path, given))
    throw new Failure('usage', `--manager must be a URL, got ${JSON.stringify(given)}`, {
      hint: '--manager http://127.0.0.1:8080',
    })
  try {
    return [await readJson(new URL(path, given), io)]
  } catch (error) {
    throw new Failure('no-server', `no manager answers at ${given}: ${reasonOf(error as Error)}`, {
      cause: error,
      hint: 'start it with endpoints: { port }, and name that port',
    })
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

/*
 * Where the managers that run in a folder can be asked: `evenkeel up` leaves their addresses in its data folder.
 *
 * A program may run managers of its own beside the one of `up`, and exchange them; each has a name, and the last one
 * that listened under it counts. Only the process that owns the data folder writes the file, so it is its to remove.
 */

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

  /** From now on it is written: the folder is ours. */
  open(): Promise<void> {
    this.#isOpen = true
    return this.#write()
  }

  /** A manager listens; one of the same name does no longer. */
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

  /** One after the other: the last one has them all. */
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

/** The addresses that were left in this folder's `data`; none if there are none. */
async function readManagerFile(cwd: string): Promise<readonly string[]> {
  try {
    const { managers = [] } = JSON.parse(await readFile(join(cwd, 'data', fileName), 'utf8')) as {
      managers?: readonly { readonly url?: unknown }[]
    }
    return managers.flatMap(({ url }) => (typeof url === 'string' ? [url] : []))
  } catch {
    return []
  }
}
