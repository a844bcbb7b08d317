/**
 * A loosely typed response: a case reads only the fields that it checks.
 */
import { readJson } from './json.ts'

/** An object, a list or a Status. Every field may actually be missing; a case that reads one asserts it. */
export interface Loose {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: LooseMetadata
  readonly items: readonly Loose[]
  readonly spec: LooseFields
  readonly status: LooseFields
  readonly data: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

interface LooseMetadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly deletionTimestamp: string
  readonly deletionGracePeriodSeconds: number
  readonly generation: number
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly finalizers: readonly string[]
  readonly continue: string
  readonly remainingItemCount: number
  readonly [field: string]: unknown
}

type LooseFields = Readonly<Record<string, unknown>>

/** One line of a watch. */
export interface LooseEvent {
  readonly type: string
  readonly object: Loose
}

/** A complete response. */
export class Answer {
  readonly status: number
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** The request, for messages. */
  readonly asked: string

  constructor(
    asked: string,
    { status, headers, bytes }: { status: number; headers: Readonly<Record<string, string>>; bytes: Uint8Array },
  ) {
    this.asked = asked
    this.status = status
    this.headers = headers
    this.bytes = bytes
  }

  get text(): string {
    return Buffer.from(this.bytes).toString('utf8')
  }

  get json(): Loose {
    try {
      return readJson(this.text) as Loose
    } catch {
      throw new Error(`${this} is not JSON`)
    }
  }

  /** Empty when the header is missing. */
  header(name: string): string {
    return this.headers[name] ?? ''
  }

  toString(): string {
    return `${this.asked} → ${this.status} ${this.text.slice(0, 1_000)}`
  }
}
