/**
 * The live view of `evenkeel up`: the objects of the reconciled kinds with their state, the last reconcile of each and its
 * cause, and the last log lines. Without a terminal: log lines only.
 *
 * The view redraws a few times a second at most, only after a change, and never more lines than fit: a terminal cannot
 * overwrite lines that have scrolled out.
 */
import type { Kind, KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { Ledger, LedgerEntry } from 'evenkeel/unstable/controller'
import type { Manager } from 'evenkeel/controller'
import type { SystemClock } from 'evenkeel/unstable/base'
import type { ObjectCache } from 'evenkeel/unstable/cache'
import type { Invocation, Output } from './command.ts'
import { stateOf } from './object-state.ts'
import { duration, safeText } from './terminal.ts'
import { causeLines, isKeyOf } from './why-changed.ts'

const redrawMs = 250
const logLinesMax = 8
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
  readonly #log: string[] = []
  #drawn = ''
  #height = 0
  #stop: () => void = () => undefined

  constructor(options: LiveViewOptions) {
    this.#options = options
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

  /** A log line. */
  log(line: string): void {
    this.#log.push(
      ...safeText(line)
        .split('\n')
        .filter((each) => each !== ''),
    )
    this.#log.splice(0, this.#log.length - logLinesMax)
  }

  draw(): void {
    const { stdout, heading } = this.#options
    const columns = stdout.columns || 100
    const rows = stdout.rows || 40
    const above = heading.split('\n')
    const log = this.#log.slice(-Math.max(1, Math.floor(rows / 4)))
    const below = log.length === 0 ? [] : ['', ...log]
    const room = Math.max(3, rows - above.length - below.length - 2)
    const lines = [...above, '', ...this.#objects(room), ...below]
      .slice(-rows + 1)
      .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
    const text = lines.join('\n')
    if (text === this.#drawn) return
    stdout.write(`${this.#height === 0 ? '' : `\u001b[${this.#height}A\r`}\u001b[J${text}\n`)
    this.#drawn = text
    this.#height = lines.length
  }

  /** Objects with a problem first. */
  #objects(room: number): readonly string[] {
    const { cache, kinds, ledger } = this.#options
    const all = kinds.flatMap((kind) =>
      listOf(() => cache.list(kind)).map((object) => ({ ...object, kind: kind.kind }) as KubeObject),
    )
    if (all.length === 0)
      return [`  No objects yet${kinds.length === 0 ? '' : ` of ${kinds.map(({ plural }) => plural).join(', ')}`}.`]
    const well = (object: KubeObject): number => (stateOf(object).isGood === false ? 0 : 1)
    const shown = all.toSorted((a, b) => well(a) - well(b)).slice(0, all.length > room ? room - 1 : room)
    const runs = ledger.entries({ limit: runsMax })
    const width = Math.max(...shown.map((object) => refOf(object).length))
    const lines = shown.map((object) =>
      this.#line(object, {
        width,
        run: runs.find(({ key }) => isKeyOf(key, { kind: object.kind, ...object.metadata })),
      }),
    )
    return all.length > shown.length ? [...lines, `  and ${all.length - shown.length} more`] : lines
  }

  #line(object: KubeObject, { width, run }: { width: number; run: LedgerEntry | undefined }): string {
    const { word, isGood, why } = stateOf(object)
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

function refOf({ kind, metadata: { name = '', namespace = 'default' } }: KubeObject): string {
  return `${kind.toLowerCase()}/${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`
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
  readonly #clock: SystemClock
  readonly #stop = new AbortController()
  readonly isLive: boolean
  #view: LiveView | undefined
  #following: Promise<void> = Promise.resolve()

  constructor(call: Invocation, clock: SystemClock) {
    this.#call = call
    this.#clock = clock
    this.isLive = call.io.stdout.isTTY === true && !call.values.flag('plain') && !call.json
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

  log(text: string): void {
    if (this.#view) this.#view.log(text)
    else this.#call.io.stderr.write(text)
  }

  async stop(): Promise<void> {
    this.#view?.stop()
    this.#view = undefined
    this.#stop.abort(new Error('stopped'))
    await this.#following
  }
}
