/**
 * What a refusal says is wrong, one line each: `field: message`.
 */
import type { Answer } from './answer.ts'
import type { Place } from './target.ts'

/**
 * The causes of a Status, sorted: where a server walks through maps, their order says nothing. The case's own names
 * become `$NS`; a value that is a list or an object is left out, because it is told in forms of the server's own, and so
 * is everything after the first line, which draws where in an expression the mistake is.
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
