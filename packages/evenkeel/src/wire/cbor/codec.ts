/**
 * CBOR for those who may not need it: loaded once, when a server begins that serves it.
 */
import { assert } from '#base'
import type { JsonObject, JsonValue } from '#api'
import type { readCbor, readCborType, splitCbor as splitItems } from './reader.ts'
import type { writeCbor, writeCborEvent } from './writer.ts'

interface CborCodec {
  readonly readCbor: typeof readCbor
  readonly readCborType: typeof readCborType
  readonly splitCbor: typeof splitItems
  readonly writeCbor: typeof writeCbor
  readonly writeCborEvent: typeof writeCborEvent
}

let codec: CborCodec | undefined

/** Makes CBOR work; must have resolved before {@link encodeCbor} is called. */
export async function loadCbor(): Promise<CborCodec> {
  codec ??= { ...(await import('./reader.ts')), ...(await import('./writer.ts')) }
  return codec
}

/** A document. */
export function encodeCbor(value: JsonValue): Uint8Array {
  return loaded().writeCbor(value)
}

/** An event of a watch. */
export function encodeCborEvent(type: string, object: JsonObject): Uint8Array {
  return loaded().writeCborEvent(type, object)
}

/** The documents of a sequence. */
export function splitCbor(sequence: Uint8Array): Uint8Array[] {
  return loaded().splitCbor(sequence)
}

function loaded(): CborCodec {
  assert(codec, 'CBOR is loaded')
  return codec
}
