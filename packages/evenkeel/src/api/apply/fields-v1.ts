/**
 * Encodes and decodes field sets in `metadata.managedFields[].fieldsV1`.
 *
 *     { "f:spec": { ".": {}, "f:replicas": {} } }   ⇄   .spec and .spec.replicas
 *
 * `{}` is a member without children; the key `.` means that a node with children is a member too. A set caches its
 * encoding, and a map caches sets by their text. There is no cache by object: objects live as long as a request, and
 * thousands of weak keys slow down the garbage collector of the process.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  stringifyJson,
} from '@evenkeel/cel/primitives'
import { FieldSet, leaf, noFields, type FieldNode } from './field-set.ts'
import { parseElement, type PathElement } from './path-element.ts'

/** Deeper than any object a server accepts. */
const depthMax = 1000

/** Encodes a set. The result shares parts with other results and must not be changed. */
export function encodeFields(set: FieldSet): JsonObject {
  return encodeLevel(set, 'plain')
}

/**
 * Decodes a set; path elements of unknown types are omitted.
 *
 * @throws {RangeError} when the notation is invalid, or nested too deeply.
 */
export function decodeFields(fields: JsonObject): FieldSet {
  const text = textOf(fields)
  const known = byText.get(text)
  if (known) return known
  const set = decodeLevel(fields, 0).children ?? noFields
  if (text.length <= textLengthMax) keep(text, set)
  return set
}

/** Whether both encodings are equal, in the same order. The second one was decoded before, so its depth is limited. */
export function sameFields(fields: JsonValue | undefined, known: JsonObject): boolean {
  if (fields === known) return true
  if (!isJsonObject(fields)) return false
  const ours = Object.keys(fields)
  const theirs = Object.keys(known)
  if (ours.length !== theirs.length) return false
  for (let index = 0; index < ours.length; index++) {
    const key = ours[index] as string
    if (key !== theirs[index] || !sameFields(fields[key], known[key] as JsonObject)) return false
  }
  return true
}

function encodeLevel(set: FieldSet, place: 'plain' | 'member'): JsonObject {
  const known = set.written?.[place]
  if (known) return known
  const level: JsonObjectDraft = {}
  if (place === 'member') level['.'] = {}
  for (const element of set.elements()) {
    const node = set.node(element)
    level[element] = node?.children ? encodeLevel(node.children, node.member ? 'member' : 'plain') : {}
  }
  set.written = { ...set.written, [place]: level }
  return level
}

/**
 * Sets by the text of their fields: similar objects have the same fields, whatever their values, so only one of a
 * thousand Pods is decoded. The oldest texts are evicted when the total length exceeds the limit.
 */
const byText = new Map<string, FieldSet>()
const textLengthMax = 16 * 1024
const allLengthMax = 1024 * 1024
let allLength = 0

function keep(text: string, set: FieldSet): void {
  byText.set(text, set)
  allLength += text.length
  for (const oldest of byText.keys()) {
    if (allLength <= allLengthMax) break
    byText.delete(oldest)
    allLength -= oldest.length
  }
}

function textOf(fields: JsonObject): string {
  try {
    return JSON.stringify(fields)
  } catch (error) {
    throw tooDeep(error)
  }
}

function tooDeep(cause?: unknown): RangeError {
  return new RangeError(`fields are nested more than ${depthMax} levels deep`, { cause })
}

function decodeLevel(fields: JsonValue | undefined, depth: number): FieldNode {
  if (fields === undefined || fields === null) return leaf
  if (!isJsonObject(fields)) throw new RangeError(`expected an object of fields, got ${stringifyJson(fields)}`)
  if (depth > depthMax) throw tooDeep()
  let member = false
  const nodes = new Map<PathElement, FieldNode>()
  for (const key of Object.keys(fields)) {
    if (key === '.') {
      member = true
      continue
    }
    const element = parseElement(key)
    if (element !== undefined) nodes.set(element, decodeLevel(fields[key], depth + 1))
  }
  return nodes.size === 0 ? leaf : { member, children: FieldSet.ofMap(nodes) }
}
