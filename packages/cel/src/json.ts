/**
 * Objects without a schema that an expression constructs: `Object{spec: Object.spec{replicas: 3}}`, and conversions to and from
 * JSON.
 *
 * Any field may have any value. The type name of a part must be the path of its field (`Object.spec`). Only
 * {@link misplacedParts} checks that; call it before you use such an object.
 */
import { JsonMap, ListValue, MapValue } from './collections.ts'
import { equal } from './comparison.ts'
import { isJsonObject, setOwn, type JsonObject, type JsonValue } from './primitives/json.ts'
import { Duration, printDuration, printTimestamp, Timestamp } from './timestamps.ts'
import { describeValue, typeNameOf } from './type-names.ts'
import { Bytes, Double, EvaluationError, Opaque, Optional, Uint, type Value } from './values.ts'

export class ObjectValue extends Opaque {
  readonly typeName: string
  readonly fields: ReadonlyMap<string, Value>

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super()
    this.typeName = typeName
    this.fields = fields
  }

  equals(other: Opaque): boolean {
    return (
      other instanceof ObjectValue &&
      other.fields.size === this.fields.size &&
      [...this.fields].every(([name, value]) => equal(value, other.fields.get(name) ?? null) === true)
    )
  }

  override toString(): string {
    return this.typeName
  }
}

/** The parts of an object whose type name is not the path of their field, as messages. */
export function misplacedParts(value: Value, expected = value instanceof ObjectValue ? value.typeName : ''): string[] {
  if (value instanceof ListValue) return value.values().flatMap((item) => misplacedParts(item, expected))
  if (value instanceof MapValue) return value.keys().flatMap((key) => misplacedParts(value.find(key) ?? null, expected))
  if (!(value instanceof ObjectValue)) return []
  const own =
    value.typeName === expected
      ? []
      : [
          `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`,
        ]
  return [...own, ...[...value.fields].flatMap(([name, inner]) => misplacedParts(inner, `${expected}.${name}`))]
}

/** Converts a value to JSON; an error for values without a JSON form. Numbers that a double cannot represent become strings. */
export function toJson(value: Value): JsonValue | EvaluationError {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number')
    return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Double) return value.value
  if (value instanceof Uint)
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : String(value.value)
  if (value instanceof Bytes) return btoa(Array.from(value.value, (code) => String.fromCharCode(code)).join(''))
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value)
  if (value instanceof ListValue) return listToJson(value.values())
  if (value instanceof MapValue) return entriesToJson(value.keys().map((key) => [key, value.find(key) ?? null]))
  if (value instanceof ObjectValue) return entriesToJson([...value.fields])
  return value instanceof EvaluationError
    ? value
    : new EvaluationError(`type conversion not supported for '${typeNameOf(value)}'`)
}

function listToJson(items: readonly Value[]): JsonValue | EvaluationError {
  const list: JsonValue[] = []
  for (const item of items) {
    const json = toJson(item)
    if (json instanceof EvaluationError) return json
    list.push(json)
  }
  return list
}

function entriesToJson(entries: readonly (readonly [Value, Value])[]): JsonObject | EvaluationError {
  const object: Record<string, JsonValue> = {}
  for (const [key, value] of entries) {
    if (typeof key !== 'string')
      return new EvaluationError(
        `map key ${JSON.stringify(describeValue(key))} is of type ${typeNameOf(key)}, not string`,
      )
    const json = toJson(value)
    if (json instanceof EvaluationError) return json
    setOwn(object, key, json)
  }
  return object
}

/** Converts JSON without a schema: integers to int, other numbers to double. */
export function adaptDynamic(json: unknown): Value {
  if (json === null || json === undefined) return null
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : new Double(json)
  if (typeof json !== 'object') return json as Value
  if (Array.isArray(json)) return ListValue.ofJson(json, adaptDynamic, { hasSchema: false })
  // Only plain objects are JSON; any other object is a value.
  if (isJsonObject(json)) return new JsonMap(json, () => adaptDynamic, { isObject: false, hasSchema: false })
  return json as Value
}
