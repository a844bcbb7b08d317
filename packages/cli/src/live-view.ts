/**
 * The live view of `evenkeel up`: the objects of the reconciled kinds with their state, the last reconcile of each and its
 * cause, and the last log records. Without a terminal: log lines only.
 *
 * The view redraws a few times a second at most, only after a change, and never more lines than fit: a terminal cannot
 * overwrite lines that have scrolled out.
 *
 * A record begins with what a person needs: the error and the line of the program that threw it, then the message and the
 * object. Long records are wrapped, and never cut before the error:
 *
 *     17:59:30 error Cannot read properties of undefined (reading 'bar') at app.ts:12
 *       reconcile failed object=default/a retries=1 afterMs=5
 */
import { formatMicroTime, parseKey, stringifyJson } from 'evenkeel/unstable/api'
import type { Kind, KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { Ledger, LedgerEntry } from 'evenkeel/unstable/controller'
import type { Manager } from 'evenkeel/controller'
import { createLogger, placeOf, prettyLines, type Clock, type Logger, type LogRecord } from 'evenkeel/unstable/base'
import type { ObjectCache } from 'evenkeel/unstable/cache'
import type { Invocation, Output } from './command.ts'
import { Frame } from './frame.ts'
import { stateOf, type ObjectState } from './object-state.ts'
import { duration, safeLine, safeText, wrapText } from './terminal.ts'
import { causeLines } from './why-changed.ts'

const redrawMs = 250
const recordsMax = 8
const runsMax = 300

interface LiveViewOptions {
  readonly stdout: Output
  readonly cache: Pick<ObjectCache, 'list'>
  readonly ledger: Pick<Ledger, 'entries'>
  readonly kinds: readonly Kind[]
  /** The title line. */
  readonly heading: string
  readonly clock: { now(): number; after(ms: number, call: () => void): () => void }
}

export class LiveView {
  readonly #options: LiveViewOptions
  /** The last records, each with how often it came in a row or among the others. */
  #records: readonly CountedRecord[] = []
  readonly #frame: Frame
  #stop: () => void = () => undefined

  constructor(options: LiveViewOptions) {
    this.#options = options
    this.#frame = new Frame(options.stdout)
  }

  start(): void {
    this.draw()
    this.#stop = this.#options.clock.after(redrawMs, () => {
      this.start()
    })
  }

  /** Draws for the last time. */
  stop(): void {
    this.#stop()
    this.draw()
  }

  /** A record that is there already is counted, so that a loop of failures does not hide the others. */
  log(record: LogRecord): void {
    const id = identityOf(record)
    const count = this.#records.find((each) => each.id === id)?.count ?? 0
    this.#records = [...this.#records.filter((each) => each.id !== id), { id, record, count: count + 1 }].slice(
      -recordsMax,
    )
  }

  draw(): void {
    const { heading } = this.#options
    const { columns, rows } = this.#frame
    const above = heading.split('\n')
    const log = this.#logLines(columns, Math.max(2, Math.floor(rows / 3)))
    const below = log.length === 0 ? [] : ['', ...log]
    const room = Math.max(3, rows - above.length - below.length - 2)
    this.#frame.draw([...above, '', ...this.#objects(room), ...below])
  }

  /** The last records that fit, whole ones; of the very last at least its beginning. */
  #logLines(columns: number, room: number): readonly string[] {
    const lines: string[] = []
    for (const each of this.#records.toReversed()) {
      const own = recordLines(each, columns)
      if (lines.length > 0 && lines.length + own.length > room) break
      lines.unshift(...own.slice(0, room))
    }
    return lines
  }

  /** Objects with a problem first. */
  #objects(room: number): readonly string[] {
    const { cache, kinds, ledger } = this.#options
    const all = kinds.flatMap((kind) =>
      listOf(() => cache.list(kind)).map((object) => ({ ...object, kind: kind.kind }) as KubeObject),
    )
    if (all.length === 0)
      return [`  No objects yet${kinds.length === 0 ? '' : ` of ${kinds.map(({ plural }) => plural).join(', ')}`}.`]
    const runs = lastRuns(ledger.entries({ limit: runsMax }))
    const states = all.map((object) => {
      const { name = '', namespace = '' } = object.metadata
      const run = runs.get(`${object.kind}/${namespace}/${name}`)
      return { object, run, state: failureOf(run) ?? stateOf(object) }
    })
    const well = ({ state }: ShownState): number => (state.isGood === false ? 0 : 1)
    const shown = states.toSorted((a, b) => well(a) - well(b)).slice(0, all.length > room ? room - 1 : room)
    const width = Math.max(...shown.map(({ object }) => refOf(object).length))
    const lines = shown.map((each) => this.#line(each, width))
    return all.length > shown.length ? [...lines, `  and ${all.length - shown.length} more`] : lines
  }

  #line({ object, run, state: { word, isGood, why } }: ShownState, width: number): string {
    const mark = isGood === undefined ? '·' : isGood ? '✓' : '✗'
    const [cause] = run ? causeLines(run) : []
    const when = run
      ? `  (reconciled ${duration(this.#options.clock.now() - run.startedMs)} ago${cause === undefined ? '' : `: ${cause}`})`
      : ''
    return safeText(
      `  ${mark} ${refOf(object).padEnd(width)}  ${word}${isGood === false && why !== '' && why !== word ? `: ${why}` : ''}${when}`,
    ).replace(/\n/g, ' ')
  }
}

interface ShownState {
  readonly object: KubeObject
  readonly run: LedgerEntry | undefined
  readonly state: ObjectState
}

/** The newest reconcile of each object, by kind, namespace and name. */
function lastRuns(runs: readonly LedgerEntry[]): ReadonlyMap<string, LedgerEntry> {
  const last = new Map<string, LedgerEntry>()
  for (const run of runs) {
    const { kind, namespace = '', name } = parseKey(run.key)
    const id = `${kind}/${namespace}/${name}`
    if (!last.has(id)) last.set(id, run)
  }
  return last
}

/** An object whose last reconcile failed, whatever its status says. */
function failureOf(run: LedgerEntry | undefined): ObjectState | undefined {
  if (run?.end?.error === undefined) return undefined
  const { error, at } = run.end
  return { word: 'Failing', isGood: false, why: `${error}${at === undefined ? '' : ` at ${at}`}` }
}

function refOf({ kind, metadata: { name = '', namespace = 'default' } }: KubeObject): string {
  return `${kind.toLowerCase()}/${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`
}

/** Fields that the view shows elsewhere, or that only a machine needs. */
const hiddenFields = new Set(['controller', 'kind', 'reconcileId', 'error'])

interface CountedRecord {
  readonly id: string
  readonly record: LogRecord
  readonly count: number
}

/** What a person would call the same line: its message, object and error. */
function identityOf({ level, message, fields: { object, kind, controller, error } }: LogRecord): string {
  const problem = error instanceof Error ? messageOf(error) : error
  return [level, message, object, kind, controller, problem].map(String).join('\n')
}

function recordLines(
  { record: { level, timeMs, message, fields }, count }: CountedRecord,
  columns: number,
): readonly string[] {
  const { error } = fields
  const place = error instanceof Error ? placeOf(error) : undefined
  const problem = error === undefined ? '' : error instanceof Error ? messageOf(error) : String(error)
  const pairs = Object.entries(fields)
    .filter(([name]) => !hiddenFields.has(name))
    .map(([name, value]) => `${name}=${shortOf(value)}`)
  const rest = safeLine([message, ...pairs, ...(count > 1 ? [`(${count} times)`] : [])].join(' '))
  const start = `${formatMicroTime(timeMs).slice(11, 19)} ${level}`
  if (problem === '') return indented(`${start} ${rest}`, columns)
  const at = place === undefined ? '' : ` at ${place}`
  return [...indented(`${start} ${safeLine(`${problem}${at}`)}`, columns), ...wrapText(rest, { columns, indent: '  ' })]
}

/** `fetch failed` says nothing without its cause. */
function messageOf({ message, name, cause }: Error): string {
  const own = message === '' ? name : message
  return cause instanceof Error && cause.message !== '' ? `${own}: ${cause.message}` : own
}

/** Numbers are rounded: fractions of a millisecond are noise. */
function shortOf(value: unknown): string {
  if (typeof value === 'number') return String(Math.abs(value) < 1 ? Number(value.toFixed(2)) : Math.round(value))
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  return value instanceof Error ? JSON.stringify(messageOf(value)) : stringifyJson(value)
}

/** The lines after the first are indented. */
function indented(text: string, columns: number): readonly string[] {
  const [first = '', ...more] = wrapText(text, { columns: columns - 2 })
  return [first, ...more.map((line) => `  ${line}`)]
}

/** Empty for a kind that is not cached yet, or may not be listed. */
function listOf<T>(list: () => readonly T[]): readonly T[] {
  try {
    return list()
  } catch {
    return []
  }
}

/** Kinds in which the library keeps its own records. */
const ownGroup = 'evenkeel.dev'

interface ScreenContent {
  readonly manager: Manager
  /** Not the client of the manager: reads of the view are no requests of its controllers. */
  readonly client: Client
  readonly kinds: readonly Kind[]
  readonly heading: string
}

export class Screen {
  readonly #call: Invocation
  readonly #clock: Clock
  readonly #stop = new AbortController()
  readonly isLive: boolean
  /** Into the view, or line by line as long as there is none. */
  readonly log: Logger
  #view: LiveView | undefined
  #following: Promise<void> = Promise.resolve()

  constructor(call: Invocation) {
    const { stdout, stderr, clock } = call.io
    this.#call = call
    this.#clock = clock
    this.isLive = stdout.isTTY === true && !call.values.flag('plain') && !call.json
    const printed = prettyLines((text) => stderr.write(text), { color: stderr.isTTY === true && !this.isLive })
    this.log = createLogger({
      clock,
      sink: (record) => {
        if (this.#view) this.#view.log(record)
        else printed(record)
      },
    })
  }

  async begin({ manager, client, kinds, heading }: ScreenContent): Promise<void> {
    const { stdout } = this.#call.io
    if (!this.isLive) {
      stdout.write(`${heading}\n\n`)
      return
    }
    const { ObjectCache } = await import('evenkeel/unstable/cache')
    const cache = new ObjectCache({ client, clock: this.#clock })
    const followed = kinds.filter(({ group }) => group !== ownGroup)
    for (const kind of followed) cache.getInformer(kind)
    this.#following = cache.run(this.#stop.signal)
    this.#view = new LiveView({ stdout, cache, ledger: manager.ledger, kinds: followed, heading, clock: this.#clock })
    this.#view.start()
  }

  async stop(): Promise<void> {
    this.#view?.stop()
    this.#view = undefined
    this.#stop.abort(new Error('stopped'))
    await this.#following
  }
}
