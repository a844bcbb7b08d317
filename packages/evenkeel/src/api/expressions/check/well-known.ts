/**
 * The messages of protobuf that can be written in an expression, such as `google.protobuf.Int32Value{value: 1}`.
 *
 * Kubernetes has no messages of its own, but these come with CEL. None of them is a message once it is made: each stands for
 * a plain value, and the type here is the one of that value.
 */
import type { MessageType } from './declarations.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
  uintType,
  wrapperOf,
  type Type,
} from './type.ts'

type WellKnownMessage = Pick<MessageType, 'type' | 'field'>

const anyMap = mapOf(stringType, dynType)
const anyList = listOf(dynType)
const moment = { seconds: intType, nanos: intType }

const messages: ReadonlyMap<string, WellKnownMessage> = new Map([
  message('BoolValue', wrapperOf(boolType), { value: boolType }),
  message('BytesValue', wrapperOf(bytesType), { value: bytesType }),
  message('DoubleValue', wrapperOf(doubleType), { value: doubleType }),
  message('FloatValue', wrapperOf(doubleType), { value: doubleType }),
  message('Int32Value', wrapperOf(intType), { value: intType }),
  message('Int64Value', wrapperOf(intType), { value: intType }),
  message('StringValue', wrapperOf(stringType), { value: stringType }),
  message('UInt32Value', wrapperOf(uintType), { value: uintType }),
  message('UInt64Value', wrapperOf(uintType), { value: uintType }),
  message('Duration', durationType, moment),
  message('Timestamp', timestampType, moment),
  message('ListValue', anyList, { values: anyList }),
  message('Struct', anyMap, { fields: anyMap }),
  message('Value', dynType, {
    null_value: intType,
    number_value: doubleType,
    string_value: stringType,
    bool_value: boolType,
    struct_value: anyMap,
    list_value: anyList,
  }),
])

/** The message of a name as it is written, absolute (`.google...`) or not. */
export function wellKnownMessage(written: string): WellKnownMessage | undefined {
  return messages.get(written.replace(/^\./, ''))
}

function message(name: string, type: Type, fields: Readonly<Record<string, Type>>): [string, WellKnownMessage] {
  const types = new Map(Object.entries(fields))
  return [`google.protobuf.${name}`, { type, field: (field) => types.get(field) }]
}
