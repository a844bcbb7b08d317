/**
 * Conversions between types, and `type` itself.
 */
import { overload, unguarded, type Library } from '../environment.ts'
import {
  Duration,
  printDuration,
  printTimestamp,
  readDuration,
  readTimestamp,
  timestampFromSeconds,
  type Timestamp,
} from '../timestamps.ts'
import { typeNameOf } from '../type-names.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  parameterType,
  stringType,
  timestampType,
  typeOf,
  uintType,
  type Type,
} from '../types.ts'
import {
  Bytes,
  Double,
  EvaluationError,
  intIfFits,
  intMax,
  intMin,
  TypeValue,
  uintIfFits,
  type Int,
  type Uint,
  type Value,
} from '../values.ts'
import { formatShortest, parseFloating } from './doubles.ts'

const a = parameterType('A')
const intOverflow = new EvaluationError('integer overflow')
const uintOverflow = new EvaluationError('unsigned integer overflow')
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const conversions: Library = {
  type: unguarded((value) => new TypeValue(typeNameOf(value)), [overload('type', [a], { to: typeOf(a) })]),
  dyn: unguarded((value) => value, [overload('dyn', [a], { to: dynType })]),
  bool: [identity('bool_to_bool', boolType), overload('string_to_bool', [stringType], { to: boolType, run: toBool })],
  bytes: [
    identity('bytes_to_bytes', bytesType),
    overload('string_to_bytes', [stringType], {
      to: bytesType,
      run: (text: string) => new Bytes(encoder.encode(text)),
    }),
  ],
  double: [
    identity('double_to_double', doubleType),
    overload('int64_to_double', [intType], { to: doubleType, run: (value: Int) => new Double(Number(value)) }),
    overload('string_to_double', [stringType], {
      to: doubleType,
      run: (text: string) => parseFloating(text) ?? failed('double'),
    }),
    overload('uint64_to_double', [uintType], { to: doubleType, run: ({ value }: Uint) => new Double(Number(value)) }),
  ],
  duration: [
    identity('duration_to_duration', durationType),
    overload('int64_to_duration', [intType], { to: durationType, run: (value: Int) => new Duration(BigInt(value)) }),
    overload('string_to_duration', [stringType], {
      to: durationType,
      run: (text: string) => readDuration(text) ?? failed('google.protobuf.Duration'),
    }),
  ],
  int: [
    identity('int64_to_int64', intType),
    overload('double_to_int64', [doubleType], { to: intType, run: doubleToInt }),
    overload('duration_to_int64', [durationType], {
      to: intType,
      run: ({ nanos }: Duration) => intIfFits(nanos) ?? intOverflow,
    }),
    overload('string_to_int64', [stringType], { to: intType, run: stringToInt }),
    overload('timestamp_to_int64', [timestampType], { to: intType, run: ({ seconds }: Timestamp) => seconds }),
    overload('uint64_to_int64', [uintType], { to: intType, run: ({ value }: Uint) => intIfFits(value) ?? intOverflow }),
  ],
  string: [
    identity('string_to_string', stringType),
    overload('bool_to_string', [boolType], { to: stringType, run: String }),
    overload('bytes_to_string', [bytesType], { to: stringType, run: bytesToString }),
    overload('double_to_string', [doubleType], { to: stringType, run: ({ value }: Double) => formatShortest(value) }),
    overload('duration_to_string', [durationType], { to: stringType, run: printDuration }),
    overload('int64_to_string', [intType], { to: stringType, run: String }),
    overload('timestamp_to_string', [timestampType], { to: stringType, run: printTimestamp }),
    overload('uint64_to_string', [uintType], { to: stringType, run: ({ value }: Uint) => String(value) }),
  ],
  timestamp: [
    identity('timestamp_to_timestamp', timestampType),
    overload('int64_to_timestamp', [intType], {
      to: timestampType,
      run: (value: Int) => timestampFromSeconds(Number(value)),
    }),
    overload('string_to_timestamp', [stringType], {
      to: timestampType,
      run: (text: string) => readTimestamp(text) ?? failed('google.protobuf.Timestamp'),
    }),
  ],
  uint: [
    identity('uint64_to_uint64', uintType),
    overload('double_to_uint64', [doubleType], { to: uintType, run: doubleToUint }),
    overload('int64_to_uint64', [intType], {
      to: uintType,
      run: (value: Int) => uintIfFits(BigInt(value)) ?? uintOverflow,
    }),
    overload('string_to_uint64', [stringType], { to: uintType, run: stringToUint }),
  ],
}

function identity(id: string, type: Type) {
  return overload(id, [type], { to: type, run: (value: Value) => value })
}

function failed(target: string): EvaluationError {
  return new EvaluationError(`type conversion error from 'string' to '${target}'`)
}

function toBool(text: string): boolean | EvaluationError {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : failed('bool')
}

function doubleToInt({ value }: Double): Value {
  // The bounds are excluded: as doubles they also represent numbers beyond them.
  if (!(value > Number(intMin) && value < Number(intMax))) return intOverflow
  return intIfFits(BigInt(Math.trunc(value))) ?? intOverflow
}

function doubleToUint({ value }: Double): Value {
  return value >= 0 && value < 2 ** 64 ? (uintIfFits(BigInt(Math.trunc(value))) ?? uintOverflow) : uintOverflow
}

function stringToInt(text: string): Value {
  if (!/^[+-]?\d+$/.test(text) || text.length > digitsMax) return failed('int')
  return intIfFits(text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace('+', ''))) ?? failed('int')
}

function stringToUint(text: string): Value {
  return /^\d+$/.test(text) && text.length <= digitsMax ? (uintIfFits(BigInt(text)) ?? failed('uint')) : failed('uint')
}

/** More digits are leading zeros or an overflow, and parsing them takes quadratic time. */
const digitsMax = 1000

function bytesToString({ value }: Bytes): Value {
  try {
    return decoder.decode(value)
  } catch {
    return new EvaluationError('invalid UTF-8 in bytes, cannot convert to string')
  }
}
