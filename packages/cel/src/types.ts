/**
 * Static types and assignability.
 *
 * `dyn` is any type, resolved at run time. `parameter` is a type that is not known yet, in a signature or while checking.
 * `object` has fields and is identified by its name; `opaque` is a named type with parameters (`optional_type(int)`); `wrapper` is
 * a primitive type that may also be null.
 *
 * Type parameters are inferred by substitution. Substitutions of an attempt are kept apart and committed only if it succeeds, so a
 * failed overload has no effect. Example: `[1, 2] + xs` with `add(list(A), list(A)) : list(A)` and `xs: list(dyn)`:
 *
 *     list(int)  assigned to list(A)    A = int
 *     list(dyn)  assigned to list(A)    dyn and int agree; the most general wins: A = dyn
 *     result     list(A)                list(dyn)
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

/** The type inside a wrapper; any other type unchanged. */
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

/** The type inside an optional; undefined for other types. */
export function insideOptional(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined
}

export function isDyn(type: Type): boolean {
  return type.kind === 'dyn'
}

/** Structural equality; parameters are equal by name, unless `anyParameter`. */
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

/** Substitutions of type parameters, by name. */
export type Substitutions = Map<string, Type>

/** Whether every pair of types is assignable; if so, adds the inferred substitutions. */
export function assign(known: Substitutions, wanted: readonly Type[], given: readonly Type[]): boolean {
  const attempt = new TentativeSubstitutions(known)
  if (!allAssignable(attempt, wanted, given)) return false
  attempt.keep()
  return true
}

/** A type with its parameters replaced; with `openToDyn`, unresolved ones become `dyn`. */
export function substitute(
  known: ReadonlyMap<string, Type>,
  type: Type,
  { openToDyn = false }: { openToDyn?: boolean } = {},
): Type {
  const found = type.kind === 'parameter' ? known.get(type.name) : undefined
  if (found) return substitute(known, found, { openToDyn })
  const inner = (index: number) => substitute(known, type.parameters[index]!, { openToDyn })
  switch (type.kind) {
    case 'parameter':
      return openToDyn ? dynType : type
    case 'list':
      return listOf(inner(0))
    case 'map':
      return mapOf(inner(0), inner(1))
    case 'type':
      return type.parameters.length === 0 ? type : typeOf(inner(0))
    case 'opaque':
      return type.parameters.length === 0
        ? type
        : opaqueType(type.name, ...type.parameters.map((_, index) => inner(index)))
    default:
      return type
  }
}

/** The more general of two assignable types. */
export function mostGeneral(a: Type, b: Type): Type {
  return isEqualOrLessSpecific(a, b) ? a : b
}

class TentativeSubstitutions {
  readonly #known: Substitutions
  #added: Map<string, Type> | undefined

  constructor(known: Substitutions) {
    this.#known = known
  }

  get(name: string): Type | undefined {
    return this.#added?.get(name) ?? this.#known.get(name)
  }

  set(name: string, type: Type): void {
    this.#added ??= new Map()
    this.#added.set(name, type)
  }

  keep(): void {
    if (this.#added) for (const [name, type] of this.#added) this.#known.set(name, type)
  }
}

function allAssignable(known: TentativeSubstitutions, a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, index) => isAssignable(known, type, b[index]!))
}

function isAssignable(known: TentativeSubstitutions, a: Type, b: Type): boolean {
  if (b.kind === 'parameter') {
    const { valid, hadSubstitution } = tryBind(known, a, b)
    if (valid) return true
    if (hadSubstitution) return false
  }
  if (a.kind === 'parameter') return tryBind(known, b, a).valid
  if (isDynOrError(a) || isDynOrError(b)) return true
  if (a.kind === 'null') return isNullable(b)
  if (b.kind === 'null') return isNullable(a)
  if (a.kind === 'wrapper' || b.kind === 'wrapper') return isAssignable(known, unwrapped(a), unwrapped(b))
  switch (a.kind) {
    case 'type':
      return b.kind === 'type'
    case 'opaque':
    case 'list':
    case 'map':
      return a.kind === b.kind && a.name === b.name && allAssignable(known, a.parameters, b.parameters)
    default:
      return a.kind === b.kind && a.name === b.name
  }
}

/** Binds a parameter to a type, if that is compatible with its current substitution and not circular. */
function tryBind(
  known: TentativeSubstitutions,
  type: Type,
  parameter: Type,
): { valid: boolean; hadSubstitution: boolean } {
  if (type.kind === 'parameter' && type.name === parameter.name) return { valid: true, hadSubstitution: true }
  const current = known.get(parameter.name)
  if (current) {
    if (sameType(unwrapped(type), unwrapped(current))) return { valid: true, hadSubstitution: true }
    if (!isAssignable(known, type, current)) return { valid: false, hadSubstitution: true }
    const general = mostGeneral(type, current)
    if (isFree(known, parameter, general)) known.set(parameter.name, general)
    return { valid: true, hadSubstitution: true }
  }
  if (!isFree(known, parameter, type)) return { valid: false, hadSubstitution: false }
  known.set(parameter.name, type)
  return { valid: true, hadSubstitution: false }
}

/** Whether a parameter does not occur in a type, directly or through substitutions. */
function isFree(known: TentativeSubstitutions, parameter: Type, within: Type): boolean {
  if (within.kind === 'parameter') {
    if (within.name === parameter.name) return false
    const found = known.get(within.name)
    return !found || isFree(known, parameter, found)
  }
  return within.parameters.every((inner) => isFree(known, parameter, inner))
}

function isEqualOrLessSpecific(a: Type, b: Type): boolean {
  if (a.kind === 'wrapper' || b.kind === 'wrapper') return isEqualOrLessSpecific(unwrapped(a), unwrapped(b))
  if (isDyn(a) || a.kind === 'parameter') return true
  if (isDyn(b) || b.kind === 'parameter' || a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind !== 'opaque' && a.kind !== 'list' && a.kind !== 'map') return sameType(a, b)
  return (
    a.name === b.name &&
    a.parameters.length === b.parameters.length &&
    a.parameters.every((inner, index) => isEqualOrLessSpecific(inner, b.parameters[index]!))
  )
}

function isDynOrError({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'error'
}

/** null is assignable to wrappers, and to types that were nullable before wrappers existed. */
function isNullable({ kind }: Type): boolean {
  return (
    kind === 'null' ||
    kind === 'opaque' ||
    kind === 'object' ||
    kind === 'duration' ||
    kind === 'timestamp' ||
    kind === 'wrapper'
  )
}
