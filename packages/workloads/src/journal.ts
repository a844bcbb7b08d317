/**
 * The session file: which processes Evenkeel has started, so that another Evenkeel and the watchdog find them after a crash.
 *
 * One line per event, five words that a shell can read; the last is JSON:
 *
 *   session 5f0c1d2e 4711 98000 {"bootId":"3f1c…"}                      Evenkeel 4711 opened the session
 *   start   5f0c1d2e/session/9b1d…/1 0 0 {"name":"web",…}               before the program is started
 *   started 5f0c1d2e/session/9b1d…/1 812 99120 {"bootId":"3f1c…"}       after it: pid and start time
 *   stopping 5f0c1d2e/session/9b1d…/1 0 0 {"reason":"Stopped"}          before it is signalled
 *   ended   5f0c1d2e/session/9b1d…/1 812 99120 {"exitCode":0}           its first process has ended
 *   refused 5f0c1d2e/session/9b1d…/2 0 0 {}                             it could not be started
 *   forget  5f0c1d2e/session/9b1d…/1 0 0 {}                             its object is gone, and so is every process
 *
 * A `start` without `started` is a crash in between: the mark, which is in the environment of the process, tells whether
 * one was started.
 *
 * Invariants: `append` resolves when the line is in the file; the lines of one run are in order; a line that was written
 * twice means the same as once.
 */
import type { Files } from './files.ts'
import type { ProcessIdentity } from './process-host.ts'

/** Ends with Evenkeel, or is left when Evenkeel ends. */
export type Lifetime = 'session' | 'persistent'

type JournalEvent = 'session' | 'start' | 'started' | 'stopping' | 'ended' | 'refused' | 'forget'

export interface JournalLine {
  readonly event: JournalEvent
  /** Of the run; of a line `session` the name of the session. */
  readonly mark: string
  readonly identity?: ProcessIdentity
  readonly facts: Readonly<Record<string, unknown>>
}

/** `SESSION/LIFETIME/UID/NUMBER`: one run of one object. */
export function markOfRun(
  session: string,
  run: { readonly lifetime: Lifetime; readonly uid: string; readonly number: number },
): string {
  return `${session}/${run.lifetime}/${run.uid}/${run.number}`
}

export function parseMark(
  mark: string,
): { readonly lifetime: Lifetime; readonly uid: string; readonly number: number } | undefined {
  const [, lifetime, uid, number] = mark.split('/')
  if ((lifetime !== 'session' && lifetime !== 'persistent') || uid === undefined || !/^\d+$/.test(number ?? ''))
    return undefined
  return { lifetime, uid, number: Number(number) }
}

function formatLine({ event, mark, identity, facts }: JournalLine): string {
  const { pid = 0, startTicks = 0, bootId } = identity ?? {}
  return `${event} ${mark} ${pid} ${startTicks} ${JSON.stringify({ ...(bootId !== undefined && { bootId }), ...facts })}\n`
}

const events: ReadonlySet<string> = new Set(['session', 'start', 'started', 'stopping', 'ended', 'refused', 'forget'])

/** The lines of a session file. A line that was cut off by a crash of the machine is skipped. */
function parseJournal(text: string): readonly JournalLine[] {
  return text.split('\n').flatMap((line) => {
    const [event = '', mark = '', pid = '', ticks = '', ...json] = line.split(' ')
    const facts = factsOf(json.join(' '))
    if (!events.has(event) || facts === undefined) return []
    const { bootId, ...rest } = facts
    const identity =
      typeof bootId === 'string' ? { identity: { pid: Number(pid), startTicks: Number(ticks), bootId } } : {}
    return [{ event: event as JournalEvent, mark, ...identity, facts: rest }]
  })
}

function factsOf(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

interface JournalOptions {
  readonly files: Files
  readonly path: string
}

/** A line on its way into the file. */
interface Pending {
  readonly text: string
  /** Kept until it is written, however often that fails. */
  readonly isKept: boolean
  settle(error?: Error): void
}

export class Journal {
  readonly #files: Files
  readonly #path: string
  #pending: Pending[] = []
  #isWriting = false

  constructor({ files, path }: JournalOptions) {
    this.#files = files
    this.#path = path
  }

  async read(): Promise<readonly JournalLine[]> {
    return parseJournal((await this.#files.findText(this.#path)) ?? '')
  }

  /** Resolves when the line is in the file. @throws when it cannot be written: then it never will be. */
  append(line: JournalLine): Promise<void> {
    return this.#add(line, false)
  }

  /** Like `append`, but a line that cannot be written is written with a later one. */
  record(line: JournalLine): Promise<void> {
    return this.#add(line, true)
  }

  /** Replaces the file by these lines. */
  rewrite(lines: readonly JournalLine[]): Promise<void> {
    return this.#files.replaceText(this.#path, lines.map(formatLine).join(''))
  }

  #add(line: JournalLine, isKept: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#pending.push({ text: formatLine(line), isKept, settle })
      if (!this.#isWriting) void this.#write()
    })
  }

  /** Lines that come while others are written are written together. */
  async #write(): Promise<void> {
    this.#isWriting = true
    const kept: Pending[] = []
    while (this.#pending.length > 0) kept.push(...(await this.#writeTogether(this.#pending.splice(0))))
    this.#pending = kept
    this.#isWriting = false
  }

  /** If that fails, each alone: one line that cannot be written must not hold up the others. Returns lines to keep. */
  async #writeTogether(lines: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      await this.#files.appendText(this.#path, lines.map(({ text }) => text).join(''))
      for (const { settle } of lines) settle()
      return []
    } catch (error) {
      if (lines.length > 1) return this.#writeEach(lines)
      for (const { settle } of lines) settle(error instanceof Error ? error : new Error(String(error)))
      return lines.filter(({ isKept }) => isKept)
    }
  }

  async #writeEach(lines: readonly Pending[]): Promise<readonly Pending[]> {
    const kept: Pending[] = []
    for (const line of lines) kept.push(...(await this.#writeTogether([line])))
    return kept
  }
}
