/**
 * JSON values and safe operations on them.
 *
 * Invariants: every traversal is iterative, so a document nested 100,000 levels deep costs memory, never the stack;
 * `__proto__`, `constructor` and `toString` are ordinary keys (a ConfigMap may contain them), so keys are read and written
 * as own data properties, never through the prototype chain.
 */
import { utf8Length } from './text.ts'

/** An integer that a number cannot hold is a bigint: see `json-text.ts`. */
export type JsonPrimitive = string | number | bigint | boolean | null
export type JsonArray = readonly JsonValue[]
/** A JSON object. A key whose value is `undefined` counts as absent, as it does for `JSON.stringify`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}
export type JsonValue = JsonPrimitive | JsonArray | JsonObject

/** A mutable object under construction, not shared yet. */
export type JsonObjectDraft = Record<string, JsonValue | undefined>

/** Whether a value is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a JSON number: an integer that a number cannot hold is a bigint. */
export function isJsonNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/**
 * Writes an own data property for any key.
 *
 * `object['__proto__'] = value` would call the setter of `Object.prototype` and lose (or worse, install) the value.
 */
export function setOwn(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  ;(object as Record<string, unknown>)[key] = value
}

/** The value of an own key, or `undefined`; inherited properties are ignored. */
export function getOwn<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whether two JSON values are equal, regardless of key order. `0` equals `-0`, and `1e16` equals `10000000000000000n`. */
export function deepEqual(a: unknown, b: unknown): boolean {
  const pairs: [unknown, unknown][] = [[a, b]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    if (!equalHere(pair[0], pair[1], pairs)) return false
  }
  return true
}

/**
 * Freezes a JSON value deeply and returns it.
 *
 * A frozen node is assumed to be frozen deeply and is skipped, so freezing the result of a patch costs only what the patch
 * changed.
 */
export function deepFreeze<T>(value: T): T {
  const nodes: unknown[] = [value]
  while (nodes.length > 0) {
    const node = nodes.pop()
    if (typeof node !== 'object' || node === null || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const child of Object.values(node)) nodes.push(child)
  }
  return value
}

/** Whether a value is nested deeper than `depthMax` levels; a scalar has depth 0, `[]` and `{}` have depth 1. */
export function exceedsDepth(value: unknown, depthMax: number): boolean {
  const nodes: { readonly node: unknown; readonly depth: number }[] = [{ node: value, depth: 0 }]
  for (let next = nodes.pop(); next !== undefined; next = nodes.pop()) {
    if (typeof next.node !== 'object' || next.node === null) continue
    const depth = next.depth + 1
    if (depth > depthMax) return true
    for (const node of Object.values(next.node)) nodes.push({ node, depth })
  }
  return false
}

/** The length of the compact JSON text in UTF-8 bytes. */
export function jsonSize(value: JsonValue): number {
  const nodes: (JsonValue | undefined)[] = [value]
  let bytes = 0
  while (nodes.length > 0) bytes += sizeHere(nodes.pop(), nodes)
  return bytes
}

/** A deep copy. */
export function deepCopy(value: JsonValue): JsonValue {
  const holder: JsonValue[] = []
  const work: { readonly into: object; readonly key: string; readonly from: JsonValue }[] = [
    { into: holder, key: '0', from: value },
  ]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (typeof next.from !== 'object' || next.from === null) {
      setOwn(next.into, next.key, next.from)
      continue
    }
    const copy = Array.isArray(next.from) ? new Array<JsonValue>(next.from.length) : {}
    setOwn(next.into, next.key, copy)
    // Backwards, because the stack reverses the order and keys must keep theirs.
    for (const [key, from] of Object.entries(next.from).reverse())
      if (from !== undefined) work.push({ into: copy, key, from })
  }
  return holder[0] as JsonValue
}

function equalHere(a: unknown, b: unknown, pairs: [unknown, unknown][]): boolean {
  if (a === b) return true
  // A whole float64 beyond the safe integers, such as 1e16, is read back as a bigint.
  if (typeof a === 'bigint' || typeof b === 'bigint') return isSameNumber(a, b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && equalArrays(a, b, pairs)
  return !Array.isArray(b) && equalObjects(a as JsonObject, b as JsonObject, pairs)
}

function isSameNumber(a: unknown, b: unknown): boolean {
  return (
    typeof a !== 'object' &&
    typeof b !== 'object' &&
    typeof a !== 'string' &&
    typeof b !== 'string' &&
    String(a) === String(b)
  )
}

function equalArrays(a: readonly unknown[], b: readonly unknown[], pairs: [unknown, unknown][]): boolean {
  if (a.length !== b.length) return false
  for (const [index, item] of a.entries()) pairs.push([item, b[index]])
  return true
}

function equalObjects(a: JsonObject, b: JsonObject, pairs: [unknown, unknown][]): boolean {
  let present = 0
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    present++
    pairs.push([a[key], getOwn(b, key)])
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) present--
  return present === 0
}

function sizeHere(node: JsonValue | undefined, nodes: (JsonValue | undefined)[]): number {
  if (typeof node !== 'object' || node === null) return textSize(node)
  if (Array.isArray(node)) {
    for (const item of node as JsonArray) nodes.push(item)
    return 2 + Math.max(0, node.length - 1)
  }
  let bytes = 2
  for (const [key, child] of Object.entries(node)) {
    if (child === undefined) continue
    nodes.push(child)
    bytes += textSize(key) + 1 + (bytes > 2 ? 1 : 0)
  }
  return bytes
}

function textSize(scalar: JsonPrimitive | undefined): number {
  if (typeof scalar === 'bigint') return String(scalar).length
  return scalar === undefined ? 4 : utf8Length(JSON.stringify(scalar))
}

/** Appends all items. `list.push(...items)` puts them on the stack, which ends at about a hundred thousand. */
export function pushAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
