/**
 * Exports without a use.
 *
 * An export is used when its file is published, when another file imports it, tests included, or when a used re-export
 * passes it on. So a layer's index alone keeps nothing alive: an entry must publish the name, or a file must import it
 * through `#layer`. Programs that are loaded by their path need no importer.
 */
import ts from 'typescript'
import { entryPoints, findingAt, resolveImport, type Finding, type House, type HouseFile } from './house.ts'
import { importsOf, type ImportUse } from './imports.ts'
import { loadedByPath } from './rules.ts'

interface Export {
  readonly file: HouseFile
  readonly name: string
  readonly node: ts.Node
}

/** For every export: its importers, and the names under which it is re-exported. */
interface Uses {
  readonly importers: Map<string, HouseFile[]>
  readonly reexports: Map<string, string[]>
}

export function checkDeadExports(house: House): Finding[] {
  const published = publishedFiles(house)
  const exports = [...house.files.values()].filter(isJudged).flatMap(exportsOf)
  const uses = collectUses(house, exports)
  return [
    ...exports
      .filter((one) => !isAlive(one, uses, published))
      .map(({ file, name, node }) => findingAt(file, node, `${name} is exported but not used`)),
    ...[...house.files.values()].filter(isJudged).flatMap(starExports),
  ]
}

function isJudged(file: HouseFile): boolean {
  return /^packages\/[^/]+\/src\//.test(file.path) && !file.isTest && !loadedByPath.test(file.path)
}

function publishedFiles(house: House): Set<string> {
  return new Set([...house.manifests].flatMap(([folder, manifest]) => [...entryPoints(folder, manifest).values()]))
}

function isAlive({ file, name }: Export, uses: Uses, published: ReadonlySet<string>): boolean {
  const seen = new Set<string>()
  const pending = [keyOf(file.path, name)]
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    if (seen.has(key)) continue
    seen.add(key)
    if (published.has(key.split('\n')[0] ?? '')) return true
    const importers = (uses.importers.get(key) ?? []).filter((importer) => importer !== file)
    if (importers.length > 0) return true
    pending.push(...(uses.reexports.get(key) ?? []))
  }
  return false
}

function collectUses(house: House, exports: readonly Export[]): Uses {
  const uses: Uses = { importers: new Map(), reexports: new Map() }
  for (const file of house.files.values()) {
    for (const use of importsOf(file))
      noteUse(uses, file, { use, target: resolveImport(house, file.path, use.specifier), exports })
  }
  return uses
}

interface Resolved {
  readonly use: ImportUse
  readonly target: string | undefined
  readonly exports: readonly Export[]
}

function noteUse(uses: Uses, file: HouseFile, { use, target, exports }: Resolved): void {
  if (target === undefined) return
  const all = () => exports.filter((one) => one.file.path === target).map(({ name }) => [name, name] as const)
  for (const [name, local] of use.names === 'all' ? all() : use.names) {
    if (use.isReexport) append(uses.reexports, keyOf(target, name), keyOf(file.path, local))
    else append(uses.importers, keyOf(target, name), file)
  }
}

/** A star hides what is public: an index lists its names. */
function starExports(file: HouseFile): Finding[] {
  return importsOf(file)
    .filter(({ isReexport, names }) => isReexport && names === 'all')
    .map(({ node }) => findingAt(file, node, 'list the names that are passed on instead of a star'))
}

function exportsOf(file: HouseFile): Export[] {
  return file.source.statements.flatMap((statement) =>
    exportedNodes(statement).map(([name, node]) => ({ file, name, node })),
  )
}

function exportedNodes(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause
    return clause && ts.isNamedExports(clause) ? clause.elements.map((element) => [element.name.text, element]) : []
  }
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  if (!isExported) return []
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name))
  const { name } = statement as ts.DeclarationStatement
  return name ? [[name.getText(), statement]] : []
}

function boundNames(name: ts.BindingName): [string, ts.Node][] {
  if (ts.isIdentifier(name)) return [[name.text, name]]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []))
}

function keyOf(path: string, name: string): string {
  return `${path}\n${name}`
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
