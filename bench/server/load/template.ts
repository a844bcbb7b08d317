/**
 * A request as bytes, with slots for the values that change.
 *
 * A slot has a fixed width, so the length of the request never changes and nothing is encoded again: JSON allows
 * spaces after a shorter value.
 */
import type { Address } from './jobs.ts'

/** The placeholders in the text. */
export const slots = {
  /** Part of a name. */
  number: '@@@@@@@@@@',
  counter: '##########',
  /** A resourceVersion with its quotes. */
  version: '~~~~~~~~~~~~~~~~~~~~~~~~',
} as const

export type Slot = keyof typeof slots

export class RequestTemplate {
  readonly bytes: Buffer
  readonly #places: Readonly<Record<Slot, readonly number[]>>

  constructor(text: string) {
    this.bytes = Buffer.from(text, 'latin1')
    this.#places = {
      number: placesOf(text, slots.number),
      counter: placesOf(text, slots.counter),
      version: placesOf(text, slots.version),
    }
  }

  setNumber(slot: 'number' | 'counter', value: number): void {
    this.#write(slot, String(value).padStart(slots[slot].length, '0'))
  }

  setVersion(version: string): void {
    this.#write('version', `"${version}"`.padEnd(slots.version.length))
  }

  #write(slot: Slot, text: string): void {
    if (text.length !== slots[slot].length)
      throw new RangeError(`${text} does not fit into ${slots[slot].length} bytes`)
    for (const place of this.#places[slot]) this.bytes.write(text, place, 'latin1')
  }
}

export interface RequestParts {
  readonly method: string
  readonly path: string
  readonly body?: string
  /** @default 'application/json' */
  readonly contentType?: string
  /** @default false */
  readonly gzip?: boolean
}

/** An HTTP/1.1 request that keeps its connection. */
export function requestText(
  { url, token }: Address,
  { method, path, body, contentType = 'application/json', gzip = false }: RequestParts,
): string {
  const about = body === undefined ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\nUser-Agent: evenkeel-bench\r\nAccept: application/json\r\n${gzip ? 'Accept-Encoding: gzip\r\n' : ''}${about}\r\n${body ?? ''}`
}

function placesOf(text: string, mark: string): number[] {
  const places: number[] = []
  for (let place = text.indexOf(mark); place >= 0; place = text.indexOf(mark, place + mark.length)) places.push(place)
  return places
}
