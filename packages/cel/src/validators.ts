/**
 * Validation beyond types: list and map literals of one type, valid constants, and format strings that match their arguments.
 */
import { walk, type CallNode, type Node } from './ast.ts'
import type { Checked } from './checker.ts'
import type { Issue } from './issues.ts'
import { compilePattern } from './library/regex.ts'
import { clauseRules, FormatProblem, interpolate } from './library/string-format.ts'
import { readDuration, readTimestamp } from './timestamps.ts'
import { formatType, insideOptional, isDyn, sameType, unwrapped, type Type } from './types.ts'
import { EvaluationError } from './values.ts'

export function validateExpression(root: Node, checked: Checked): Issue[] {
  const issues: Issue[] = []
  // Arguments of format may have different types, so literals inside such a call are exempt.
  const exempt = new Set<Node>()
  walk(root, (node) => {
    if (node.kind === 'call' && node.name === 'format') walk(node, (inner) => exempt.add(inner))
    if (!exempt.has(node)) issues.push(...checkAggregate(node, checked))
    if (node.kind === 'call') issues.push(...checkConstants(node), ...checkFormat(node, checked))
  })
  return issues
}

function checkAggregate(node: Node, { types }: Checked): Issue[] {
  if (node.kind === 'list') {
    return checkSameType(
      node.elements.map((element, index) => ({
        node: element,
        type: elementType(types.get(element)!, node.optional.has(index)),
      })),
    )
  }
  if (node.kind !== 'map') return []
  return [
    ...checkSameType(node.entries.map(({ key }) => ({ node: key, type: types.get(key)! }))),
    ...checkSameType(
      node.entries.map(({ value, optional }) => ({ node: value, type: elementType(types.get(value)!, optional) })),
    ),
  ]
}

function elementType(type: Type, isOptional: boolean): Type {
  return isOptional ? (insideOptional(type) ?? type) : type
}

function checkSameType(parts: readonly { node: Node; type: Type }[]): Issue[] {
  const [first] = parts
  const odd = parts.find(({ type }) => !sameType(unwrapped(first!.type), unwrapped(type), { anyParameter: true }))
  return odd
    ? [
        {
          offset: odd.node.offset,
          message: `expected type '${formatType(first!.type)}' but found '${formatType(odd.type)}'`,
        },
      ]
    : []
}

function checkConstants({ name, arguments: [argument] }: CallNode): Issue[] {
  if (argument?.kind !== 'literal' || typeof argument.value !== 'string' || isValidConstant(name, argument.value))
    return []
  return [{ offset: argument.offset, message: `invalid ${name} argument` }]
}

function isValidConstant(name: string, text: string): boolean {
  switch (name) {
    case 'duration':
      return readDuration(text) !== undefined
    case 'timestamp': {
      const timestamp = readTimestamp(text)
      return timestamp !== undefined && !(timestamp instanceof EvaluationError)
    }
    case 'matches':
      return !(compilePattern(text) instanceof EvaluationError)
    default:
      return true
  }
}

/** Checks a constant format string against the types of its list literal. */
function checkFormat(node: CallNode, { types }: Checked): Issue[] {
  const [list] = node.arguments
  if (
    node.name !== 'format' ||
    node.target?.kind !== 'literal' ||
    typeof node.target.value !== 'string' ||
    list?.kind !== 'list'
  )
    return []
  let used = 0
  const result = interpolate(node.target.value, list.elements.length, (index, verb) => {
    used++
    const type = unwrapped(types.get(list.elements[index]!)!)
    if (isDyn(type) || clauseRules[verb].types.includes(type.name)) return ''
    return new FormatProblem(`${clauseRules[verb].complaint} ${type.name}`)
  })
  if (result instanceof FormatProblem) {
    const culprit = result.argument === undefined ? node : (list.elements[result.argument] ?? node)
    return [{ offset: culprit.offset, message: result.message }]
  }
  if (used >= list.elements.length) return []
  return [
    {
      offset: node.offset,
      message: `too many arguments supplied to string.format (expected ${used}, got ${list.elements.length})`,
    },
  ]
}
