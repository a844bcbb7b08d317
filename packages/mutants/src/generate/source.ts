/**
 * The source of a right controller, as the operators see it.
 *
 * Mutable is what stands before the end of `export const controllers`: the program. Imports, types, kinds (`defineKind`)
 * and the scenario are the world of the program, and stay as they are.
 */
import ts from 'typescript'

/** A replacement in a source text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What an operator makes of one place. */
export interface Mutation {
  readonly at: ts.Node
  readonly edits: readonly Edit[]
}

export class Source {
  readonly text: string
  readonly file: ts.SourceFile
  /** Every mutable node, in the order of the text. */
  readonly nodes: readonly ts.Node[]
  /** The function of `export const controllers`, called once for every process that starts. */
  readonly factory: ts.ArrowFunction

  constructor(path: string, text: string) {
    this.text = text
    this.file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
    const { statements } = this.file
    const program = statements.findIndex((statement) => declaredIn(statement)?.name.getText() === 'controllers')
    const initializer = statements[program] && declaredIn(statements[program])?.initializer
    if (!initializer || !ts.isArrowFunction(initializer))
      throw new Error(`${path} needs export const controllers = (...) => [...]`)
    this.factory = initializer
    this.nodes = statements.slice(0, program + 1).flatMap((statement) => mutableNodes(statement))
  }

  /** All mutable nodes of a type. */
  all<T extends ts.Node>(is: (node: ts.Node) => node is T): readonly T[] {
    return this.nodes.filter(is)
  }

  textOf(node: ts.Node): string {
    return node.getText(this.file)
  }

  replace(node: ts.Node, text: string): Edit {
    return { start: node.getStart(this.file), end: node.end, text }
  }

  /** A text that begins with a parenthesis would continue the statement before, which has no semicolon. */
  asStatement(replaced: ts.Node, text: string): string {
    return ts.isExpressionStatement(replaced.parent) ? `;${text}` : text
  }

  insertBefore(node: ts.Node, text: string): Edit {
    const start = node.getStart(this.file)
    return { start, end: start, text }
  }

  /** Removes an element of a list, with the comma after it. */
  removeElement(node: ts.Node): Edit {
    const rest = /^\s*,/.exec(this.text.slice(node.end))?.[0] ?? ''
    return { start: node.getStart(this.file), end: node.end + rest.length, text: '' }
  }
}

/** The text with all edits; they must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let changed = text
  for (const { start, end, text: replacement } of [...edits].sort((a, b) => b.start - a.start || b.end - a.end))
    changed = changed.slice(0, start) + replacement + changed.slice(end)
  return changed
}

function declaredIn(statement: ts.Statement): ts.VariableDeclaration | undefined {
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : undefined
}

function mutableNodes(node: ts.Node): ts.Node[] {
  if (isOfTheWorld(node)) return []
  const nodes = [node]
  ts.forEachChild(node, (child) => {
    nodes.push(...mutableNodes(child))
  })
  return nodes
}

function isOfTheWorld(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isClassDeclaration(node)) return true
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  return ts.isCallExpression(node) && node.expression.getText() === 'defineKind'
}

/** A function of a declaration: `reconcile`, `cleanup` or `reconcileKey`. */
type Handler = ts.MethodDeclaration

const handlerNames = new Set(['reconcile', 'cleanup', 'reconcileKey'])

function isHandler(node: ts.Node): node is Handler {
  return ts.isMethodDeclaration(node) && handlerNames.has(node.name.getText())
}

/** The handler around a node. */
export function handlerOf(node: ts.Node): Handler | undefined {
  for (let at: ts.Node | undefined = node; at; at = at.parent as ts.Node | undefined) if (isHandler(at)) return at
  return undefined
}

/** How a handler reaches a part of its context, with the edits that this needs. */
export function contextPart(
  source: Source,
  handler: Handler,
  part: 'client' | 'clock' | 'random',
): { readonly text: string; readonly edits: readonly Edit[] } {
  const [first, context] = handler.parameters
  if (!context) {
    const end = first?.end ?? handler.parameters.pos
    return { text: part, edits: [{ start: end, end, text: `${first ? ', ' : ''}{ ${part} }` }] }
  }
  if (ts.isIdentifier(context.name)) return { text: `${context.name.text}.${part}`, edits: [] }
  const isThere = context.name.elements.some(
    (element) => ts.isBindingElement(element) && element.name.getText() === part,
  )
  const start = context.name.getStart(source.file) + 1
  return { text: part, edits: isThere ? [] : [{ start, end: start, text: ` ${part},` }] }
}

/** The object that a handler is about, if its parameter has a name. */
export function objectOf({ parameters: [object], name }: Handler): string | undefined {
  return object && ts.isIdentifier(object.name) && object.name.text !== '_' && name.getText() !== 'reconcileKey'
    ? object.name.text
    : undefined
}

/** `client.apply` of `await client.apply(a, b)`, for a call, with or without `await`. */
export function calledIn(node: ts.Node): { readonly call: ts.CallExpression; readonly name: string } | undefined {
  const call = ts.isAwaitExpression(node) ? node.expression : node
  return ts.isCallExpression(call) ? { call, name: call.expression.getText() } : undefined
}
