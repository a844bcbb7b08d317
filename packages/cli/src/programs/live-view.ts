/**
 * What goes on, in a terminal: the objects of the program's kinds, how each is, and the last lines of the log.
 *
 * It draws over itself at most a few times a second, and only when something changed. Where there is no terminal the
 * log is printed line by line instead.
 */
import type { Kind, KubeObject } from 'evenkeel/api'
import type { Manager } from 'evenkeel/manager'
import type { Output } from '../frame/command.ts'
import { stateOf } from '../objects/state-of.ts'
import { duration } from '../printing/ago.ts'
import { safeText } from '../printing/safe-text.ts'

const linesMax = 8
const objectsMax = 20
const redrawMs = 250

export interface ViewOptions {
  readonly stdout: Output
  readonly manager: Manager
  readonly kinds: readonly Kind[]
  /** What stands above everything. */
  readonly heading: string
  readonly clock: { now(): number, every(ms: number, call: () => void): () => void }
}

export class LiveView {
  readonly #options: ViewOptions
  readonly #log: string[] = []
  #drawn = ''
  #height = 0
  #stop: (() => void) | undefined

  constructor(options: ViewOptions) {
    this.#options = options
  }

  start(): void {
    this.#stop = this.#options.clock.every(redrawMs, () => { this.draw() })
    this.draw()
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** One line of the log. */
  tell(line: string): void {
    this.#log.push(...safeText(line).split('\n').filter((each) => each !== ''))
    this.#log.splice(0, this.#log.length - linesMax)
  }

  draw(): void {
    const { stdout, heading } = this.#options
    const { columns = 100 } = stdout
    const lines = [...heading.split('\n'), '', ...this.#objects(), '', ...this.#log].map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
    const text = lines.join('\n')
    if (text === this.#drawn) return
    stdout.write(`${this.#height === 0 ? '' : `\u001b[${this.#height}A\r`}\u001b[J${text}\n`)
    this.#drawn = text
    this.#height = lines.length
  }

  #objects(): readonly string[] {
    const { manager: { cache }, kinds } = this.#options
    const all = kinds.flatMap((kind) => listOf(() => cache.list(kind)).map((object) => ({ ...object, kind: kind.kind }) as KubeObject))
    const shown = all.slice(0, objectsMax).map((object) => this.#line(object))
    if (all.length === 0) return ['  (no objects yet)']
    return all.length > objectsMax ? [...shown, `  and ${all.length - objectsMax} more`] : shown
  }

  #line(object: KubeObject): string {
    const { manager: { ledger }, clock } = this.#options
    const { word, isGood, why } = stateOf(object)
    const { name = '', namespace } = object.metadata
    const last = ledger.entries({ limit: 200 }).find(({ key }) => key.endsWith(`/${object.kind}/${namespace ?? ''}/${name}`))
    const when = last ? `  reconciled ${duration(clock.now() - last.startedMs)} ago` : ''
    return safeText(`  ${isGood === undefined ? '·' : isGood ? '✓' : '✗'} ${`${object.kind.toLowerCase()}/${name}`.padEnd(28)} ${word}${isGood === false && why !== '' ? `: ${why}` : ''}${when}`)
  }
}

/** A kind that is not followed yet has no list. */
function listOf<T>(list: () => readonly T[]): readonly T[] {
  try {
    return list()
  } catch {
    return []
  }
}
