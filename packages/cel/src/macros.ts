/**
 * Macros: calls that the parser expands to other trees, because they bind variables or test the presence of a field.
 *
 * A call with the name of a macro but another number of arguments stays a call, and the checker reports an unknown function.
 *
 * Example. `xs.exists(x, x > 1)` expands to a loop:
 *
 *     accumulator = false
 *     for x in xs while @not_strictly_false(!accumulator): accumulator = accumulator || x > 1
 *     result accumulator
 */
import {
  accumulatorName,
  call,
  copyNode,
  identifier,
  list,
  literal,
  memberCall,
  walk,
  type CallNode,
  type ComprehensionNode,
  type Node,
} from './ast.ts'
import { SyntaxIssue } from './issues.ts'

/** The expansion of a call, or the call itself. */
export function expandMacro(node: CallNode): Node {
  const macro = macros.get(`${node.target ? '.' : ''}${node.name}/${node.arguments.length}`)
  return macro ? macro(node) : node
}

type Macro = (node: CallNode) => Node

const macros: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['has/1', has],
  ['.all/2', (node) => quantifier(node, all)],
  ['.exists/2', (node) => quantifier(node, exists)],
  ['.exists_one/2', (node) => quantifier(node, existsOne)],
  ['.map/2', (node) => transformation(node, appendTransformed)],
  ['.map/3', (node) => transformation(node, appendTransformed)],
  ['.filter/2', filter],
  ['.all/3', (node) => quantifier(node, all)],
  ['.exists/3', (node) => quantifier(node, exists)],
  ['.exists_one/3', (node) => quantifier(node, existsOne)],
  ['.existsOne/3', (node) => quantifier(node, existsOne)],
  ['.transformList/3', (node) => transformation(node, appendTransformed, 2)],
  ['.transformList/4', (node) => transformation(node, appendTransformed, 2)],
  ['.transformMap/3', (node) => transformation(node, insertTransformed, 2)],
  ['.transformMap/4', (node) => transformation(node, insertTransformed, 2)],
  ['.transformMapEntry/3', (node) => transformation(node, insertEntries, 2)],
  ['.transformMapEntry/4', (node) => transformation(node, insertEntries, 2)],
  ['.optMap/2', (node) => optionalMap(node, (value) => call('optional.of', node.offset, value))],
  ['.optFlatMap/2', (node) => optionalMap(node, (value) => value)],
  ['.sortBy/2', sortBy],
])

function has({ arguments: [argument], offset }: CallNode): Node {
  if (argument?.kind !== 'select') throw new SyntaxIssue('invalid argument to has() macro', argument?.offset ?? offset)
  return { kind: 'select', operand: argument.operand, field: argument.field, testOnly: true, offset }
}

type Loop = Pick<ComprehensionNode, 'initial' | 'condition' | 'step' | 'result'>

/** all, exists and exists_one with one or two variables; the last argument is the predicate. */
function quantifier(node: CallNode, loop: (predicate: Node, offset: number) => Loop): Node {
  const names = variables(node, node.arguments.length - 1, 'argument must be a simple name')
  return comprehension(node, names, loop(node.arguments.at(-1)!, node.offset))
}

function all(predicate: Node, offset: number): Loop {
  return {
    initial: literal(true, offset),
    condition: call('@not_strictly_false', offset, accumulator(offset)),
    step: call('_&&_', offset, accumulator(offset), predicate),
    result: accumulator(offset),
  }
}

function exists(predicate: Node, offset: number): Loop {
  return {
    initial: literal(false, offset),
    condition: call('@not_strictly_false', offset, call('!_', offset, accumulator(offset))),
    step: call('_||_', offset, accumulator(offset), predicate),
    result: accumulator(offset),
  }
}

function existsOne(predicate: Node, offset: number): Loop {
  const counted = call('_+_', offset, accumulator(offset), literal(1, offset))
  return {
    initial: literal(0, offset),
    condition: literal(true, offset),
    step: call('_?_:_', offset, predicate, counted, accumulator(offset)),
    result: call('_==_', offset, accumulator(offset), literal(1, offset)),
  }
}

type Step = (transform: Node, variable: string, offset: number) => { readonly initial: Node; readonly step: Node }

/** map, transformList, transformMap, transformMapEntry: variables, an optional filter, and the transformation. */
function transformation(node: CallNode, build: Step, variableCount = 1): Node {
  const { offset } = node
  const names = variables(
    node,
    variableCount,
    variableCount === 1 ? 'argument is not an identifier' : 'argument must be a simple name',
  )
  const [filtering, transform = filtering] = node.arguments.slice(variableCount)
  const { initial, step } = build(transform!, names[0]!, offset)
  const filtered = transform === filtering ? step : call('_?_:_', offset, filtering!, step, accumulator(offset))
  return comprehension(node, names, {
    initial,
    condition: literal(true, offset),
    step: filtered,
    result: accumulator(offset),
  })
}

function appendTransformed(transform: Node, _variable: string, offset: number): { initial: Node; step: Node } {
  return { initial: list([], offset), step: call('_+_', offset, accumulator(offset), list([transform], offset)) }
}

function insertTransformed(transform: Node, variable: string, offset: number): { initial: Node; step: Node } {
  const initial: Node = { kind: 'map', entries: [], offset }
  return { initial, step: call('cel.@mapInsert', offset, accumulator(offset), identifier(variable, offset), transform) }
}

function insertEntries(transform: Node, _variable: string, offset: number): { initial: Node; step: Node } {
  return {
    initial: { kind: 'map', entries: [], offset },
    step: call('cel.@mapInsert', offset, accumulator(offset), transform),
  }
}

function filter(node: CallNode): Node {
  const { offset } = node
  const names = variables(node, 1, 'argument is not an identifier')
  const [element, predicate] = node.arguments
  const kept = call('_+_', offset, accumulator(offset), list([element!], offset))
  const step = call('_?_:_', offset, predicate!, kept, accumulator(offset))
  return comprehension(node, names, {
    initial: list([], offset),
    condition: literal(true, offset),
    step,
    result: accumulator(offset),
  })
}

function optionalMap(
  { name, target, arguments: [variable, transform], offset }: CallNode,
  wrap: (value: Node) => Node,
): Node {
  if (variable?.kind !== 'identifier')
    throw new SyntaxIssue(`${name}() variable name must be a simple identifier`, variable?.offset ?? offset)
  // Each such macro copies its target, so a chain of them grows exponentially.
  let nodes = 0
  walk(target!, () => nodes++)
  if (nodes > nodesMax) throw new SyntaxIssue(`expression too large after expanding ${name}`, offset)
  const value = memberCall('value', offset, { target: copyNode(target!) })
  const bound = binding({ name: variable.name, value, result: transform!, offset })
  return call(
    '_?_:_',
    offset,
    memberCall('hasValue', offset, { target: target! }),
    wrap(bound),
    call('optional.none', offset),
  )
}

const nodesMax = 50_000

function sortBy({ target, arguments: parameters, offset }: CallNode): Node {
  if (target!.kind === 'literal' || target!.kind === 'map' || target!.kind === 'struct') {
    throw new SyntaxIssue(
      'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
      target!.offset,
    )
  }
  const input = () => identifier(sortInput, offset)
  const keys = expandMacro({ kind: 'call', name: 'map', target: input(), arguments: parameters, offset })
  const result = memberCall('@sortByAssociatedKeys', offset, { target: input(), parameters: [keys] })
  return binding({ name: sortInput, value: target!, result, offset })
}

const sortInput = '@__sortBy_input__'

/** `let name = value in result`, as a loop over an empty list, as in cel-go. */
function binding({ name, value, result, offset }: { name: string; value: Node; result: Node; offset: number }): Node {
  return {
    kind: 'comprehension',
    range: list([], offset),
    variable: '#unused',
    accumulator: name,
    initial: value,
    condition: literal(false, offset),
    step: identifier(name, offset),
    result,
    offset,
  }
}

function comprehension({ target, offset }: CallNode, [variable, secondVariable]: readonly string[], loop: Loop): Node {
  return {
    kind: 'comprehension',
    range: target!,
    variable: variable!,
    ...(secondVariable !== undefined && { secondVariable }),
    accumulator: accumulatorName,
    ...loop,
    offset,
  }
}

function variables(node: CallNode, count: number, complaint: string): string[] {
  const names: string[] = []
  for (const argument of node.arguments.slice(0, count)) {
    if (argument.kind !== 'identifier') throw new SyntaxIssue(complaint, argument.offset)
    if (names.includes(argument.name))
      throw new SyntaxIssue(`duplicate variable name: ${argument.name}`, argument.offset)
    if (argument.name === accumulatorName)
      throw new SyntaxIssue('iteration variable overwrites accumulator variable', argument.offset)
    names.push(argument.name)
  }
  return names
}

function accumulator(offset: number): Node {
  return identifier(accumulatorName, offset)
}
