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
 * one was started. Lines of one turn are written together. Lines are written in order; a line that could not be written is
 * written with the next one, and a line that was written twice means the same as once.
 *
 * Invariant: `append` resolves when the line is in the file.
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

export class Journal {
  readonly #files: Files
  readonly #path: string
  #pending = ''
  #writing: Promise<void> | undefined

  constructor({ files, path }: JournalOptions) {
    this.#files = files
    this.#path = path
  }

  async read(): Promise<readonly JournalLine[]> {
    return parseJournal((await this.#files.findText(this.#path)) ?? '')
  }

  /** @throws when the file cannot be written; the line is then written with the next one. */
  append(line: JournalLine): Promise<void> {
    this.#pending += formatLine(line)
    return this.#flush()
  }

  /** Replaces the file by these lines. */
  rewrite(lines: readonly JournalLine[]): Promise<void> {
    return this.#files.replaceText(this.#path, lines.map(formatLine).join(''))
  }

  async #flush(): Promise<void> {
    // The write under way may have begun before our line: then ours is in the next one.
    while (this.#writing) await this.#writing.catch(() => undefined)
    if (this.#pending === '') return
    this.#writing = this.#writePending()
    await this.#writing
  }

  async #writePending(): Promise<void> {
    const text = this.#pending
    this.#pending = ''
    try {
      await this.#files.appendText(this.#path, text)
    } catch (error) {
      this.#pending = text + this.#pending
      throw error
    } finally {
      this.#writing = undefined
    }
  }
}
