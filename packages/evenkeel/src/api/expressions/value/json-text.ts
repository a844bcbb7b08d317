/**
 * Strings that a schema gives a meaning: dates, moments, durations and bytes.
 */
import { Duration, readDuration, readTimestamp, Timestamp } from './moment.ts'
import { intMax } from './integer.ts'
import { EvaluationError } from './value.ts'

/** RFC 3339, also without a zone; the empty text is 1970. */
export function readDateTime(text: string): Timestamp | undefined {
  if (text === '') return new Timestamp(0)
  const found = readTimestamp(text) ?? readTimestamp(`${text}Z`)
  return found instanceof EvaluationError ? undefined : found
}

export function readDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? readDateTime(`${text}T00:00:00Z`) : undefined
}

/** Go durations, and words such as `3 days`. */
export function readSchemaDuration(text: string): Duration | undefined {
  const plain = readDuration(text)
  if (plain) return plain
  let total: bigint | undefined
  for (const [, amount = '', written = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = written.toLowerCase()
    const found = units.find(({ names, prefix }) => names.includes(unit) || unit.startsWith(prefix))
    if (found && amount.length < 20) total = (total ?? 0n) + BigInt(amount) * found.nanos
  }
  return total === undefined || total > intMax ? undefined : new Duration(total)
}

/** Base64 with the alphabet for URLs and padding, which is what upstream reads here. */
export function readBase64(text: string): Uint8Array | undefined {
  const clean = text.replace(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$/.test(clean)) return undefined
  const binary = atob(clean.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const second = 1_000_000_000n

const units: readonly { readonly names: readonly string[]; readonly prefix: string; readonly nanos: bigint }[] = [
  { names: ['ns'], prefix: 'nano', nanos: 1n },
  { names: ['us', 'µs'], prefix: 'micro', nanos: 1000n },
  { names: ['ms'], prefix: 'milli', nanos: 1_000_000n },
  { names: ['s'], prefix: 'sec', nanos: second },
  { names: ['m'], prefix: 'min', nanos: 60n * second },
  { names: ['h', 'hr'], prefix: 'hour', nanos: 3600n * second },
  { names: ['d'], prefix: 'day', nanos: 86_400n * second },
  { names: ['w', 'wk'], prefix: 'week', nanos: 604_800n * second },
]
