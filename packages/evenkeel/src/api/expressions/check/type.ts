/**
 * Types while an expression is checked.
 *
 * `dyn` is anything and is decided at run time. `parameter` stands for a type that is not known yet, in a signature or while
 * checking. `object` has fields and is told apart by its name; `opaque` is a named type with parameters (`optional_type(int)`);
 * `wrapper` is a plain type that may also be null.
 */

type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'parameter'
  | 'opaque'
  | 'object'
  | 'wrapper'

export interface Type {
  readonly kind: TypeKind
  /** As written in expressions and in messages. */
  readonly name: string
  readonly parameters: readonly Type[]
  /** Of objects: what can be selected, by escaped name. */
  readonly fields?: ReadonlyMap<string, Type>
}

export const dynType = simple('dyn', 'dyn')
export const errorType = simple('error', '!error!')
export const nullType = simple('null', 'null_type')
export const boolType = simple('bool', 'bool')
export const intType = simple('int', 'int')
export const uintType = simple('uint', 'uint')
export const doubleType = simple('double', 'double')
export const stringType = simple('string', 'string')
export const bytesType = simple('bytes', 'bytes')
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp')
export const durationType = simple('duration', 'google.protobuf.Duration')
export const typeType = simple('type', 'type')

export function listOf(element: Type): Type {
  return { kind: 'list', name: 'list', parameters: [element] }
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: 'map', name: 'map', parameters: [key, value] }
}

export function typeOf(type: Type): Type {
  return { kind: 'type', name: 'type', parameters: [type] }
}

export function optionalOf(type: Type): Type {
  return opaqueType('optional_type', type)
}

export function wrapperOf(type: Type): Type {
  return { kind: 'wrapper', name: 'wrapper', parameters: [type] }
}

/** A wrapper without its null; every other type as it is. */
export function unwrapped(type: Type): Type {
  return type.kind === 'wrapper' ? type.parameters[0]! : type
}

export function parameterType(name: string): Type {
  return simple('parameter', name)
}

export function opaqueType(name: string, ...parameters: Type[]): Type {
  return { kind: 'opaque', name, parameters }
}

export function objectType(name: string, fields: ReadonlyMap<string, Type> = new Map()): Type {
  return { kind: 'object', name, parameters: [], fields }
}

/** What an optional holds; undefined for everything else. */
export function insideOptional(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined
}

export function isDyn(type: Type): boolean {
  return type.kind === 'dyn'
}

/** The same type in every part; parameters only by the same name, unless `anyParameter`. */
export function sameType(a: Type, b: Type, { anyParameter = false }: { anyParameter?: boolean } = {}): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false
  if (a.name !== b.name && !(anyParameter && a.kind === 'parameter')) return false
  return a.parameters.every((parameter, index) => sameType(parameter, b.parameters[index]!, { anyParameter }))
}

/** As messages show it: `list(int)`, `map(string, dyn)`, `optional_type(string)`. */
export function formatType(type: Type): string {
  const short = shortNames.get(type.kind)
  if (short !== undefined) return short
  return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(', ')})`
}

const shortNames = new Map<TypeKind, string>([
  ['null', 'null'],
  ['timestamp', 'timestamp'],
  ['duration', 'duration'],
  ['error', '!error!'],
])

function simple(kind: TypeKind, name: string): Type {
  return { kind, name, parameters: [] }
}
