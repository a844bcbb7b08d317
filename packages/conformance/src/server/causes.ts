/**
 * The causes of a rejection, one line each: `field: message`.
 */
import type { Answer } from './answer.ts'
import type { Place } from './target.ts'

/**
 * The causes of a Status, sorted, because maps have no fixed order. Names of the case become `$NS`. Values that are
 * lists or objects are dropped, because their format is specific to the server, and so is everything after the first
 * line, which points into an expression.
 */
export function causesOf(answer: Answer, place: Place): string[] {
  const { causes = [] } = (answer.json['details'] ?? {}) as { causes?: readonly { field?: string; message: string }[] }
  return causes
    .map(({ field = '', message }) => shortened(`${field}: ${message}`.replaceAll(place.namespace, '$NS')))
    .sort()
}

function shortened(cause: string): string {
  return cause.replace(/value: (?:\[.*\]|\{.*\}): /s, 'value: … : ').split('\n')[0] ?? ''
}
