/**
 * The additions for mutating admission policies: `Object` and its parts, `JSONPatch`, and `jsonpatch.escapeKey`.
 */
import { equal } from '../comparison.ts'
import { overload, type Messages, type MessageType, type Overload } from '../environment.ts'
import { ObjectValue } from '../json.ts'
import { typeNameOf } from '../type-names.ts'
import { dynType, objectType, stringType, type Type } from '../types.ts'
import { EvaluationError, Opaque, type Value } from '../values.ts'

/** One operation of a JSON patch. */
export class PatchValue extends Opaque {
  readonly typeName = 'JSONPatch'
  readonly fields: ReadonlyMap<string, Value>

  constructor(fields: ReadonlyMap<string, Value>) {
    super()
    this.fields = fields
  }

  equals(other: Opaque): boolean {
    return (
      other instanceof PatchValue &&
      patchFields.every((name) => {
        const [mine, theirs] = [this.fields.get(name), other.fields.get(name)]
        return mine === undefined || theirs === undefined ? mine === theirs : equal(mine, theirs) === true
      })
    )
  }

  override toString(): string {
    return this.typeName
  }
}

const patchFields = ['op', 'path', 'from', 'value']
/** The result type of an apply configuration. */
export const wholeObjectType: Type = objectType('Object')
/** The element type of the list that a JSON patch expression returns. */
export const patchOperationType: Type = objectType(
  'JSONPatch',
  new Map([
    ['op', stringType],
    ['path', stringType],
    ['from', stringType],
    ['value', dynType],
  ]),
)

/** Messages of mutating policies. */
export const patchMessages: Messages = (name) => {
  if (name === 'JSONPatch') return patchMessage
  return name === 'Object' || name.startsWith('Object.') ? objectMessage(name) : undefined
}

/** Functions of mutating policies. */
export const patchFunctions: ReadonlyMap<string, readonly Overload[]> = new Map([
  [
    'jsonpatch.escapeKey',
    [
      overload<[string]>('string_jsonpatch_escapeKey_string', [stringType], {
        to: stringType,
        run: (key) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
      }),
    ],
  ],
])

const patchMessage: MessageType = {
  type: patchOperationType,
  field: (name) => patchOperationType.fields?.get(name),
  make(fields) {
    for (const name of ['op', 'path', 'from']) {
      const value = fields.get(name)
      if (value !== undefined && typeof value !== 'string')
        return new EvaluationError(`unexpected type ${typeNameOf(value)} for JSONPatchType '${name}' field`)
    }
    return new PatchValue(fields)
  },
}

function objectMessage(name: string): MessageType {
  const type = objectType(name, anyField)
  return { type, field: () => dynType, make: (fields) => new ObjectValue(name, fields) }
}

/** An object in which every field exists with type dyn. */
const anyField: ReadonlyMap<string, Type> = new (class extends Map<string, Type> {
  override get(): Type {
    return dynType
  }
})()
