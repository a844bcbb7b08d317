/**
 * An object at rest: its JSON bytes, ready to be sent.
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"17","name":...},"spec":...}
 *   |-------- the same for all of a kind -------------------------||^ stampAt
 *
 * Type and version come first: a list can leave the type out, a store can insert the version, and a deletion can
 * replace it, all without parsing. The object is parsed on first use, once.
 */
import type { UnstructuredObject } from '#api'
import type { ObjectDraft } from '#builtins'

/** An object as text with a hole for its version. */
export class Unstamped {
  readonly #head: string
  readonly #tail: string

  constructor(object: UnstructuredObject) {
    const { apiVersion, kind, metadata, ...fields } = object
    const { resourceVersion: _, ...rest } = metadata
    this.#head = headText(String(apiVersion), String(kind))
    this.#tail = `"${joined(JSON.stringify(rest))}${joined(JSON.stringify(fields))}`
  }

  /** The bytes without a version, for a store to insert it at `stampAt`. */
  get value(): Uint8Array {
    return Buffer.from(this.#head + this.#tail)
  }

  get stampAt(): number {
    return this.#head.length
  }

  /** The bytes with their version. */
  stamped(revision: number | string): Uint8Array {
    return Buffer.from(`${this.#head}${revision}${this.#tail}`)
  }
}

/** What a store gave back: bytes, and the parsed object for who needs it. The object is shared: never change it. */
export class StoredObject {
  readonly bytes: Uint8Array
  readonly revision: number
  /** When the content was written; a deletion has a later revision than the content it is told with. */
  readonly writtenAt: number
  #object: UnstructuredObject | undefined

  constructor(bytes: Uint8Array, revision: number, { writtenAt = revision }: { writtenAt?: number } = {}) {
    this.bytes = bytes
    this.revision = revision
    this.writtenAt = writtenAt
  }

  get object(): UnstructuredObject {
    this.#object ??= parseBytes(this.bytes)
    return this.#object
  }

  /** A fresh copy that may be changed. */
  draft(): ObjectDraft {
    return parseBytes(this.bytes)
  }
}

/** How many bytes of an object at rest say its type: `{"kind":"Pod","apiVersion":"v1",`. */
export function typeLength(apiVersion: string, kind: string): number {
  return headText(apiVersion, kind).length - '"metadata":{"resourceVersion":"'.length
}

/** How objects of a type begin. */
export function typeBytes(apiVersion: string, kind: string): Uint8Array {
  return Buffer.from(headText(apiVersion, kind).slice(0, typeLength(apiVersion, kind)))
}

/** The same bytes under another version: a deletion is told with the last state and its own version. */
export function restamped(bytes: Uint8Array, revision: number): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const from = view.indexOf(stampMark) + stampMark.byteLength
  const to = view.indexOf(quoteByte, from)
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(String(revision), 'latin1'), bytes.subarray(to)])
}

// Stands right behind the type, so the first one found is it.
const stampMark = Buffer.from('"metadata":{"resourceVersion":"')
const quoteByte = 0x22

function parseBytes(bytes: Uint8Array): ObjectDraft {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as ObjectDraft
}

// Types are ASCII by their rules, so characters are bytes.
function headText(apiVersion: string, kind: string): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"`
}

// The fields of an object text, behind a comma, with the closing brace.
function joined(text: string): string {
  return text === '{}' ? '}' : `,${text.slice(1)}`
}
