/**
 * Converts the nodes of a parsed YAML document to a JSON value, as Go's `sigs.k8s.io/yaml` does.
 *
 * Keys become strings, merge keys (`<<`) are merged, aliases are copied. Only the tags of the core types are allowed, so
 * the result is always JSON. Plain (unquoted) scalars follow YAML 1.1 as Go reads it: `yes`, `on` and `y` are booleans,
 * `010` is eight, `0x1f` and `1_000` are numbers; timestamps and base 60 numbers stay strings. The YAML writer uses the
 * same function, and quotes every string that would not be read back as one.
 *
 * Invariants: copies of aliases count against a budget, so that a few lines cannot expand to gigabytes; the depth is
 * bounded; a value that contains itself is refused; no object occurs twice in the result.
 */
import type * as yamlModule from 'yaml'
import type { Alias, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import {
  badRequest,
  isJsonObject,
  setOwn,
  type JsonObject,
  type JsonObjectDraft,
  type JsonPrimitive,
  type JsonValue,
  integerOf,
} from '#api'
import { formatPath } from './json.ts'

/** The YAML parser, loaded on first use. */
export type Yaml = typeof yamlModule

interface YamlLimits {
  readonly depthMax: number
  /** How much aliases may add, in approximate characters of JSON. */
  readonly aliasedMax: number
}

/** As many as kube-apiserver reports for JSON. */
const duplicatesMax = 100

export class YamlConverter {
  readonly duplicates: string[] = []
  readonly #yaml: Yaml
  readonly #depthMax: number
  readonly #anchors = new Map<string, Node>()
  readonly #open = new Set<Node>()
  readonly #steps: (string | number)[] = []
  #aliases = 0
  #budget: number

  constructor(yaml: Yaml, { depthMax, aliasedMax }: YamlLimits) {
    this.#yaml = yaml
    this.#depthMax = depthMax
    this.#budget = aliasedMax
  }

  convert(node: unknown): JsonValue {
    if (this.#yaml.isAlias(node)) return this.#follow(node)
    if (!this.#yaml.isNode(node)) return null
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    if (this.#yaml.isScalar(node)) return this.#scalar(node)
    if (this.#steps.length >= this.#depthMax)
      throw badRequest(`the YAML text is nested more than ${this.#depthMax} levels deep`)
    this.#pay(20)
    if (!isPlainTag(node.tag)) throw refuseTag(node.tag)
    // Detects an alias to an enclosing node.
    this.#open.add(node)
    const value = this.#yaml.isMap(node) ? this.#map(node) : this.#list(node as YAMLSeq)
    this.#open.delete(node)
    return value
  }

  #follow(alias: Alias): JsonValue {
    const target = this.#anchors.get(alias.source)
    if (target === undefined)
      throw badRequest(`error converting YAML to JSON: yaml: unknown anchor '${alias.source}' referenced`)
    if (this.#open.has(target))
      throw badRequest(`error converting YAML to JSON: yaml: anchor '${alias.source}' value contains itself`)
    this.#aliases++
    const value = this.convert(target)
    this.#aliases--
    return value
  }

  #scalar(node: Scalar): JsonPrimitive {
    const value = readScalar(node)
    this.#pay(typeof value === 'string' ? value.length + 3 : 6)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw badRequest(`error converting YAML to JSON: ${value} is no JSON number`)
    return value
  }

  #list(node: YAMLSeq): JsonValue {
    const depth = this.#steps.length
    const list = node.items.map((item, index) => {
      this.#steps[depth] = index
      return this.convert(item)
    })
    this.#steps.length = depth
    return list
  }

  #map(node: YAMLMap): JsonObject {
    const draft: JsonObjectDraft = {}
    const keys = new Set<string>()
    const depth = this.#steps.length
    for (const pair of node.items) {
      if (isMerge(pair)) this.#merge(draft, pair.value)
      else {
        const key = this.#key(pair)
        this.#steps[depth] = key
        if (keys.has(key) && this.duplicates.length < duplicatesMax) this.duplicates.push(formatPath(this.#steps))
        keys.add(key)
        setOwn(draft, key, this.convert(pair.value))
      }
      this.#steps.length = depth
    }
    return draft
  }

  #key({ key }: Pair): string {
    const target = this.#yaml.isAlias(key) ? this.#anchors.get(key.source) : key
    if (!this.#yaml.isScalar(target)) throw badRequest('error converting YAML to JSON: a key must be a scalar')
    if (target.anchor !== undefined) this.#anchors.set(target.anchor, target)
    const value = readScalar(target)
    this.#pay(String(target.value).length + 4)
    // A number that a float64 cannot represent keeps its text.
    if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return String(target.value)
    if (value === null) throw badRequest('error converting YAML to JSON: unsupported map key of type: null')
    return String(value)
  }

  /** Merges other objects into this one; of several objects the first wins. */
  #merge(draft: JsonObjectDraft, value: unknown): void {
    const depth = this.#steps.length
    this.#steps[depth] = '<<'
    const merged = this.convert(value)
    const sources = Array.isArray(merged) ? (merged.toReversed() as JsonValue[]) : [merged]
    for (const source of sources) {
      if (!isJsonObject(source))
        throw badRequest('error converting YAML to JSON: yaml: map merge requires map or sequence of maps as the value')
      for (const [key, child] of Object.entries(source)) setOwn(draft, key, child)
    }
  }

  /** Charges copies of aliases to the budget; other values are bounded by the text. */
  #pay(characters: number): void {
    if (this.#aliases === 0) return
    this.#budget -= characters
    if (this.#budget < 0) throw badRequest('error converting YAML to JSON: yaml: document contains excessive aliasing')
  }
}

const tagPrefix = 'tag:yaml.org,2002:'
const scalarTypes = new Map<string | undefined, readonly string[]>([
  ['int', ['number', 'bigint']],
  ['float', ['number', 'bigint']],
  ['bool', ['boolean']],
  ['null', ['object']],
])

function readScalar({ type, source, value, tag }: Scalar): JsonPrimitive {
  const text = typeof value === 'string' ? value : (source ?? '')
  if (tag === undefined) return type === 'PLAIN' ? resolvePlain(text) : text
  if (tag === '!' || tag === `${tagPrefix}str`) return text
  const allowed = tag.startsWith(tagPrefix) ? scalarTypes.get(tag.slice(tagPrefix.length)) : undefined
  if (!allowed) throw refuseTag(tag)
  const resolved = resolvePlain(text)
  if (!allowed.includes(typeof resolved))
    throw badRequest(
      `error converting YAML to JSON: yaml: cannot decode this scalar as a !!${tag.slice(tagPrefix.length)}`,
    )
  return resolved
}

function isPlainTag(tag: string | undefined): boolean {
  return tag === undefined || tag === '!' || tag === `${tagPrefix}map` || tag === `${tagPrefix}seq`
}

function refuseTag(tag: string | undefined): Error {
  return badRequest(`error converting YAML to JSON: the tag ${String(tag).slice(0, 100)} is not allowed`)
}

function isMerge({ key }: Pair): boolean {
  const scalar = key as Scalar | null
  return scalar?.value === '<<' && scalar.type === 'PLAIN' && scalar.tag === undefined
}

const words = new Map<string, JsonPrimitive>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, boolean] => [
    word,
    true,
  ]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, boolean] => [
    word,
    false,
  ]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, null] => [word, null]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, number] => [word, Number.NaN]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, number] => [word, Infinity]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, number] => [word, -Infinity]),
])

const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/

/** The value of a plain scalar. NaN and infinities are returned as such, although JSON cannot represent them. */
export function resolvePlain(text: string): JsonPrimitive {
  const word = words.get(text)
  if (word !== undefined) return word
  if (!/^[-+.0-9]/.test(text)) return text
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '')
  return parseInteger(digits) ?? parseDecimal(digits) ?? text
}

/** A 64-bit integer in any base; undefined for a larger one, which may still be a decimal. */
function parseInteger(digits: string): number | bigint | undefined {
  const [, sign = '', hexadecimal, binary, octal, plain] = integer.exec(digits) ?? []
  const body =
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : plain
  if (body === undefined) return undefined
  const magnitude = BigInt(body)
  const magnitudeMax = sign === '-' ? 2n ** 63n : sign === '+' ? 2n ** 63n - 1n : 2n ** 64n - 1n
  if (magnitude > magnitudeMax) return undefined
  const value = sign === '-' ? -magnitude : magnitude
  // Go's JSON has no unsigned numbers: it reads them as float64.
  return integerOf(value) ?? Number(value)
}

/** A float64; undefined for a larger number, which stays a string. */
function parseDecimal(digits: string): number | undefined {
  const value = decimal.test(digits) ? Number(digits) : undefined
  return value !== undefined && Number.isFinite(value) ? value : undefined
}
