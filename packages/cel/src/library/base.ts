/**
 * The base environment of all expressions: CEL, its extensions and the Kubernetes libraries.
 *
 * The authorizer of admission policies is not part of it, because it needs a connection to a real authorizer. The code that
 * evaluates policies adds it (a variable of an opaque type and its functions); its fixed costs are in `cost.ts`.
 */
import { Environment, type Library, type Overload, type Variable } from '../environment.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  stringType,
  timestampType,
  typeOf,
  typeType,
  uintType,
} from '../types.ts'
import { conversions } from './conversions.ts'
import { dates } from './dates.ts'
import { namedFormats, namedFormatType } from './format.ts'
import { cidrType, ipType, network } from './ip.ts'
import { kubernetesLists, lists, sets } from './lists.ts'
import { operators } from './operators.ts'
import { optionals } from './optionals.ts'
import { quantity, quantityType } from './quantity.ts'
import { regex } from './regex.ts'
import { semver, semverType } from './semver.ts'
import { strings, text } from './strings.ts'
import { url, urlType } from './url.ts'

const libraries: readonly Library[] = [
  operators,
  conversions,
  text,
  regex,
  dates,
  optionals,
  strings,
  lists,
  sets,
  kubernetesLists,
  url,
  quantity,
  network,
  namedFormats,
  semver,
]

const namedTypes = [
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  nullType,
  stringType,
  timestampType,
  uintType,
  urlType,
  quantityType,
  ipType,
  cidrType,
  namedFormatType,
  semverType,
]

/** The environment without variables, except for the type names. */
export const baseEnvironment = new Environment({ functions: mergeLibraries(), variables: typeNames() })

/** Several libraries may add overloads to one name. */
function mergeLibraries(): ReadonlyMap<string, readonly Overload[]> {
  const functions = new Map<string, readonly Overload[]>()
  for (const library of libraries) {
    for (const [name, overloads] of Object.entries(library))
      functions.set(name, [...(functions.get(name) ?? []), ...overloads])
  }
  return functions
}

function typeNames(): ReadonlyMap<string, Variable> {
  const types = [...namedTypes, listOf(dynType), mapOf(dynType, dynType), optionalOf(dynType)]
  return new Map([
    ...types.map((type): [string, Variable] => [type.name, { type: typeOf(type) }]),
    ['type', { type: typeOf(typeType) }],
  ])
}
