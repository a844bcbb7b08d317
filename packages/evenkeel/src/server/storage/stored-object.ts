/**
 * An object at rest: its JSON bytes, ready to be sent.
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"17","name":...},"spec":...}
 *   |-------- the same for all of a kind -------------------------||^ stampAt
 *
 * Type and version come first: a list can leave the type out, a store can insert the version, and a deletion can
 * replace it, all without parsing. The object is parsed on first use, once. Selectors need labels alone, and most
 * deletions a few fields of the metadata: they are read without parsing the rest.
 */
import { JsonScanner, parseJson, stringifyJson } from '#api'
import type { UnstructuredObject } from '#api'
import { ByteLiteral } from '#base'
import type { ObjectDraft } from '@evenkeel/builtins'

/** An object as text with a gap for its resource version. */
export class Unstamped {
  readonly #head: string
  readonly #tail: string

  constructor(object: UnstructuredObject) {
    const { apiVersion, kind, metadata, ...fields } = object
    const { resourceVersion: _, ...rest } = metadata
    this.#head = headText(String(apiVersion), String(kind))
    this.#tail = `"${joined(stringifyJson(rest))}${joined(stringifyJson(fields))}`
  }

  /** The bytes without a version, for a store to insert it at `stampAt`. */
  get value(): Uint8Array {
    return Buffer.from(this.#head + this.#tail)
  }

  get stampAt(): number {
    return this.#head.length
  }

  /** The bytes of an object that is not stored: it has no version. */
  unversioned(): Uint8Array {
    const start = this.#head.length - '"resourceVersion":"'.length
    // The end of the version is its quote, and a comma when there is more metadata.
    return Buffer.from(this.#head.slice(0, start) + this.#tail.slice(this.#tail.startsWith('",') ? 2 : 1))
  }

  /** The bytes with their version. */
  stamped(revision: number | string): Uint8Array {
    return Buffer.from(`${this.#head}${revision}${this.#tail}`)
  }
}

interface StoredObjectOptions {
  readonly writtenAt?: number
  /**
   * False: it is parsed at each use. A parsed object takes ten times as much memory as its bytes, and those of a watch may
   * wait long for a slow client.
   */
  readonly keepsParsed?: boolean
}

/** An object of the store: bytes, parsed on first use. The parsed object is shared and read-only. */
export class StoredObject {
  readonly bytes: Uint8Array
  readonly revision: number
  /** The revision of the content; a deletion has a later revision than its content. */
  readonly writtenAt: number
  readonly keepsParsed: boolean
  #object: UnstructuredObject | undefined
  #labels: Labels | undefined

  constructor(
    bytes: Uint8Array,
    revision: number,
    { writtenAt = revision, keepsParsed = true }: StoredObjectOptions = {},
  ) {
    this.bytes = bytes
    this.revision = revision
    this.writtenAt = writtenAt
    this.keepsParsed = keepsParsed
  }

  get object(): UnstructuredObject {
    const object = this.#object ?? parseBytes(this.bytes)
    if (this.keepsParsed) this.#object = object
    return object
  }

  /** The labels, without parsing the rest. */
  get labels(): Labels {
    return (this.#labels ??= this.#object?.metadata.labels ?? this.#readLabels() ?? this.object.metadata.labels ?? {})
  }

  /** A field of the metadata, without parsing the rest. */
  metadataField<Name extends keyof typeof metadataMembers>(name: Name): UnstructuredObject['metadata'][Name] {
    if (this.#object) return this.#object.metadata[name]
    const found = readMember(this.bytes, metadataMembers[name])
    return found === unreadable ? this.object.metadata[name] : (found as UnstructuredObject['metadata'][Name])
  }

  #readLabels(): Labels | undefined {
    const found = readMember(this.bytes, labelsMember)
    return found === unreadable ? undefined : ((found ?? {}) as Labels)
  }

  /** A new copy that may be changed. */
  draft(): ObjectDraft {
    return parseBytes(this.bytes)
  }
}

type Labels = Readonly<Record<string, string>>

const labelsMember = memberLiteral('labels')

/** The fields that are read on their own. */
const metadataMembers = {
  name: memberLiteral('name'),
  namespace: memberLiteral('namespace'),
  uid: memberLiteral('uid'),
  resourceVersion: memberLiteral('resourceVersion'),
  finalizers: memberLiteral('finalizers'),
  deletionTimestamp: memberLiteral('deletionTimestamp'),
}

function memberLiteral(name: string): ByteLiteral {
  return new ByteLiteral(Buffer.from(`"${name}":`))
}

/** The layout of the bytes is not the one above. */
const unreadable = Symbol('unreadable')

/** The value of a member of the metadata; undefined when there is none. */
function readMember(bytes: Uint8Array, member: ByteLiteral): unknown {
  const stamp = asBuffer(bytes).indexOf(stampMark)
  if (stamp < 0) return unreadable
  const scanner = new JsonScanner(bytes)
  const found = scanner.findMember(stamp + '"metadata":{'.length, bytes.length, member)
  if (found < 0) return undefined
  const start = found + member.length
  const end = scanner.valueEnd(start, bytes.length)
  return end < 0 ? unreadable : parseBytes(bytes.subarray(start, end))
}

/** The length of the type in the stored bytes: `{"kind":"Pod","apiVersion":"v1",`. */
export function typeLength(apiVersion: string, kind: string): number {
  return headText(apiVersion, kind).length - '"metadata":{"resourceVersion":"'.length
}

/** The first bytes of objects of a type. */
export function typeBytes(apiVersion: string, kind: string): Uint8Array {
  return Buffer.from(headText(apiVersion, kind).slice(0, typeLength(apiVersion, kind)))
}

/** The same bytes with another version: a DELETED event has the last state and its own version. */
export function restamped(bytes: Uint8Array, revision: number): Uint8Array {
  const view = asBuffer(bytes)
  const from = view.indexOf(stampMark) + stampMark.byteLength
  const to = view.indexOf(quoteByte, from)
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(String(revision), 'latin1'), bytes.subarray(to)])
}

// Follows the type directly, so the first match is the right one.
const stampMark = Buffer.from('"metadata":{"resourceVersion":"')
const quoteByte = 0x22

function parseBytes(bytes: Uint8Array): ObjectDraft {
  return parseJson(asBuffer(bytes).toString()) as ObjectDraft
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

// Types are ASCII, so characters are bytes.
function headText(apiVersion: string, kind: string): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"`
}

// The fields of an object text, behind a comma, with the closing brace.
function joined(text: string): string {
  return text === '{}' ? '}' : `,${text.slice(1)}`
}
