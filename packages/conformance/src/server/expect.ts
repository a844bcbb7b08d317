/**
 * Assertions about responses: partial equality, a certain Status, a Warning.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Answer, Loose, LooseEvent } from './answer.ts'
import { writeJson } from './json.ts'

/**
 * Fails unless everything expected is present. Objects may have more fields; arrays have exactly the elements.
 * `undefined` means absent, a RegExp must match, a function decides.
 */
export function expectMatch(actual: unknown, expected: unknown, where = ''): void {
  const fault = faultOf(actual, expected, '')
  if (fault !== undefined) assert.fail(`${where}${fault}`)
}

function faultOf(actual: unknown, expected: unknown, path: string): string | undefined {
  if (expected instanceof RegExp)
    return typeof actual === 'string' && expected.test(actual)
      ? undefined
      : `${path}: ${show(actual)} does not match ${expected}`
  if (typeof expected === 'function')
    return (expected as (value: unknown) => boolean)(actual) ? undefined : `${path}: ${show(actual)} does not fit`
  if (typeof expected !== 'object' || expected === null)
    return isDeepStrictEqual(actual, expected) ? undefined : `${path}: expected ${show(expected)}, got ${show(actual)}`
  if (typeof actual !== 'object' || actual === null) return `${path}: expected ${show(expected)}, got ${show(actual)}`
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length))
    return `${path}: expected ${show(expected)}, got ${show(actual)}`
  for (const [key, value] of Object.entries(expected)) {
    const fault = faultOf(
      Object.getOwnPropertyDescriptor(actual, key)?.value,
      value,
      path === '' ? key : `${path}.${key}`,
    )
    if (fault !== undefined) return fault
  }
  return undefined
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : writeJson(value).slice(0, 600)
}

/** The body of a successful response, with any 2xx code or the given one. */
export function ok(answer: Answer, code?: number): Loose {
  const good = code === undefined ? answer.status >= 200 && answer.status < 300 : answer.status === code
  if (!good) assert.fail(`expected ${code ?? 'success'}: ${answer}`)
  return answer.json
}

interface ExpectedStatus {
  readonly code: number
  /** Absent if the case does not check the reason. */
  readonly reason?: string
  readonly message?: string | RegExp
  readonly details?: Readonly<Record<string, unknown>>
}

/** Fails unless the response is exactly this failure, with the fields that every Status has. */
export function expectStatus(answer: Answer, { code, reason, message, details }: ExpectedStatus): Loose {
  assert.equal(answer.status, code, String(answer))
  assert.match(answer.header('content-type'), /^application\/json/, String(answer))
  expectMatch(
    answer.json,
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(details === undefined ? {} : { details }),
    },
    `${answer}\n`,
  )
  return answer.json
}

/** The texts of the `Warning: 299 - "…"` headers. */
export function warningsOf(answer: Answer): string[] {
  return [...answer.header('warning').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  )
}

export function namesOf(list: Loose): string[] {
  return list.items.map(({ metadata }) => metadata.name)
}

/** An event as `TYPE name`, enough for most assertions about a stream. */
export function brief(events: readonly LooseEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`)
}

/** resourceVersions are decimal numbers that only increase. */
export function isNewer(one: Loose, other: Loose): boolean {
  return BigInt(one.metadata.resourceVersion) > BigInt(other.metadata.resourceVersion)
}
