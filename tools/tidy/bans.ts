/**
 * Time and randomness come only from base: no clock, timer or random call elsewhere.
 *
 * With a simulated clock one direct call is enough to make a test wait, or fail one time in a
 * thousand. The type checker resolves names, so a property called `Date` and a local
 * variable are fine, while `globalThis.Date`, an alias of `Math` or a destructured `now` are not.
 */
import ts from 'typescript'
import { findingAt, layerOf, visit, type Finding, type House, type HouseFile } from './house.ts'
import { importsOf } from './imports.ts'
import { typesOf } from './types.ts'

/** Where a banned name is declared, in the libraries of the language or of Node, and the name. */
const banned: Readonly<Record<string, readonly string[]>> = {
  global: ['Date', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  Math: ['random'],
  DateConstructor: ['now'],
  Performance: ['now', 'timeOrigin'],
  Process: ['hrtime', 'uptime'],
  AbortSignal: ['timeout'],
  Crypto: ['randomUUID', 'getRandomValues'],
  crypto: ['randomBytes', 'randomUUID', 'getRandomValues', 'randomInt', 'randomFill', 'randomFillSync'],
}
const bannedNames = new Set(Object.values(banned).flat())
const bannedModules = new Set(['node:timers', 'node:timers/promises', 'timers', 'timers/promises'])

export function checkBans(house: House): Finding[] {
  const judged = [...house.files.values()].filter(isJudged)
  const checker = typesOf(house, (path) => path.startsWith('packages/'))
  return judged.flatMap((file) => [...bannedImports(file), ...bannedUses(file, checker)])
}

// Mutants contain every mistake on purpose, this one too.
function isJudged({ path }: HouseFile): boolean {
  return !path.startsWith('packages/mutants/') && /^packages\/[^/]+\/src\//.test(path) && layerOf(path) !== 'base'
}

function bannedImports(file: HouseFile): Finding[] {
  return importsOf(file)
    .filter(({ specifier }) => bannedModules.has(specifier))
    .map(({ node, specifier }) => findingAt(file, node, `${specifier} is for base only: take a Clock`))
}

function bannedUses(file: HouseFile, checker: ts.TypeChecker): Finding[] {
  const findings: Finding[] = []
  visit(file.source, (node) => {
    const symbol = symbolOf(node, checker)
    const home = symbol && homeOf(symbol, checker)
    if (home)
      findings.push(
        findingAt(
          file,
          node,
          `${home === 'global' ? '' : `${home}.`}${symbol.name} is for base only: take a Clock or a Random`,
        ),
      )
  })
  return findings
}

/** The meaning of a node that may be a banned name. */
function symbolOf(node: ts.Node, checker: ts.TypeChecker): ts.Symbol | undefined {
  if (ts.isBindingElement(node)) return destructured(node, checker)
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return bannedNames.has(node.argumentExpression.text)
      ? checker.getSymbolAtLocation(node.argumentExpression)
      : undefined
  }
  if (!ts.isIdentifier(node) || !bannedNames.has(node.text) || isInType(node)) return undefined
  if (ts.isShorthandPropertyAssignment(node.parent)) return checker.getShorthandAssignmentValueSymbol(node.parent)
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node
    ? undefined
    : checker.getSymbolAtLocation(node)
}

/** `const { now } = performance` binds a banned function to a local name. */
function destructured(node: ts.BindingElement, checker: ts.TypeChecker): ts.Symbol | undefined {
  const name = node.propertyName ?? node.name
  if (!ts.isObjectBindingPattern(node.parent) || !ts.isIdentifier(name) || !bannedNames.has(name.text)) return undefined
  return checker.getTypeAtLocation(node.parent).getProperty(name.text)
}

/** A type cannot read a clock; a class that extends one can. */
function isInType({ parent }: ts.Node): boolean {
  if (ts.isExpressionWithTypeArguments(parent))
    return !(ts.isHeritageClause(parent.parent) && ts.isClassLike(parent.parent.parent))
  return ts.isTypeNode(parent) || ts.isQualifiedName(parent)
}

/** The banned place in which a symbol was declared, if any. */
function homeOf(symbol: ts.Symbol, checker: ts.TypeChecker): string | undefined {
  const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (real.declarations ?? [])
    .filter((declaration) => declaration.getSourceFile().isDeclarationFile)
    .map(containerOf)
    .find((container) => banned[container]?.includes(real.name))
}

/** The interface, variable or module around a declaration; `global` when there is none. */
function containerOf(declaration: ts.Node): string {
  let node = declaration.parent
  while (!ts.isSourceFile(node)) {
    if (ts.isInterfaceDeclaration(node) || ts.isModuleDeclaration(node)) return node.name.text
    if (ts.isVariableDeclaration(node) && node !== declaration) return node.name.getText()
    node = node.parent
  }
  return 'global'
}
