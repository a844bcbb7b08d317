/**
 * Prunes a decoded custom object by its structural schema, in one pass.
 *
 * - A field that the schema does not declare is removed and reported, unless its parent preserves unknown fields. Declared
 *   fields inside such a parent are still pruned.
 * - A null that the schema does not allow is removed, unless a default will replace it. In lists it stays.
 * - The metadata of the object, and of every embedded resource, is read as ObjectMeta. apiVersion, kind and metadata are
 *   always declared there.
 *
 * The given object is not modified: a container is copied when something in it changes. Recursion is bounded by the depth
 * of the schema, and where everything is removed, by the nesting limit of the JSON parser.
 */
import {
  compareText,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, formatFieldError } from '../errors/field-error.ts'
import { compileSchema, type CompiledSchema } from './compile.ts'
import { canonicalJson, sortKeys } from './correlate.ts'
import type { DecodedObject } from './decode.ts'
import { coerceObjectMeta } from './object-meta.ts'
import type { SchemaNode } from './schema.ts'

type PathSteps = (string | number)[]

/** An error in the metadata of an embedded resource; caught in this file. */
class PruneError extends Error {}

/** Prunes a custom object and reads its metadata. */
export function pruneCustomObject(value: JsonObject, schema: SchemaNode): DecodedObject {
  const mistake = typeMistake(value)
  if (mistake !== undefined) return { object: value, unknown: [], mistake }
  const metadata = value['metadata'] === undefined ? undefined : coerceObjectMeta(value['metadata'])
  if (metadata?.mistake !== undefined) return { object: value, unknown: [], mistake: metadata.mistake }
  const pruner = new Pruner(compileSchema(schema))
  try {
    const shaped = pruner.root(value)
    const object =
      metadata === undefined || shaped['metadata'] === metadata.object
        ? shaped
        : { ...shaped, metadata: metadata.object }
    return {
      object,
      unknown: [...(metadata?.unknown.map((path) => `metadata.${path}`).sort(compareText) ?? []), ...pruner.unknown()],
    }
  } catch (error) {
    if (!(error instanceof PruneError)) throw error
    return { object: value, unknown: [], mistake: error.message }
  }
}

function typeMistake(value: JsonObject): string | undefined {
  for (const key of ['kind', 'apiVersion']) {
    const text = value[key]
    if (text === undefined || typeof text === 'string') continue
    return `.${key} accessor error: ${goValue(text)} is of the type ${goType(text)}, expected string`
  }
  return undefined
}

function goValue(value: JsonValue): string {
  return value === null ? '<nil>' : typeof value === 'object' ? canonicalJson(value) : String(value)
}

function goType(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** More than is ever reported; a hostile body could have a field per four bytes. */
const unknownMax = 1000

class Pruner {
  readonly #plan: CompiledSchema
  readonly #steps: PathSteps = []
  readonly #pruned: string[] = []
  readonly #dropped: string[] = []

  constructor(plan: CompiledSchema) {
    this.#plan = plan
  }

  root(object: JsonObject): JsonObject {
    return this.#object(object, this.#plan, { keeps: this.#plan.preservesUnknown, root: true })
  }

  /** Pruned fields in order, then the dropped fields of metadata in order, as kube-apiserver reports them. */
  unknown(): string[] {
    return [...this.#pruned.sort(compareText), ...this.#dropped.sort(compareText)]
  }

  /** `keeps` says that unknown fields stay: it also holds for the items of a list that preserves them. */
  #value(value: JsonValue, plan: CompiledSchema | undefined, keeps: boolean): JsonValue {
    if (typeof value !== 'object' || value === null) return value
    if (plan === undefined) return keeps ? value : this.#empty(value)
    if (Array.isArray(value)) return this.#list(value, plan, keeps || plan.preservesUnknown)
    return this.#object(value as JsonObject, plan, { keeps: keeps || plan.preservesUnknown, root: false })
  }

  #list(list: JsonArray, plan: CompiledSchema, keeps: boolean): JsonArray {
    const depth = this.#steps.length
    let draft: JsonValue[] | undefined
    for (let index = 0; index < list.length; index++) {
      const item = list[index] ?? null
      if (typeof item !== 'object' || item === null) continue
      this.#steps[depth] = index
      const read = this.#value(item, plan.items, keeps)
      if (read !== item) (draft ??= [...list])[index] = read
    }
    this.#steps.length = depth
    return draft ?? list
  }

  #object(object: JsonObject, plan: CompiledSchema, { keeps, root }: { keeps: boolean; root: boolean }): JsonObject {
    const depth = this.#steps.length
    let draft: JsonObjectDraft | undefined
    for (const key of Object.keys(object)) {
      const value = object[key]
      if (value === undefined) continue
      this.#steps[depth] = key
      const read =
        (root || plan.isEmbedded) && isMetaField(key)
          ? this.#metaField(value, plan, root)
          : this.#field(value, plan, keeps)
      if (read === value) continue
      draft ??= { ...object }
      if (read === undefined) delete draft[key]
      else setOwn(draft, key, read)
    }
    this.#steps.length = depth
    return draft ?? object
  }

  #field(value: JsonValue, plan: CompiledSchema, keeps: boolean): JsonValue | undefined {
    const place = plan.properties?.get(this.#key()) ?? plan.additional
    if (place === undefined && plan.allowsAdditional === undefined) {
      if (keeps) return value
      this.#report()
      return undefined
    }
    return value === null ? nullAt(place) : this.#value(value, place, false)
  }

  /** Metadata of the root is read elsewhere. */
  #metaField(value: JsonValue, plan: CompiledSchema, root: boolean): JsonValue | undefined {
    const key = this.#key()
    if (root) return value
    const place = plan.properties?.get(key) ?? plan.additional
    if (value === null && nullAt(place) === undefined) return undefined
    if (key !== 'metadata') {
      if (typeof value !== 'string') throw this.#refusal(value, 'must be a string')
      return value
    }
    const { object, unknown, mistake } = coerceObjectMeta(value)
    if (mistake !== undefined) throw this.#refusal(value, mistake)
    for (const path of unknown) this.#dropped.push(`${this.#path().toString()}.${path}`)
    return object
  }

  /** Without a schema nothing remains of objects, wherever they stand. */
  #empty(value: JsonArray | JsonObject): JsonValue {
    const depth = this.#steps.length
    if (isJsonObject(value)) {
      const keys = Object.keys(value)
      for (const key of keys) {
        this.#steps[depth] = key
        this.#report()
      }
      this.#steps.length = depth
      return keys.length === 0 ? value : {}
    }
    let draft: JsonValue[] | undefined
    for (const [index, item] of (value as JsonArray).entries()) {
      this.#steps[depth] = index
      const read = this.#value(item, undefined, false)
      if (read !== item) (draft ??= [...(value as JsonArray)])[index] = read
    }
    this.#steps.length = depth
    return draft ?? value
  }

  #report(): void {
    if (this.#pruned.length < unknownMax) this.#pruned.push(formatSteps(this.#steps))
  }

  #key(): string {
    return String(this.#steps.at(-1))
  }

  #refusal(value: JsonValue, why: string): PruneError {
    return new PruneError(formatFieldError(fieldError.invalid(this.#path(), sortKeys(value), why)))
  }

  /** Errors write the keys of maps in brackets; reports of unknown fields do not. */
  #path(): FieldPath {
    const [first = '', ...rest] = this.#steps
    let path = FieldPath.of(String(first))
    let plan = this.#plan.properties?.get(String(first)) ?? this.#plan.additional
    for (const step of rest) {
      if (typeof step === 'number') [path, plan] = [path.index(step), plan?.items]
      else if (plan?.properties?.has(step) === true || plan?.additional === undefined)
        [path, plan] = [path.child(step), plan?.properties?.get(step)]
      else [path, plan] = [path.key(step), plan.additional]
    }
    return path
  }
}

/** A null stays where it is allowed and where a default will replace it. */
function nullAt(place: CompiledSchema | undefined): null | undefined {
  return place === undefined || place.nullable || place.defaultValue !== undefined ? null : undefined
}

function isMetaField(key: string): boolean {
  return key === 'metadata' || key === 'kind' || key === 'apiVersion'
}

function formatSteps(steps: Readonly<PathSteps>): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}
