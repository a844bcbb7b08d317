/**
 * JSON patch (RFC 6902): a list of operations that apply all or not at all.
 *
 * Errors follow kube-apiserver: a patch that is not a list of objects is `BadRequest`, too many operations are
 * `RequestEntityTooLarge`, and every operation that fails on this document (a failed test, a missing path, copies
 * beyond the limit) is `Invalid`.
 *
 * Invariants: the document is not changed and shares unchanged parts with the result; the number of operations and the
 * bytes added by copying are limited.
 */
import { deepEqual, isJsonObject, jsonSize, type JsonValue } from '@evenkeel/cel/primitives'
import { ApiError } from '../errors/api-error.ts'
import { badRequest, requestEntityTooLarge } from '../errors/constructors.ts'
import { JsonDraft, parsePointer, PointerError } from './json-draft.ts'

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string }

interface JsonPatchOptions {
  /**
   * Whether `-1` is the last item of an array: not in the RFC, but kube-apiserver accepts it.
   *
   * @default false
   */
  readonly negativeIndices?: boolean
  /**
   * Whether a `test` for null passes and a `replace` sets a member where the member is missing: not in the RFC, but
   * kube-apiserver does both.
   *
   * @default false
   */
  readonly missingIsNull?: boolean
  /**
   * How many operations a patch may have.
   *
   * @default 10_000
   */
  readonly operationsMax?: number
  /**
   * How many bytes of JSON all copy operations together may add.
   *
   * @default 3 MiB
   */
  readonly copyBytesMax?: number
}

/**
 * Applies the patch and returns the new document.
 *
 * @param patch parsed JSON, validated here.
 * @throws {ApiError} `BadRequest`, `RequestEntityTooLarge` or `Invalid`; the document is unchanged.
 */
export function applyJsonPatch(document: JsonValue, patch: unknown, options: JsonPatchOptions = {}): JsonValue {
  const {
    negativeIndices = false,
    missingIsNull = false,
    operationsMax = 10_000,
    copyBytesMax = 3 * 1024 * 1024,
  } = options
  const operations = checkPatch(patch, operationsMax)
  const draft = new JsonDraft(document, { negativeIndices })
  const budget = { bytes: copyBytesMax }
  for (const [index, operation] of operations.entries()) {
    try {
      if (missingIsNull && isTestForNothing(draft, operation)) continue
      const isNew = missingIsNull && operation['op'] === 'replace' && isMissing(draft, operation)
      applyOperation(draft, isNew ? { ...operation, op: 'add' } : operation, budget)
    } catch (error) {
      if (error instanceof PointerError) throw refuse(error, index, operation)
      throw error
    }
  }
  return draft.document
}

/** Whether a patch failed in one of its `test` operations. */
export function isFailedTest(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof TestError
}

class TestError extends PointerError {}

type RawOperation = Readonly<Record<string, unknown>>

function checkPatch(patch: unknown, operationsMax: number): readonly RawOperation[] {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is a list of operations')
  if (patch.length > operationsMax) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    )
  }
  const index = patch.findIndex((operation) => !isJsonObject(operation))
  if (index >= 0) throw badRequest(`error decoding patch: operation ${index} is not an object`)
  return patch as RawOperation[]
}

function applyOperation(draft: JsonDraft, operation: RawOperation, budget: { bytes: number }): void {
  const path = pointerOf(operation, 'path')
  switch (operation['op']) {
    case 'add':
      return draft.add(path, valueOf(operation))
    case 'replace':
      return draft.replace(path, valueOf(operation))
    case 'remove':
      draft.remove(path)
      return
    case 'test':
      if (isMissing(draft, operation)) throw new TestError(`test failed: there is no ${JSON.stringify(path.at(-1))}`)
      return test(draft.get(path), valueOf(operation))
    case 'move':
      return move(draft, pointerOf(operation, 'from'), path)
    case 'copy':
      return copy(draft, { from: pointerOf(operation, 'from'), path }, budget)
    default:
      throw new PointerError('"op" must be add, remove, replace, move, copy or test')
  }
}

function test(actual: JsonValue, expected: JsonValue): void {
  if (!deepEqual(actual, expected)) throw new TestError('test failed: the value is another one')
}

function move(draft: JsonDraft, from: readonly string[], path: readonly string[]): void {
  if (from.length < path.length && from.every((step, index) => step === path[index]))
    throw new PointerError('a value cannot be moved into itself')
  const value = draft.get(from)
  if (from.length === path.length && from.every((step, index) => step === path[index])) return
  draft.remove(from)
  draft.add(path, value)
}

function copy(
  draft: JsonDraft,
  { from, path }: { from: readonly string[]; path: readonly string[] },
  budget: { bytes: number },
): void {
  budget.bytes -= jsonSize(draft.get(from))
  if (budget.bytes < 0) throw new PointerError('copying would make the document grow beyond the limit')
  draft.add(path, draft.copyOf(from))
}

function pointerOf(operation: RawOperation, member: 'path' | 'from'): readonly string[] {
  const text = Object.hasOwn(operation, member) ? operation[member] : undefined
  const steps = typeof text === 'string' ? parsePointer(text) : undefined
  if (steps === undefined) throw new PointerError(`"${member}" must be a JSON pointer`)
  return steps
}

function valueOf(operation: RawOperation): JsonValue {
  const value = Object.hasOwn(operation, 'value') ? operation['value'] : undefined
  if (value === undefined) throw new PointerError('"value" is missing')
  return value as JsonValue
}

function refuse(cause: PointerError, index: number, operation: RawOperation): ApiError {
  // Only strings are shown: formatting a deeply nested array would overflow the stack.
  const what = [operation['op'], operation['path']]
    .filter((part) => typeof part === 'string')
    .join(' ')
    .slice(0, 200)
  // kube-apiserver sends only the first half.
  return new ApiError(
    'Invalid',
    `the server rejected our request due to an error in our request: operation ${index} (${what}): ${cause.message}`,
    { cause },
  )
}

function isTestForNothing(draft: JsonDraft, operation: RawOperation): boolean {
  return operation['op'] === 'test' && operation['value'] === null && isMissing(draft, operation)
}

// Only the last step may be missing: its container must exist.
function isMissing(draft: JsonDraft, operation: RawOperation): boolean {
  const path = pointerOf(operation, 'path')
  const parent = path.length > 0 ? draft.get(path.slice(0, -1)) : undefined
  return isJsonObject(parent) && !Object.hasOwn(parent, path.at(-1) ?? '')
}
