/**
 * Message literals, such as `google.protobuf.Int32Value{value: 1}`: constructs their values. The checker knows their fields.
 *
 * Unset fields have their protobuf default. Of `Value` only the last field counts. Values in a `Value`, `Struct` or `ListValue`
 * become JSON: numbers are doubles, or strings if a double cannot represent them.
 *
 * cel-go charges the same for every message. Here large messages cost more, as every traversal of a list does; otherwise a short
 * expression could keep a server busy for minutes.
 */
import type { StructField } from './ast.ts'
import { EntryMap, ListValue, MapValue } from './collections.ts'
import { messageCreationCost, traversalFactor } from './cost.ts'
import { PlanError, type Frame, type Plan } from './frame.ts'
import type { Planner } from './planner.ts'
import { Duration, printDuration, printTimestamp, Timestamp } from './timestamps.ts'
import { describeValue, typeNameOf } from './type-names.ts'
import { Bytes, Double, EvaluationError, isInt, Optional, Uint, type Value } from './values.ts'

/** How many elements the base cost of a message covers. */
const freeElements = 100

/** Counts the elements converted to JSON. */
interface Meter {
  elements: number
}

interface MessageConstructor {
  /** Converts a value for a field; undefined when the type does not match. */
  readonly take: (value: Value, field: string, meter: Meter) => Value | undefined
  readonly make: (fields: ReadonlyMap<string, Value>) => Value
}

export function planMessage(
  planner: Planner,
  { typeName, fields }: { typeName: string; fields: readonly StructField[] },
): Plan {
  const name = typeName.replace(/^\./, '')
  const constructor = messageConstructors.get(name) ?? constructorOf(planner, name)
  if (!constructor) throw new PlanError(`unknown type: ${name}`)
  const steps = fields.map((field) => ({ ...field, step: planner.plan(field.value).run }))
  const build = (frame: Frame, meter: Meter): Value => {
    const taken = new Map<string, Value>()
    for (const { name: field, optional, step } of steps) {
      const value = fieldValue(step(frame), { field, optional })
      if (value instanceof EvaluationError) return value
      if (value === undefined) continue
      const converted = constructor.take(value, field, meter)
      if (converted === undefined || converted instanceof EvaluationError)
        return conversionError(`${name}.${field}`, converted ?? value)
      // Deleted first, so that the field set last is the last in iteration order.
      taken.delete(field)
      taken.set(field, converted)
    }
    return constructor.make(taken)
  }
  return {
    run: (frame) => {
      const meter = { elements: 0 }
      const value = build(frame, meter)
      frame.spend(
        meter.elements > freeElements
          ? messageCreationCost + Math.floor(meter.elements * traversalFactor)
          : messageCreationCost,
      )
      return value
    },
  }
}

/** The messages of the environment accept any value unchanged. */
function constructorOf({ environment }: Planner, name: string): MessageConstructor | undefined {
  const message = environment.message(name)
  return message && { take: (value) => value, make: (fields) => message.make(fields) }
}

function fieldValue(value: Value, { field, optional }: { field: string; optional: boolean }): Value | undefined {
  if (!optional || value instanceof EvaluationError) return value
  return value instanceof Optional
    ? value.value
    : new EvaluationError(`cannot initialize optional entry '${field}' from non-optional value ${describeValue(value)}`)
}

function conversionError(field: string, found: Value): EvaluationError {
  const problem =
    found instanceof EvaluationError ? found.message : `unsupported type conversion from '${typeNameOf(found)}'`
  return new EvaluationError(`field type conversion error for ${field} value type: ${problem}`)
}

const messageConstructors: ReadonlyMap<string, MessageConstructor> = new Map([
  wrapper('BoolValue', false, (value) => (typeof value === 'boolean' ? value : undefined)),
  wrapper('BytesValue', new Bytes(new Uint8Array()), (value) => (value instanceof Bytes ? value : undefined)),
  wrapper('DoubleValue', new Double(0), (value) => (value instanceof Double ? value : undefined)),
  wrapper('FloatValue', new Double(0), (value) =>
    value instanceof Double ? new Double(Math.fround(value.value)) : undefined,
  ),
  wrapper('Int32Value', 0, (value) => takeInt32(value)),
  wrapper('Int64Value', 0, (value) => (isInt(value) ? value : undefined)),
  wrapper('StringValue', '', (value) => (typeof value === 'string' ? value : undefined)),
  wrapper('UInt32Value', new Uint(0n), (value) => takeUint32(value)),
  wrapper('UInt64Value', new Uint(0n), (value) => (value instanceof Uint ? value : undefined)),
  messageConstructor('Duration', { take: (value) => (isInt(value) ? value : undefined), make: makeDuration }),
  messageConstructor('Timestamp', { take: (value) => (isInt(value) ? value : undefined), make: makeTimestamp }),
  messageConstructor('ListValue', {
    take: (value, _, meter) => (value instanceof ListValue ? toJson(value, meter) : undefined),
    make: (fields) => fields.get('values') ?? ListValue.of([]),
  }),
  messageConstructor('Struct', {
    take: (value, _, meter) => (value instanceof MapValue ? toJson(value, meter) : undefined),
    make: (fields) => fields.get('fields') ?? new EntryMap(),
  }),
  messageConstructor('Value', { take: takeJson, make: (fields) => [...fields.values()].at(-1) ?? null }),
])

function messageConstructor(name: string, how: MessageConstructor): [string, MessageConstructor] {
  return [`google.protobuf.${name}`, how]
}

function wrapper(name: string, absent: Value, take: (value: Value) => Value | undefined): [string, MessageConstructor] {
  return messageConstructor(name, { take, make: (fields) => fields.get('value') ?? absent })
}

function takeInt32(value: Value): Value | undefined {
  if (!isInt(value)) return undefined
  return typeof value === 'number' && value === (value | 0) ? value : new EvaluationError('integer overflow')
}

function takeUint32(value: Value): Value | undefined {
  if (!(value instanceof Uint)) return undefined
  return value.value < 2n ** 32n ? value : new EvaluationError('unsigned integer overflow')
}

/** A duration has 64 bits of nanoseconds and saturates. */
function makeDuration(fields: ReadonlyMap<string, Value>): Value {
  const nanos = bigOf(fields.get('seconds')) * 1_000_000_000n + bigOf(fields.get('nanos'))
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n]
  return new Duration(nanos < min ? min : nanos > max ? max : nanos)
}

function makeTimestamp(fields: ReadonlyMap<string, Value>): Value {
  const nanos = bigOf(fields.get('nanos'))
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return new Timestamp(Number(bigOf(fields.get('seconds')) + (nanos - rest) / 1_000_000_000n), Number(rest))
}

function bigOf(value: Value | undefined): bigint {
  return value !== undefined && isInt(value) ? BigInt(value) : 0n
}

function takeJson(value: Value, field: string, meter: Meter): Value | undefined {
  switch (field) {
    case 'null_value':
      return isInt(value) ? null : undefined
    case 'number_value':
      return value instanceof Double ? value : undefined
    case 'string_value':
      return typeof value === 'string' ? value : undefined
    case 'bool_value':
      return typeof value === 'boolean' ? value : undefined
    case 'struct_value':
      return value instanceof MapValue ? toJson(value, meter) : undefined
    default:
      return value instanceof ListValue ? toJson(value, meter) : undefined
  }
}

/** Converts a value to its JSON form; an error for values without one. */
function toJson(value: Value, meter: Meter): Value {
  meter.elements++
  // Ints beyond the safe range are bigints.
  if (typeof value === 'number') return new Double(value)
  if (typeof value === 'bigint') return String(value)
  if (value === null || typeof value !== 'object' || value instanceof Double || value instanceof EvaluationError)
    return value
  if (value instanceof Uint)
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? new Double(Number(value.value)) : String(value.value)
  if (value instanceof Bytes) return btoa(Array.from(value.value, (code) => String.fromCharCode(code)).join(''))
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value, meter)
  if (value instanceof ListValue) return jsonList(value, meter)
  return value instanceof MapValue
    ? jsonMap(value, meter)
    : new EvaluationError(`type conversion not supported for '${typeNameOf(value)}'`)
}

function jsonList(list: ListValue, meter: Meter): Value {
  const items = list.values().map((item) => toJson(item, meter))
  return items.find((item) => item instanceof EvaluationError) ?? ListValue.of(items)
}

function jsonMap(map: MapValue, meter: Meter): Value {
  const entries = map.keys().map((key): [Value, Value] => [describeValue(key), toJson(map.find(key) ?? null, meter)])
  return entries.map(([, item]) => item).find((item) => item instanceof EvaluationError) ?? EntryMap.from(entries)
}
