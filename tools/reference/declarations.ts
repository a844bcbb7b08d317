/**
 * One public name in the reference: its signature, its sentences, its members.
 *
 * Everything comes from the declaration and its doc comment, so a page cannot contradict the code.
 */
import ts from 'typescript'
import { isImplementation, memberOf, signatureOf } from './signatures.ts'

export type Group = 'value' | 'type'

export interface Documented {
  readonly name: string
  readonly kind: string
  readonly group: Group
  readonly signature: string
  readonly text: string
  readonly parameters: readonly string[]
  readonly throws: readonly string[]
  readonly examples: readonly string[]
  /** Names of this page whose members it inherits. */
  readonly bases: readonly string[]
  readonly members: readonly Member[]
  /** The fields of its argument, for a function whose only argument has a type without an entry of its own. */
  readonly options: readonly Member[]
}

export interface Member {
  readonly signature: string
  readonly text: string
  readonly example: string
}

/** The context of one page. */
interface PageContext {
  readonly checker: ts.TypeChecker
  /** The entries of the page, by symbol. */
  readonly exported: ReadonlyMap<ts.Symbol, string>
}

/** The exports of a module, by name. */
export function documentedNames(source: ts.SourceFile, checker: ts.TypeChecker): Documented[] {
  const module = checker.getSymbolAtLocation(source)
  if (!module) return []
  const symbols = checker.getExportsOfModule(module)
  const context = { checker, exported: new Map(symbols.map((symbol) => [original(symbol, checker), symbol.name])) }
  return [...symbols.map((symbol) => documented(symbol, context)), ...augmentations(source, context)].sort(
    (a, b) => compareText(a.name.toLowerCase(), b.name.toLowerCase()) || compareText(b.name, a.name),
  )
}

/** What a module adds to interfaces of another package: matchers of a test runner. */
function augmentations(source: ts.SourceFile, context: PageContext): Documented[] {
  return source.statements.flatMap((node) => {
    if (!ts.isModuleDeclaration(node) || !ts.isStringLiteral(node.name) || !node.body) return []
    const interfaces = ts.isModuleBlock(node.body) ? node.body.statements.filter(ts.isInterfaceDeclaration) : []
    return interfaces.flatMap(({ name, members }) =>
      members.flatMap((one) => {
        const [shown] = member(one, context)
        if (!shown || !one.name) return []
        const { signature, text, example } = shown
        return [
          {
            ...noParts,
            name: one.name.getText(),
            kind: name.text.replace(/s$/, '').toLowerCase(),
            signature,
            text,
            examples: example === '' ? [] : [example],
          },
        ]
      }),
    )
  })
}

const noParts = { group: 'value', parameters: [], throws: [], bases: [], members: [], options: [] } as const

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function original(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function documented(exported: ts.Symbol, context: PageContext): Documented {
  const { checker } = context
  const symbol = original(exported, checker)
  const declarations = symbol.declarations ?? []
  const tags = symbol.getJsDocTags(checker)
  const texts = (tag: string): string[] =>
    tags.filter((one) => one.name === tag).map((one) => plain(ts.displayPartsToString(one.text)))
  const bases = basesOf(symbol, context)
  const signatures = declarations.map((declaration) => signatureOf(declaration, checker))
  return {
    name: exported.name,
    kind: kindOf(symbol),
    group: symbol.flags & ts.SymbolFlags.Value && !isTypeOnly(exported) ? 'value' : 'type',
    signature: signatures.filter(Boolean).join('\n'),
    text: plain(ts.displayPartsToString(symbol.getDocumentationComment(checker))),
    parameters: texts('param').map((text) => text.replace(/^(\w+) /, '`$1`: ')),
    throws: texts('throws').map((text) => text.replace(/^\{(\w+)\}/, '`$1`')),
    examples: tags.filter((one) => one.name === 'example').map((one) => ts.displayPartsToString(one.text)),
    bases: bases.map((base) => context.exported.get(base) ?? base.name),
    members: membersOf(symbol, bases, context),
    options: optionsOf(symbol, context),
  }
}

/** The fields of the only argument of a function, if it is an interface that no page shows. */
function optionsOf({ declarations = [] }: ts.Symbol, context: PageContext): Member[] {
  const { checker, exported } = context
  const [parameter, second] = declarations.find(ts.isFunctionDeclaration)?.parameters ?? []
  const type = parameter?.type
  if (!type || second || !ts.isTypeReferenceNode(type)) return []
  const named = checker.getSymbolAtLocation(type.typeName)
  const symbol = named && original(named, checker)
  if (!symbol || exported.has(symbol) || !(symbol.flags & ts.SymbolFlags.Interface)) return []
  return membersOf(symbol, [], context)
}

/** A class that an entry exports as a type cannot be called there. */
function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((node) => ts.isExportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly))
}

function kindOf(symbol: ts.Symbol): string {
  const { flags, valueDeclaration } = symbol
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Variable) return isArrow(valueDeclaration) ? 'function' : 'constant'
  return flags & ts.SymbolFlags.Interface ? 'interface' : 'type'
}

function isArrow(node: ts.Declaration | undefined): boolean {
  const initializer = node && ts.isVariableDeclaration(node) && !node.type ? node.initializer : undefined
  return initializer !== undefined && ts.isArrowFunction(initializer)
}

/** Its direct base types that have an entry on the page. */
function basesOf({ declarations = [] }: ts.Symbol, { checker, exported }: PageContext): ts.Symbol[] {
  return declarations.flatMap((node) => {
    const joined = interfacesOf(node, checker)
    if (joined.length > 0) return joined.filter((one) => exported.has(one))
    if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return []
    const extended = (node.heritageClauses ?? []).filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    return extended.flatMap(({ types }) =>
      types.flatMap(({ expression, typeArguments }) => {
        const symbol = typeArguments ? undefined : checker.getSymbolAtLocation(expression)
        const base = symbol && original(symbol, checker)
        return base && exported.has(base) ? [base] : []
      }),
    )
  })
}

/** The interfaces that a type alias joins with `&`; none for any other declaration. */
function interfacesOf(node: ts.Declaration, checker: ts.TypeChecker): ts.Symbol[] {
  if (!ts.isTypeAliasDeclaration(node) || !ts.isIntersectionTypeNode(node.type)) return []
  const symbols = node.type.types.flatMap((part) => {
    const named = ts.isTypeReferenceNode(part) && !part.typeArguments && checker.getSymbolAtLocation(part.typeName)
    return named ? [original(named, checker)] : []
  })
  const areInterfaces = symbols.every(({ flags }) => flags & ts.SymbolFlags.Interface)
  return areInterfaces && symbols.length === node.type.types.length ? symbols : []
}

/** Its own members, and those of base types without an entry. A class shows its own. */
function membersOf(symbol: ts.Symbol, bases: readonly ts.Symbol[], context: PageContext): Member[] {
  const own = (symbol.declarations ?? []).flatMap((node): ts.Declaration[] => {
    if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return [...node.members]
    const joined = interfacesOf(node, context.checker).filter((one) => !context.exported.has(one))
    if (joined.length > 0)
      return joined
        .flatMap(({ declarations = [] }) => declarations.filter(ts.isInterfaceDeclaration))
        .flatMap(({ members }) => [...members])
    const initializer = ts.isVariableDeclaration(node) && !node.type ? node.initializer : undefined
    return initializer && ts.isObjectLiteralExpression(initializer) ? [...initializer.properties] : []
  })
  return [...own, ...inherited(symbol, bases, { own, context })].flatMap((node) => member(node, context))
}

interface InheritedFrom {
  readonly own: readonly ts.Declaration[]
  readonly context: PageContext
}

function inherited(symbol: ts.Symbol, bases: readonly ts.Symbol[], { own, context }: InheritedFrom): ts.Declaration[] {
  if (!(symbol.flags & ts.SymbolFlags.Interface)) return []
  const { checker } = context
  const namesOf = (one: ts.Symbol): string[] =>
    checker
      .getDeclaredTypeOfSymbol(one)
      .getProperties()
      .map(({ name }) => name)
  const known = new Set([
    ...bases.flatMap(namesOf),
    ...own.map((node) => (node as ts.NamedDeclaration).name?.getText()),
  ])
  return checker
    .getDeclaredTypeOfSymbol(symbol)
    .getProperties()
    .filter(({ name }) => !known.has(name))
    .flatMap(({ declarations = [] }) => declarations.filter((node) => !node.getSourceFile().isDeclarationFile))
}

function member(node: ts.Declaration, { checker }: PageContext): Member[] {
  const { name } = node as ts.NamedDeclaration
  if (isHidden(node, name)) return []
  const symbol = name ? checker.getSymbolAtLocation(name) : undefined
  const docs = symbol ? plain(ts.displayPartsToString(symbol.getDocumentationComment(checker))) : commentOf(node)
  const tags = symbol ? symbol.getJsDocTags(checker) : []
  const texts = (tag: string): string[] =>
    tags.filter((one) => one.name === tag).map((one) => plain(ts.displayPartsToString(one.text)))
  const byDefault = texts('default').map((text) => `Default: ${text}.`)
  const [example = symbol ? '' : exampleOf(node)] = texts('example')
  return [{ signature: memberOf(node, checker), text: [docs, ...byDefault].filter(Boolean).join(' '), example }]
}

/** Private and internal members, brands, compiler-only types, and the name of an error. */
function isHidden(node: ts.Declaration, name: ts.Node | undefined): boolean {
  if (ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal')) return true
  const text = name?.getText() ?? ''
  if ((ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) && isImplementation(node)) return true
  const isBrand = name !== undefined && ts.isComputedPropertyName(name) && !text.startsWith('[Symbol.')
  const isPrivate = (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0
  const isErrorName = text === 'name' && ts.isPropertyDeclaration(node) && node.initializer !== undefined
  return isBrand || isPrivate || isErrorName || text.startsWith('#') || text.startsWith("'~")
}

/** Constructors and call signatures have no name. */
function commentOf(node: ts.Node): string {
  const comment = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)?.comment
  return plain(ts.getTextOfJSDocComment(comment) ?? '')
}

function exampleOf(node: ts.Node): string {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'example')
  return plain(ts.getTextOfJSDocComment(tag?.comment) ?? '')
}

/** `{@link run}` reads as `run`. */
function plain(text: string): string {
  return text.replace(/\{@link\s+([^}]+?)\s*\}/g, '`$1`').trim()
}
