/**
 * A watch between the server and a process: each event waits in the event queue until it is delivered.
 *
 * Events keep their order, as on a connection. The stream can break, it can fall silent without an end, and it ends with
 * its process.
 */
import type { EventQueue } from './event-loop.ts'

interface WatchStreamOptions {
  readonly eventQueue: EventQueue
  readonly actor: string
  readonly resource: string
  /** A line was delivered. */
  onLine(line: string): void
  /** Ends the watch on the server. */
  close(): void
}

type StreamItem = { readonly bytes: Uint8Array; readonly line: string } | { readonly end: Error | undefined }

export class WatchStream implements AsyncIterable<Uint8Array> {
  readonly #options: WatchStreamOptions
  readonly #delivered: StreamItem[] = []
  readonly #pending = new Set<() => void>()
  #wake: (() => void) | undefined
  #state: 'open' | 'silent' | 'closed' = 'open'
  #partial = ''

  constructor(options: WatchStreamOptions) {
    this.#options = options
  }

  get resource(): string {
    return this.#options.resource
  }

  /** Adds what the server sends to the event queue, line by line. */
  async pump(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of body)
        this.#addText(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString())
      this.#enqueue({ end: undefined }, 'the watch ends')
    } catch (error) {
      this.#enqueue({ end: error instanceof Error ? error : new Error(String(error)) }, 'the watch breaks')
    }
  }

  /** The connection breaks; undelivered events are lost. */
  cut(): void {
    if (this.#state === 'closed') return
    this.#dropPending()
    this.#options.close()
    this.#delivered.push({ end: undefined })
    this.#wake?.()
  }

  /** Delivers nothing any more, without an end or an error. */
  silence(): void {
    if (this.#state !== 'open') return
    this.#state = 'silent'
    this.#dropPending()
  }

  /** Its process has crashed. */
  kill(): void {
    this.#state = 'closed'
    this.#dropPending()
    this.#options.close()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const item = this.#delivered.shift()
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

  /** Ends the stream with an error, because the request was aborted. */
  abort(reason: unknown): void {
    if (this.#state === 'closed') return
    this.kill()
    this.#delivered.push({ end: reason instanceof Error ? reason : new Error(String(reason)) })
    this.#wake?.()
  }

  #addText(text: string): void {
    const lines = (this.#partial + text).split('\n')
    this.#partial = lines.pop() ?? ''
    for (const line of lines)
      if (line !== '') this.#enqueue({ bytes: Buffer.from(`${line}\n`), line }, describeLine(line))
  }

  #enqueue(item: StreamItem, about: string): void {
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
        this.#delivered.push(item)
        this.#wake?.()
      },
    })
    this.#pending.add(cancel)
  }

  #dropPending(): void {
    for (const cancel of this.#pending) cancel()
    this.#pending.clear()
  }
}

// A regular expression: parsing every event would cost more than delivering it.
const eventPattern = /^\{"type":"([A-Z]+)".*?"metadata":\{(?:"resourceVersion":"(\d+)")?(?:.*?"name":"([^"]*)")?/

function describeLine(line: string): string {
  const [, type = line.slice(0, 40), version = '', name = ''] = eventPattern.exec(line) ?? []
  return `${type} ${name} ${version}`.trimEnd()
}
