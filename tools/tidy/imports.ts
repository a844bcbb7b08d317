/**
 * Every place where a file names another module: imports, re-exports, `import()`, import types.
 */
import ts from 'typescript'
import { visit, type HouseFile } from './house.ts'

/** One module name in a file, and which exports of that module it takes. */
export interface ImportUse {
  readonly node: ts.Node
  readonly specifier: string
  /** Local name by exported name, or `all` for a namespace, `import()` or `export *`. */
  readonly names: ReadonlyMap<string, string> | 'all'
  /** True for `export ... from`. */
  readonly isReexport: boolean
}

export function importsOf(file: HouseFile): ImportUse[] {
  const uses: ImportUse[] = []
  visit(file.source, (node) => {
    const use = importUse(node)
    if (use) uses.push(use)
  })
  return uses
}

function importUse(node: ts.Node): ImportUse | undefined {
  if (ts.isImportDeclaration(node)) return toUse(node, node.moduleSpecifier, importedNames(node.importClause))
  if (ts.isExportDeclaration(node) && node.moduleSpecifier)
    return { ...toUse(node, node.moduleSpecifier, exportedNames(node)), isReexport: true }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return toUse(node, node.arguments[0], 'all')
  if (ts.isImportTypeNode(node)) return toUse(node, node.argument, importTypeNames(node))
  return undefined
}

function toUse(node: ts.Node, module: ts.Node | undefined, names: ImportUse['names']): ImportUse {
  const literal = module && ts.isLiteralTypeNode(module) ? module.literal : module
  const specifier = literal && ts.isStringLiteralLike(literal) ? literal.text : ''
  return { node, specifier, names, isReexport: false }
}

function importedNames(clause: ts.ImportClause | undefined): ImportUse['names'] {
  if (!clause) return new Map()
  const bindings = clause.namedBindings
  if (bindings && ts.isNamespaceImport(bindings)) return 'all'
  const names = new Map(
    (bindings?.elements ?? []).map((element) => [(element.propertyName ?? element.name).text, element.name.text]),
  )
  if (clause.name) names.set('default', clause.name.text)
  return names
}

function exportedNames({ exportClause }: ts.ExportDeclaration): ImportUse['names'] {
  if (!exportClause || ts.isNamespaceExport(exportClause)) return 'all'
  return new Map(
    exportClause.elements.map((element) => [(element.propertyName ?? element.name).text, element.name.text]),
  )
}

function importTypeNames({ qualifier }: ts.ImportTypeNode): ImportUse['names'] {
  let name = qualifier
  while (name && ts.isQualifiedName(name)) name = name.left
  return name ? new Map([[name.text, name.text]]) : 'all'
}
