/**
 * Positions in a source file where one change makes a mutant, and the change.
 *
 *   condition   `if (a < b)`        the comparison inverted, the condition negated, `&&` and `||` swapped
 *   return      `return value`      returns undefined instead, or the other boolean
 *   constant    `limit = 10`        one more, the other boolean, a compared string emptied
 *   call        `this.#notify()`    the call removed
 *
 * A mutant is switched on while a test runs, so it must be evaluated then. A module's own `const limit = 10` is
 * evaluated once, when the module loads: its mutant changes each use of the name in the file instead. Other values that
 * a module computes while it loads (tables, maps, patterns) are not sampled.
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
  /** Where the change is made instead: the uses of a constant of the module. */
  readonly uses?: readonly (readonly [start: number, end: number])[]
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
  const visit = (node: ts.Node, runsInTests: boolean): void => {
    if (isLeftAlone(node)) return
    if (runsInTests) mutate(node, add)
    ts.forEachChild(node, (child) => {
      visit(child, runsInTests || ts.isFunctionLike(node) || (ts.isPropertyDeclaration(node) && !isStatic(node)))
    })
  }
  visit(source, false)
  return [...sites, ...moduleConstants(source)]
}

function isStatic({ modifiers }: ts.PropertyDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false
}

/** `const limit = 10` of a module, with its uses in functions. */
function moduleConstants(source: ts.SourceFile): Site[] {
  return source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.flatMap(({ name, initializer }) => {
      if (!initializer || !ts.isIdentifier(name)) return []
      const mutated = constantMutant(initializer)
      if (mutated === undefined) return []
      const uses = usesOf(source, name)
      const line = source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1
      const [start, end] = [initializer.getStart(source), initializer.end]
      const original = initializer.getText(source)
      return uses.length === 0
        ? []
        : [{ file: source.fileName, line, kind: 'constant' as const, start, end, original, mutated, uses }]
    }),
  )
}

function constantMutant(node: ts.Expression): string | undefined {
  return ts.isNumericLiteral(node) ? `(${node.text} + 1)` : otherBoolean(node)
}

function usesOf(source: ts.SourceFile, { text }: ts.Identifier): [number, number][] {
  const uses: [number, number][] = []
  const visit = (node: ts.Node, runsInTests: boolean): void => {
    if (ts.isTypeNode(node)) return
    if (runsInTests && ts.isIdentifier(node) && node.text === text && isRead(node))
      uses.push([node.getStart(source), node.end])
    ts.forEachChild(node, (child) => {
      visit(child, runsInTests || ts.isFunctionLike(node))
    })
  }
  visit(source, false)
  return uses
}

/** An identifier in the position of a value: not a name that is declared, and not the name of a property. */
function isRead(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent) || ts.isParameter(parent))
    return parent.initializer === node
  return !ts.isShorthandPropertyAssignment(parent) && !ts.isBindingElement(parent) && !ts.isPropertyDeclaration(parent)
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
  if (ts.isExpressionStatement(node)) return isLeftAlone(node.expression)
  if (!ts.isCallExpression(node)) return false
  const callee = node.expression.getText()
  return (
    /(?:^|[.#])(?:log|logger|[a-z]\w*Log)\??\.(?:debug|info|warn|error)$/.test(callee) ||
    /^(?:assert|unreachable)$/.test(callee)
  )
}

/** Mutants of one file that do not overlap, each behind a switch for the test run. */
export function withSwitches(text: string, sites: readonly (Site & { readonly id: number })[]): string {
  const changes = sites
    .flatMap(({ id, kind, start, end, mutated, uses = [[start, end]] }) =>
      uses.map(([from, to]) => ({ id, kind, from, to, mutated })),
    )
    .sort((a, b) => b.from - a.from)
  let changed = text
  for (const { id, kind, from, to, mutated } of changes) {
    const choice = `(globalThis.__mutant?.(${id}) ? (${mutated}) : (${changed.slice(from, to)}))`
    // A statement that begins with a parenthesis would continue the line before, which has no semicolon.
    changed = `${changed.slice(0, from)}${kind === 'call' ? `void ${choice}` : choice}${changed.slice(to)}`
  }
  return changed
}
