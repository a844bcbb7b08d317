/**
 * The lines of a log that is followed, over broken connections and restarts of the server.
 *
 * A server that knows positions puts one before each line; after a break the command asks for what follows the last one. So
 * no line is lost, and none is printed twice.
 *
 *   positions: 2:0         the first line of such a server
 *   2:14 listening         a line, and where the next one begins
 *
 * Another server sends lines as they are. Then a broken connection is an error.
 */
import type { KubeObject } from 'evenkeel'
import { isConnectionError, type Client } from 'evenkeel/client'
import { isApiError } from 'evenkeel/unstable/api'
import { sleep, type Clock } from 'evenkeel/unstable/base'

type Parameters = Readonly<Record<string, string | number | boolean>>

interface FollowOptions {
  readonly parameters: Parameters
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Makes a client; called again after a break, because the server may have another address then. */
  connect(): Promise<Client>
  /** Called when the connection has broken and is made again. */
  onBreak(): void
}

/** How long to wait before each attempt: longer and longer. */
const [pauseMs, pauseMaxMs] = [100, 2000]
const lineLengthMax = 4 * 1024 * 1024

/** Ends when the server says that nothing more comes. */
export async function* followLines(object: KubeObject, options: FollowOptions): AsyncGenerator<string, void> {
  const { signal, clock, onBreak } = options
  const place = new Place(options.parameters)
  let pause = pauseMs
  for (;;) {
    try {
      yield* linesUntilEnd(object, place, options)
      if (place.isOver) return
    } catch (error) {
      const isHarmless = place.isKnown || (place.isUnread && isConnectionError(error) && cutOff.has(error.problem))
      if (signal.aborted || !isHarmless || !isPassing(error)) throw error
    }
    if (!place.isResumed) {
      onBreak()
      pause = pauseMs
    }
    place.resume()
    await sleep(clock, pause, { signal })
    pause = Math.min(pause * 2, pauseMaxMs)
  }
}

/** One connection. */
async function* linesUntilEnd(
  object: KubeObject,
  place: Place,
  { signal, connect }: FollowOptions,
): AsyncGenerator<string, void> {
  const client = await connect()
  if (place.isResumed && (place.isOver = await isGone(client, object, signal))) return
  for await (const line of linesOf(client, object, { parameters: place.parameters, signal })) {
    const shown = place.take(line)
    if (shown !== undefined) yield shown
  }
  place.isOver = !place.isKnown || place.isFixed || (await isGone(client, object, signal))
}

/** Where a reader is in the log. */
class Place {
  readonly #given: Parameters
  #after: string | undefined
  #isFirst = true
  #hasPositions = false
  /** The connection broke, and the server has not answered since. */
  isResumed = false
  /** Nothing more comes. */
  isOver = false

  constructor(given: Parameters) {
    this.#given = given
  }

  /** Whether a break can be mended. */
  get isKnown(): boolean {
    return this.#after !== undefined
  }

  /** Nothing was printed: from the beginning again repeats nothing. */
  get isUnread(): boolean {
    return this.#isFirst
  }

  /** Only one run is shown, so the end of the stream is the end. */
  get isFixed(): boolean {
    return this.#given['previous'] !== undefined || this.#given['run'] !== undefined
  }

  get parameters(): Parameters {
    if (this.#after === undefined) return { ...this.#given, positions: true }
    const { tailLines: _, sinceSeconds: _since, ...rest } = this.#given
    return { ...rest, positions: true, after: this.#after }
  }

  resume(): void {
    this.isResumed = true
    this.#isFirst = true
  }

  /** The line without its position; undefined for the first one of a server that knows positions. */
  take(line: string): string | undefined {
    const isFirst = this.#isFirst
    this.#isFirst = false
    const first = isFirst ? /^positions: (\S+)$/.exec(line)?.[1] : undefined
    if (first !== undefined) {
      this.#hasPositions = true
      this.#after ??= first
      this.isResumed = false
      return undefined
    }
    if (!this.#hasPositions) return line
    const end = line.indexOf(' ')
    this.#after = line.slice(0, end)
    return line.slice(end + 1)
  }
}

async function isGone(client: Client, object: KubeObject, signal: AbortSignal): Promise<boolean> {
  const { name = '', namespace, uid } = object.metadata
  const found = await client.find(object, { name, ...(namespace !== undefined && { namespace }) }, { signal })
  return found?.metadata.uid !== uid
}

/** Problems of a connection that was there. */
const cutOff: ReadonlySet<string> = new Set(['reset', 'garbled'])

/** A server that starts refuses for a moment. */
function isPassing(error: unknown): boolean {
  return isConnectionError(error) || (isApiError(error) && (error.code >= 500 || error.code === 429))
}

interface LinesOptions {
  readonly parameters: Parameters
  readonly signal: AbortSignal
}

/** The lines of a stream; the last one may have no end. */
export async function* linesOf(
  client: Client,
  object: KubeObject,
  { parameters, signal }: LinesOptions,
): AsyncGenerator<string, void> {
  let rest = ''
  for await (const piece of client.subresource('log').stream(object, { parameters, signal })) {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
    // A program may write a line without an end: it must not fill the memory.
    if (rest.length > lineLengthMax) {
      yield rest
      rest = ''
    }
  }
  if (rest !== '') yield rest
}
