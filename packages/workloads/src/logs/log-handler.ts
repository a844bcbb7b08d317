/**
 * The `log` subresource of Processes.
 *
 *   request ──▶ query, runs: may it be read at all? ──no──▶ 400, 404 or 422, a Status
 *                 └─▶ the log of one run ──with follow──▶ its growth, then a mark and the next run, until the object is gone
 *
 * Bytes are those of the program: nothing is added but what the query asks for, and lines that begin with `---` where
 * another run begins or bytes are missing.
 */
import { ApiError } from 'evenkeel'
import type { FollowedObject, LogOptions, StreamHandler, StreamRequest } from 'evenkeel/server'
import { parseTime } from 'evenkeel/unstable/api'
import { onAbort, type Clock, type Logger } from 'evenkeel/unstable/base'
import type { ProcessObject } from '../process-kind.ts'
import { firstBytes } from './first-bytes.ts'
import type { LogKeeper, OpenLog } from './log-keeper.ts'
import { parsePosition, type LogPosition } from './log-position.ts'
import { chooseRun, isRunOver, loggedRuns, markOf, type LoggedRun } from './run-logs.ts'
import { openRun, RunReader, type RunSelection } from './run-reader.ts'
import { systemLines } from './system-log.ts'

interface LogHandlerServices {
  readonly keeper: Pick<LogKeeper, 'open'>
  readonly clock: Clock
  readonly log?: Logger | undefined
}

const sources = ['all', 'stdout', 'stderr', 'system']

export function logHandler(services: LogHandlerServices): StreamHandler {
  return async (request) => {
    // The server is loaded when there is one.
    const { FollowedObject: Followed, readLogOptions } = await import('evenkeel/server')
    const options = readLogOptions(request.query, { sources })
    const follow = (): FollowedObject =>
      new Followed(request, {
        onFailure: (error) => {
          const { name: object, namespace } = request.object.metadata
          services.log?.error('cannot follow an object with an open log', { kind: 'Process', object, namespace, error })
        },
      })
    const body = await bodyOf(request, options, { ...services, follow })
    return {
      headers: { 'content-type': 'text/plain' },
      body: options.limitBytes === undefined ? body : firstBytes(body, options.limitBytes),
    }
  }
}

interface BodyServices extends LogHandlerServices {
  readonly follow: () => FollowedObject
}

type Body = AsyncIterable<Uint8Array>

/** Refuses before the first byte, so that the client gets a Status. */
async function bodyOf(request: StreamRequest, options: LogOptions, services: BodyServices): Promise<Body> {
  const process = request.object as unknown as ProcessObject
  if (options.source === 'system') return systemBody(process, options, services)
  checkSource(process, options.source)
  if (options.previous && options.run !== undefined)
    throw new ApiError('BadRequest', 'use either previous or run: previous is the run before the last one')
  const logs = new ProcessLogs(request, options, services)
  await logs.open()
  return logs.pieces()
}

function checkSource({ metadata, spec }: ProcessObject, source: string | undefined): void {
  if ((source !== 'stdout' && source !== 'stderr') || spec.log?.separateStderr) return
  throw new ApiError(
    'BadRequest',
    `Process ${metadata.name} writes stdout and stderr to one log: set spec.log.separateStderr to true to read one of them`,
  )
}

/** The logs of one run after another. */
class ProcessLogs {
  readonly #request: StreamRequest
  readonly #options: LogOptions
  readonly #services: BodyServices
  readonly #object: FollowedObject | undefined
  readonly #after: LogPosition | undefined
  /** Only one run was asked for. */
  readonly #isFixed: boolean
  #run: LoggedRun | undefined
  #logs: readonly OpenLog[] | undefined

  constructor(request: StreamRequest, options: LogOptions, services: BodyServices) {
    this.#request = request
    this.#options = options
    this.#services = services
    this.#after = options.after === undefined ? undefined : parsePosition(options.after)
    this.#isFixed = options.run !== undefined || options.previous
    this.#object = options.follow ? services.follow() : undefined
  }

  get #process(): ProcessObject {
    return (this.#object?.newest ?? this.#request.object) as unknown as ProcessObject
  }

  /** @throws {ApiError} when there is nothing to read, now or later */
  async open(): Promise<void> {
    if (this.#after) this.#run = this.#runFrom(this.#after.run)
    else if (this.#object && !this.#isFixed) this.#run = loggedRuns(this.#process).at(-1)
    else
      this.#run = chooseRun(this.#process, {
        previous: this.#options.previous,
        ...(this.#options.run !== undefined && { run: this.#options.run }),
      })
    if (!this.#run) return
    this.#logs = await openRun(this.#run, this.#options.source, this.#services)
    // A client that leaves before the first piece.
    onAbort(this.#request.signal, () => {
      for (const open of this.#logs ?? []) void open.close()
      this.#logs = undefined
    })
  }

  /** The first run from a number on that still has a log. */
  #runFrom(number: number): LoggedRun | undefined {
    return loggedRuns(this.#process).find((run) => run.number >= number)
  }

  async *pieces(): AsyncGenerator<Uint8Array, void> {
    const state = { isAtLineStart: true }
    const { positions = false, follow } = this.#options
    const goesOn = (follow || this.#after !== undefined) && !this.#isFixed
    let isFirst = true
    let shown = (this.#after?.run ?? 0) - 1
    while (!this.#request.signal.aborted) {
      const run = this.#run ?? (await this.#nextRun(shown, goesOn))
      if (!run) return
      const reader = await this.#readerOf(run, isFirst)
      try {
        if (isFirst && positions) yield Buffer.from(`positions: ${reader?.position ?? `${run.number}:0`}\n`)
        if (!isFirst || (this.#after && run.number > this.#after.run))
          yield Buffer.from(`${state.isAtLineStart ? '' : '\n'}${this.#markOf(run)}\n`)
        state.isAtLineStart = true
        if (reader) yield* reader.pieces(state)
      } finally {
        await reader?.close()
      }
      shown = run.number
      this.#run = undefined
      isFirst = false
      if (this.#isFixed) return
    }
  }

  #markOf(run: LoggedRun): string {
    const { positions, timestamps } = this.#options
    return `${positions ? `${run.number}:0 ` : ''}${timestamps ? `${run.startedAt} ` : ''}${markOf(run)}`
  }

  async #readerOf(run: LoggedRun, isFirst: boolean): Promise<RunReader | undefined> {
    const { keeper, clock } = this.#services
    const logs = this.#logs ?? (await openRun(run, this.#options.source, this.#services))
    this.#logs = undefined
    if (!logs) return undefined
    const reader = new RunReader(run.number, logs, {
      keeper,
      signal: this.#request.signal,
      now: () => clock.now(),
      ...this.#selection(run, isFirst),
      isOver: () => this.#isOver(run),
      changed: () => this.#object?.changed() ?? new Promise(() => undefined),
    })
    await reader.begin()
    return reader
  }

  /** Later runs are read from their beginning. */
  #selection({ number }: LoggedRun, isFirst: boolean): RunSelection {
    const { tailLines, sinceSeconds, sinceTimeMs, timestamps, positions = false } = this.#options
    const form = { timestamps, positions }
    if (this.#after) return { ...form, offsets: this.#after.run === number ? this.#after.offsets : undefined }
    if (!isFirst) return form
    const sinceMs = sinceSeconds === undefined ? sinceTimeMs : this.#services.clock.now() - sinceSeconds * 1000
    return { ...form, tailLines, sinceMs }
  }

  /** Nothing more comes, or another run has begun: that begins when nothing of the one before is left. */
  #isOver({ number }: LoggedRun): boolean {
    if (!this.#object || this.#object.isGone) return true
    return this.#isFixed ? isRunOver(this.#process, number) : (this.#process.status?.run?.number ?? 0) > number
  }

  async #nextRun(shown: number, goesOn: boolean): Promise<LoggedRun | undefined> {
    if (!goesOn) return undefined
    const find = (): LoggedRun | undefined => this.#runFrom(shown + 1)
    return this.#object ? this.#object.until(find, (run) => run !== undefined) : find()
  }
}

/** What Evenkeel did, as lines. */
async function* systemBody(
  process: ProcessObject,
  options: LogOptions,
  { follow, clock }: BodyServices,
): AsyncGenerator<Uint8Array, void> {
  const { tailLines, sinceSeconds, sinceTimeMs, timestamps } = options
  const object = options.follow ? follow() : undefined
  const sinceMs = sinceSeconds === undefined ? sinceTimeMs : clock.now() - sinceSeconds * 1000
  const shown = new Set<string>()
  let isFirst = true
  let newest = process
  for (;;) {
    const isGone = object === undefined || object.isGone
    const changed = object?.changed()
    const fresh = systemLines(newest).filter(({ key }) => !shown.has(key))
    for (const { key } of fresh) shown.add(key)
    const recent = fresh.filter(({ at }) => sinceMs === undefined || (parseTime(at) ?? 0) >= sinceMs)
    const chosen = isFirst && tailLines !== undefined ? recent.slice(Math.max(0, recent.length - tailLines)) : recent
    isFirst = false
    const text = chosen.map((line) => `${timestamps ? `${line.at} ` : ''}${line.text}\n`).join('')
    if (text !== '') yield Buffer.from(text)
    if (isGone) return
    await changed
    newest = object.newest as unknown as ProcessObject
  }
}
