/**
 * A watch between the server and a process: events wait on the agenda until it is their turn to arrive.
 *
 * In order they stay, as a connection keeps them. The stream may be cut, may fall silent without either end knowing, and
 * dies with its process.
 */
import type { EventQueue } from './event-loop.ts'

interface WatchStreamOptions {
  readonly eventQueue: EventQueue
  readonly actor: string
  readonly resource: string
  /** A line has arrived. */
  onLine(line: string): void
  /** Tells the server that nobody listens. */
  close(): void
}

type StreamItem = { readonly bytes: Uint8Array; readonly line: string } | { readonly end: Error | undefined }

export class WatchStream implements AsyncIterable<Uint8Array> {
  readonly #options: WatchStreamOptions
  readonly #arrived: StreamItem[] = []
  readonly #pending = new Set<() => void>()
  #wake: (() => void) | undefined
  #state: 'open' | 'silent' | 'closed' = 'open'
  #rest = ''

  constructor(options: WatchStreamOptions) {
    this.#options = options
  }

  get resource(): string {
    return this.#options.resource
  }

  /** Puts what the server sends on the agenda, line by line. */
  async pump(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of body)
        this.#take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString())
      this.#expect({ end: undefined }, 'the watch ends')
    } catch (error) {
      this.#expect({ end: error instanceof Error ? error : new Error(String(error)) }, 'the watch breaks')
    }
  }

  /** The connection breaks, and what was on its way is lost. */
  cut(): void {
    if (this.#state === 'closed') return
    this.#forget()
    this.#options.close()
    this.#arrived.push({ end: undefined })
    this.#wake?.()
  }

  /** Nothing arrives any more, and nobody notices. */
  silence(): void {
    if (this.#state !== 'open') return
    this.#state = 'silent'
    this.#forget()
  }

  /** Its process has died. */
  kill(): void {
    this.#state = 'closed'
    this.#forget()
    this.#options.close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const item = this.#arrived.shift()
        if (item === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
          continue
        }
        if ('bytes' in item) yield item.bytes
        else if (item.end) throw item.end
        else return
      }
    } finally {
      this.kill()
    }
  }

  /** Wakes a reader that is told to stop by other means. */
  abort(reason: unknown): void {
    if (this.#state === 'closed') return
    this.kill()
    this.#arrived.push({ end: reason instanceof Error ? reason : new Error(String(reason)) })
    this.#wake?.()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines)
      if (line !== '') this.#expect({ bytes: Buffer.from(`${line}\n`), line }, describeLine(line))
  }

  #expect(item: StreamItem, about: string): void {
    if (this.#state !== 'open') return
    const { eventQueue, actor, resource } = this.#options
    const cancel = eventQueue.add({
      actor,
      type: 'event',
      resource,
      about: `${resource}: ${about}`,
      run: () => {
        this.#pending.delete(cancel)
        if ('line' in item) this.#options.onLine(item.line)
        this.#arrived.push(item)
        this.#wake?.()
      },
    })
    this.#pending.add(cancel)
  }

  #forget(): void {
    for (const cancel of this.#pending) cancel()
    this.#pending.clear()
  }
}

// Parsing every event would cost more than delivering it.
const eventPattern = /^\{"type":"([A-Z]+)".*?"metadata":\{(?:"resourceVersion":"(\d+)")?(?:.*?"name":"([^"]*)")?/

function describeLine(line: string): string {
  const [, type = line.slice(0, 40), version = '', name = ''] = eventPattern.exec(line) ?? []
  return `${type} ${name} ${version}`.trimEnd()
}
