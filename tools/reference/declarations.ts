/**
 * One public name as the reference shows it: its signature without the body, its sentences, its members.
 *
 * Everything comes from the declaration and its doc comment, so a page cannot say what the code does not.
 */
import ts from 'typescript'

export interface Documented {
  readonly name: string
  readonly kind: string
  readonly signature: string
  readonly text: string
  readonly examples: readonly string[]
  readonly throws: readonly string[]
  readonly members: readonly Member[]
}

export interface Member {
  readonly signature: string
  readonly text: string
}

/** What a module exports, by name. */
export function documentedNames(source: ts.SourceFile, checker: ts.TypeChecker): Documented[] {
  const module = checker.getSymbolAtLocation(source)
  if (!module) return []
  return checker
    .getExportsOfModule(module)
    .map((symbol) => documented(symbol, checker))
    .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
}

function documented(exported: ts.Symbol, checker: ts.TypeChecker): Documented {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  const declarations = symbol.declarations ?? []
  const tags = symbol.getJsDocTags(checker)
  return {
    name: exported.name,
    kind: kindOf(symbol),
    signature: declarations.map(signatureOf).filter(Boolean).join('\n'),
    text: linked(ts.displayPartsToString(symbol.getDocumentationComment(checker))),
    examples: tags.filter(({ name }) => name === 'example').map((tag) => ts.displayPartsToString(tag.text)),
    throws: tags.filter(({ name }) => name === 'throws').map((tag) => linked(ts.displayPartsToString(tag.text))),
    members: declarations.flatMap((declaration) => membersOf(declaration, checker)),
  }
}

function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Variable) return 'constant'
  return flags & ts.SymbolFlags.Interface ? 'interface' : 'type'
}

/** A declaration as one reads it: no body, no `export`, members of classes and interfaces left to their table. */
function signatureOf(node: ts.Declaration): string {
  if (ts.isFunctionDeclaration(node)) return isHidden(node) ? '' : headOf(node)
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return `${headOf(node)} { … }`
  if (ts.isTypeAliasDeclaration(node)) return tidy(node.getText())
  if (ts.isVariableDeclaration(node))
    return `const ${node.name.getText()}${node.type ? `: ${node.type.getText()}` : ''}`
  return ''
}

/** The implementation behind overloads is for nobody's eyes. */
function isHidden(node: ts.FunctionDeclaration): boolean {
  const overloads = node.parent.getChildren().flatMap((child) => child.getChildren())
  return node.body !== undefined && overloads.some((other) => other !== node && isOverload(other, node.name?.text))
}

function isOverload(node: ts.Node, name: string | undefined): boolean {
  return ts.isFunctionDeclaration(node) && node.body === undefined && node.name?.text === name
}

function headOf(node: ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration): string {
  const text = node.getText()
  if (ts.isFunctionDeclaration(node)) {
    const end = node.body ? node.body.getStart() - node.getStart() : text.length
    return tidy(text.slice(0, end))
  }
  return tidy(text.slice(0, node.members.pos - node.getStart() - 1))
}

function membersOf(node: ts.Declaration, checker: ts.TypeChecker): Member[] {
  if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) return []
  return (node.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>).flatMap((member) => {
    const isPrivate = member.name !== undefined && ts.isPrivateIdentifier(member.name)
    if (isPrivate || member.getText().startsWith('private ')) return []
    const symbol = member.name && checker.getSymbolAtLocation(member.name)
    const signature = memberSignature(member)
    if (signature === '') return []
    const defaults = symbol?.getJsDocTags(checker).filter(({ name }) => name === 'default') ?? []
    const text = symbol ? ts.displayPartsToString(symbol.getDocumentationComment(checker)) : ''
    const byDefault = defaults.map((tag) => `Default: ${ts.displayPartsToString(tag.text)}.`)
    return [{ signature, text: linked([text, ...byDefault].filter(Boolean).join(' ')) }]
  })
}

function memberSignature(member: ts.ClassElement | ts.TypeElement): string {
  const body = 'body' in member ? (member.body as ts.Node | undefined) : undefined
  const initializer = 'initializer' in member ? (member.initializer as ts.Node | undefined) : undefined
  const end = body?.getStart() ?? (initializer ? initializer.getFullStart() - 1 : member.end)
  return tidy(member.getText().slice(0, end - member.getStart())).replace(/\s*=\s*$/, '')
}

function tidy(text: string): string {
  return text
    .replace(/^export (?:declare )?/, '')
    .replace(/\/\*\*[\s\S]*?\*\/\s*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/,\s*([)}\]>])/g, ' $1')
    .replace(/([(<[])\s+/g, '$1')
    .replace(/\s+([)>\]])/g, '$1')
    .replace(/[;,]\s*$/, '')
    .trim()
}

/** `{@link run}` reads as `run`. */
function linked(text: string): string {
  return text.replace(/\{@link\s+([^}]+)\}/g, '`$1`').trim()
}
