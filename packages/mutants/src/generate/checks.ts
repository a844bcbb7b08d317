/**
 * Operators on decisions: conditions, comparisons, numbers, lists.
 */
import ts from 'typescript'
import type { Mutation, Source } from './source.ts'

function conditionsOf(source: Source): readonly ts.Expression[] {
  return [
    ...source.all(ts.isIfStatement).map(({ expression }) => expression),
    ...source.all(ts.isConditionalExpression).map(({ condition }) => condition),
  ]
}

/** A condition is always true. */
export function alwaysTrue(source: Source): Mutation[] {
  return conditionsOf(source).map((at) => ({ at, edits: [source.replace(at, '(true as boolean)')] }))
}

/** A condition is never true. */
export function neverTrue(source: Source): Mutation[] {
  return conditionsOf(source).map((at) => ({ at, edits: [source.replace(at, '(false as boolean)')] }))
}

/** `a && b` becomes `a`, and then `b`; the same for `||`. */
export function dropOperand(source: Source): Mutation[] {
  return source
    .all(ts.isBinaryExpression)
    .filter(
      ({ operatorToken: { kind } }) =>
        kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken,
    )
    .flatMap((at) => [
      { at, edits: [source.replace(at, source.textOf(at.left))] },
      { at, edits: [source.replace(at, source.textOf(at.right))] },
    ])
}

/** An object that is being deleted is treated like any other. */
export function ignoreDeletion(source: Source): Mutation[] {
  return source
    .all(ts.isBinaryExpression)
    .filter(({ left, right }) => /deletionTimestamp$/.test(left.getText()) && right.getText() === 'undefined')
    .map((at) => {
      const isNegated = at.operatorToken.kind === ts.SyntaxKind.ExclamationEqualsEqualsToken
      return { at, edits: [source.replace(at, isNegated ? '(false as boolean)' : '(true as boolean)')] }
    })
}

const neighbours: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
}

/** `<` becomes `<=`, and a number one more. */
export function offByOne(source: Source): Mutation[] {
  const comparisons = source.all(ts.isBinaryExpression).flatMap((at) => {
    const other = neighbours[at.operatorToken.kind]
    return other === undefined ? [] : [{ at, edits: [source.replace(at.operatorToken, other)] }]
  })
  const numbers = source.all(ts.isNumericLiteral).map((at) => ({ at, edits: [source.replace(at, `(${at.text} + 1)`)] }))
  return [...comparisons, ...numbers]
}

/** `list.filter(f)` becomes `list`; the same for `sort` and for a `Set` of distinct values. */
export function dropFilter(source: Source): Mutation[] {
  const calls = source.all(ts.isCallExpression).flatMap((at) => {
    const { expression } = at
    const isSelection = ts.isPropertyAccessExpression(expression) && /^(?:filter|sort)$/.test(expression.name.text)
    return isSelection ? [{ at, edits: [source.replace(at, source.textOf(expression.expression))] }] : []
  })
  const sets = source.all(ts.isArrayLiteralExpression).flatMap((at) => {
    const [element] = at.elements
    if (!element || !ts.isSpreadElement(element) || !ts.isNewExpression(element.expression)) return []
    const inner = element.expression.arguments?.[0]
    return inner ? [{ at, edits: [source.replace(element.expression, source.textOf(inner))] }] : []
  })
  return [...calls, ...sets]
}

/** The return in the middle of a handler is left out. */
export function dropReturn(source: Source): Mutation[] {
  return source
    .all(ts.isReturnStatement)
    .filter(({ parent }) => ts.isIfStatement(parent) || (ts.isBlock(parent) && ts.isIfStatement(parent.parent)))
    .map((at) => ({ at, edits: [source.replace(at, ';')] }))
}
