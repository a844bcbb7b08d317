/**
 * Property names as CEL identifiers: the escapes of Kubernetes for characters and reserved words that CEL does not allow.
 *
 *     a-b  a__dash__b      a.b  a__dot__b      a/b  a__slash__b      a__b  a__underscores__b      in  __in__
 *
 * A name with any other special character has no identifier, and expressions cannot access that property.
 */

/** The identifier of a property; undefined when it has none. */
export function escapeName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return plain.test(name) ? name : name.replace(/__|[-./]/g, (match) => escapes.get(match) ?? match)
}

/** The property of an identifier; undefined for an unknown escape. */
export function unescapeName(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier
  let valid = true
  const name = identifier.replace(/__([^_]+)__/g, (match, inner: string) => {
    const meaning = unescapes.get(inner)
    if (meaning !== undefined) return meaning
    if (!keywords.has(inner) || match.length !== identifier.length) valid = false
    return inner
  })
  return valid ? name : undefined
}

/** The field of an identifier. After a dot, reserved words need no escape: `metadata.namespace`. */
export function fieldNamed<T>(fields: ReadonlyMap<string, T> | undefined, identifier: string): T | undefined {
  return fields?.get(identifier) ?? (keywords.has(identifier) ? fields?.get(`__${identifier}__`) : undefined)
}

const plain = /^(?!.*__)[A-Za-z0-9_]+$/
const escapes = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
])
const unescapes = new Map([
  ['underscores', '__'],
  ['dot', '.'],
  ['dash', '-'],
  ['slash', '/'],
])
/** The reserved words of CEL. */
export const keywords: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])
