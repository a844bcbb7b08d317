/**
 * What can be said about a node by looking at it: the type of a literal, the name that a chain of selections may be.
 */
import { Bytes, Double, Uint, type Value } from '../value/value.ts'
import type { Node } from '../syntax/tree.ts'
import { boolType, bytesType, doubleType, dynType, intType, nullType, stringType, uintType, type Type } from './type.ts'

export function literalType(value: Value): Type {
  switch (typeof value) {
    case 'boolean':
      return boolType
    case 'number':
    case 'bigint':
      return intType
    case 'string':
      return stringType
    default:
  }
  if (value === null) return nullType
  if (value instanceof Double) return doubleType
  if (value instanceof Uint) return uintType
  return value instanceof Bytes ? bytesType : dynType
}

/** `a.b.c` of a chain of plain selections; undefined for anything else. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.testOnly) return undefined
  const prefix = qualifiedName(node.operand)
  return prefix === undefined ? undefined : `${prefix}.${node.field}`
}
