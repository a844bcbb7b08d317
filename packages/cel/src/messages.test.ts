import { expect, test } from 'vitest'
import { ListValue } from './collections.ts'
import { CompiledExpression, compileExpression } from './expression.ts'
import { baseEnvironment } from './library/base.ts'
import { formatType, intType, listOf } from './types.ts'

const environment = baseEnvironment.extend({ numbers: { type: listOf(intType) } })

function evaluate(
  text: string,
  numbers = ListValue.of([]),
): { type?: string; value?: unknown; error?: string; cost?: number } {
  const compiled = compileExpression(text, environment)
  if (!(compiled instanceof CompiledExpression)) return { error: compiled.errors.split('\n', 1)[0] ?? '' }
  const { value, error, cost } = compiled.evaluate({ numbers })
  return { type: formatType(compiled.type), cost, ...(error === undefined ? { value } : { error }) }
}

test.each([
  ['Int32Value{value: 7} == 7 && Int32Value{} == 0'],
  ['UInt32Value{value: 7u} == 7u && UInt64Value{} == 0u'],
  ['BoolValue{value: true} && !BoolValue{}'],
  ['StringValue{value: "a"}.startsWith("a") && BytesValue{value: b"a"} == b"a"'],
  ['DoubleValue{value: 1.5} == 1.5 && FloatValue{value: 1.333} != 1.333'],
  ['Int64Value{value: 1} != null && Int64Value{?value: optional.none()} == 0'],
  ['Value{} == null && Value{null_value: 0} == null'],
  ['Value{number_value: 2.0, string_value: "last"} == "last"'],
  ['Value{struct_value: {"a": 1}}.a == dyn(1.0)'],
  ['Struct{fields: {"a": 9007199254740993}} == {"a": "9007199254740993"}'],
  ['ListValue{values: [duration("1h")]} == ["3600s"]'],
  ['Duration{seconds: 5, nanos: 7} == duration("5.000000007s")'],
  ['Timestamp{seconds: 60, nanos: -1} < timestamp("1970-01-01T00:01:00Z")'],
])('a well-known message is the value it stands for: %s', (text) => {
  expect(evaluate(text.replace(/\b([A-Z]\w+)\{/g, 'google.protobuf.$1{'))).toMatchObject({ type: 'bool', value: true })
})

test.each([
  ['google.protobuf.Int32Value{value: 1}', { type: 'wrapper(int)', cost: 40 }],
  ['[google.protobuf.Int32Value{value: 1}, 1]', { type: 'list(wrapper(int))', cost: 50 }],
  ['true ? google.protobuf.Int32Value{value: 1} : 1', { type: 'wrapper(int)', cost: 40 }],
  [
    'google.protobuf.Int32Value{value: 2147483648}',
    { error: 'field type conversion error for google.protobuf.Int32Value.value value type: integer overflow' },
  ],
  ['google.protobuf.Int32Value{value: 1 / 0}', { error: 'division by zero', cost: 41 }],
  [
    'google.protobuf.Value{struct_value: {"a": int}}',
    {
      error:
        "field type conversion error for google.protobuf.Value.struct_value value type: type conversion not supported for 'type'",
    },
  ],
  ['google.protobuf.Int32Value{valu: 1}', { error: "ERROR: <input>:1:32: undefined field 'valu'" }],
  [
    'google.protobuf.Int32Value{value: null}',
    { error: "ERROR: <input>:1:33: expected type of field 'value' is 'int' but provided type is 'null'" },
  ],
  [
    'google.protobuf.Int32Value{value: 1} == 1u',
    { error: "ERROR: <input>:1:38: found no matching overload for '_==_' applied to '(wrapper(int), uint)'" },
  ],
  [
    '[google.protobuf.Int32Value{value: 1}, null]',
    { error: "ERROR: <input>:1:40: expected type 'wrapper(int)' but found 'null'" },
  ],
  ['int{}', { error: "ERROR: <input>:1:4: 'int' is not a message type" }],
  [
    'google.protobuf.Method{}',
    { error: "ERROR: <input>:1:23: undeclared reference to 'google.protobuf.Method' (in container '')" },
  ],
])('%s is judged as upstream judges it', (text, wanted) => {
  expect(evaluate(text)).toMatchObject(wanted)
})

test('a message that goes through a long list costs more, so repeating it is cut off', () => {
  const numbers = ListValue.of(Array.from({ length: 10_000 }, (_, index) => index))
  expect(evaluate('google.protobuf.ListValue{values: numbers}.size() == 10000', numbers)).toMatchObject({
    value: true,
    cost: 1043,
  })
  expect(evaluate('numbers.all(n, google.protobuf.ListValue{values: numbers}.size() > n)', numbers)).toMatchObject({
    error: expect.stringContaining('cost limit exceeded') as string,
  })
})
