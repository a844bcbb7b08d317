/**
 * Positions in a source file where one change makes a mutant, and the change.
 *
 *   condition   `if (a < b)`        the comparison inverted, the condition negated, `&&` and `||` swapped
 *   return      `return value`      returns undefined instead, or the other boolean
 *   constant    `limit = 10`        one more, the other boolean, a compared string emptied
 *   call        `this.#notify()`    the call removed
 *
 * Calls of loggers and assertions are skipped: a program behaves the same without them. So are types, imports, headers
 * and texts for humans.
 */
import ts from 'typescript'

export type MutationKind = 'condition' | 'return' | 'constant' | 'call'

export interface Site {
  readonly file: string
  readonly line: number
  readonly kind: MutationKind
  /** The position of the changed expression or statement. */
  readonly start: number
  readonly end: number
  readonly original: string
  readonly mutated: string
}

/** Every site of a file, in the order of the text. */
export function sitesOf(file: string, text: string): Site[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true)
  const sites: Site[] = []
  const add = (kind: MutationKind, node: ts.Node, mutated: string): void => {
    const start = node.getStart(source)
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    sites.push({ file, line, kind, start, end: node.end, original: node.getText(source), mutated })
  }
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return
    mutate(node, add)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return sites
}

type Add = (kind: MutationKind, node: ts.Node, mutated: string) => void

const turned: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
}

function mutate(node: ts.Node, add: Add): void {
  if (ts.isBinaryExpression(node)) {
    const other = turned[node.operatorToken.kind]
    if (other) add('condition', node, `${node.left.getText()} ${other} ${node.right.getText()}`)
  } else if (ts.isIfStatement(node) || ts.isWhileStatement(node)) {
    add('condition', node.expression, `!(${node.expression.getText()})`)
  } else if (ts.isConditionalExpression(node)) {
    add('condition', node.condition, `!(${node.condition.getText()})`)
  } else if (ts.isReturnStatement(node) && node.expression) {
    const other = otherBoolean(node.expression)
    add('return', node.expression, other ?? 'undefined')
  } else if (ts.isNumericLiteral(node) && isValue(node)) {
    add('constant', node, `(${node.text} + 1)`)
  } else if (otherBoolean(node) !== undefined && isValue(node) && !ts.isReturnStatement(node.parent)) {
    add('constant', node, otherBoolean(node) ?? '')
  } else if (ts.isExpressionStatement(node) && isCall(node.expression)) {
    add('call', node.expression, 'undefined')
  }
}

function otherBoolean({ kind }: ts.Node): string | undefined {
  if (kind === ts.SyntaxKind.TrueKeyword) return 'false'
  return kind === ts.SyntaxKind.FalseKeyword ? 'true' : undefined
}

/** A literal that is used in computations, not a name, a type or a part of either. */
function isValue({ parent }: ts.Node): boolean {
  if (ts.isPropertyAssignment(parent) || ts.isEnumMember(parent) || ts.isPropertyDeclaration(parent)) return true
  return !ts.isLiteralTypeNode(parent) && !ts.isPropertyName(parent) && !ts.isPrefixUnaryExpression(parent)
}

function isCall(expression: ts.Expression): boolean {
  const called =
    ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression
  return ts.isCallExpression(called) && called.expression.kind !== ts.SyntaxKind.SuperKeyword
}

function isLeftAlone(node: ts.Node): boolean {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isInterfaceDeclaration(node)) return true
  if (ts.isTypeAliasDeclaration(node)) return true
  if (!ts.isCallExpression(node)) return false
  const callee = node.expression.getText()
  return (
    /(?:^|[.#])(?:log|[a-z]\w*Log)\??\.(?:debug|info|warn|error)$/.test(callee) ||
    /^(?:assert|unreachable)$/.test(callee)
  )
}

/** Mutants of one file that do not overlap, each behind a switch for the test run. */
export function withSwitches(text: string, sites: readonly (Site & { readonly id: number })[]): string {
  let changed = text
  for (const { id, start, end, original, mutated } of [...sites].sort((a, b) => b.start - a.start))
    changed = `${changed.slice(0, start)}(globalThis.__mutant?.(${id}) ? (${mutated}) : (${original}))${changed.slice(end)}`
  return changed
}
