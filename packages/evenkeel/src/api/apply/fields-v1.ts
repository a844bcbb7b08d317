/**
 * Sets of paths as they lie in `metadata.managedFields[].fieldsV1`, both ways.
 *
 *     { "f:spec": { ".": {}, "f:replicas": {} } }   ⇄   .spec and .spec.replicas
 *
 * `{}` is a member without children; the key `.` says that a node with children is a member too. Sets remember how they
 * are written, and texts which set they are. Nothing is remembered by the objects themselves: they come and go with
 * every request, and weak keys by the thousand are what a garbage collector is slowest with.
 */
import { isJsonObject, type JsonObject, type JsonObjectDraft, type JsonValue } from '@evenkeel/cel/primitives'
import { FieldSet, leaf, noFields, type FieldNode } from './field-set.ts'
import { parseElement, type PathElement } from './path-element.ts'

/** Deeper than any object a server accepts. */
const depthMax = 1000

/** Writes a set. The result shares parts with other results and must not be changed. */
export function encodeFields(set: FieldSet): JsonObject {
  return encodeLevel(set, 'plain')
}

/**
 * Reads a set; steps of unknown kinds are left out.
 *
 * @throws {RangeError} when it is not in the notation, or nested too deeply.
 */
export function decodeFields(fields: JsonObject): FieldSet {
  const text = textOf(fields)
  const known = byText.get(text)
  if (known) return known
  const set = decodeLevel(fields, 0).children ?? noFields
  if (text.length <= textLengthMax) keep(text, set)
  return set
}

/** Whether both are written alike, steps in the same order. The second one was decoded before, so it is not too deep. */
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
 * Sets by the text of their fields: objects of one making own the same fields, whatever their values, so one Pod of a
 * thousand is decoded. The oldest texts go when all together are too long.
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
  if (!isJsonObject(fields)) throw new RangeError(`expected an object of fields, got ${JSON.stringify(fields)}`)
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
