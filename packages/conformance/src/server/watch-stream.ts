/**
 * A watch, read event by event: every wait ends with an event, the end of the stream or an error.
 */
import { abortable, deadline, SystemClock } from 'evenkeel/unstable/base'
import type { LooseEvent } from './answer.ts'
import { readJson } from './json.ts'

interface Opened {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

interface StreamOptions {
  /** The request, for messages. */
  readonly asked: string
  readonly patienceMs: number
  /** Aborts the request when the stream is no longer read. */
  readonly over: AbortController
}

const clock = new SystemClock()

export class WatchStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly #lines: AsyncGenerator<string, void>
  readonly #options: StreamOptions

  constructor({ status, headers, body }: Opened, options: StreamOptions) {
    this.status = status
    this.headers = headers
    this.#lines = linesOf(body)
    this.#options = options
  }

  /** The next event; fails when the stream ends. */
  async next(): Promise<LooseEvent> {
    const line = await this.#line()
    if (line === undefined) throw new Error(`${this.#options.asked}: the stream ended where an event was expected`)
    return readJson(line) as LooseEvent
  }

  async take(count: number): Promise<LooseEvent[]> {
    const events: LooseEvent[] = []
    while (events.length < count) events.push(await this.next())
    return events
  }

  /** The events up to and including the first match. */
  async until(fits: (event: LooseEvent) => boolean): Promise<LooseEvent[]> {
    const events: LooseEvent[] = []
    for (;;) {
      const event = await this.next()
      events.push(event)
      if (fits(event)) return events
    }
  }

  /** The remaining events until the server ends the stream cleanly. */
  async rest(): Promise<LooseEvent[]> {
    return (await this.lines()).map((line) => readJson(line) as LooseEvent)
  }

  async lines(): Promise<string[]> {
    const lines: string[] = []
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) lines.push(line)
    return lines
  }

  close(): void {
    this.#options.over.abort(new Error('the stream was closed'))
    this.#lines.return().catch(() => undefined)
  }

  async #line(): Promise<string | undefined> {
    const { signal, done } = deadline(clock, this.#options.patienceMs)
    try {
      const { value } = await abortable(this.#lines.next(), { signal })
      return value ?? undefined
    } catch (error) {
      throw new Error(`${this.#options.asked}: ${String(error)}`, { cause: error })
    } finally {
      done()
    }
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    pending = Buffer.concat([pending, chunk])
    for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
      yield pending.subarray(0, end).toString('utf8')
      pending = pending.subarray(end + 1)
    }
  }
  if (pending.length > 0) yield pending.toString('utf8')
}
