/**
 * Every public name must be used by a guide, an example or a test next to the entry, and each name of the
 * root entry needs a doc comment with an example.
 *
 * Only stable entries count. Without this check the exports grow with every layer, and every name is a promise.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { entryPoints, findingAt, library, root, type Finding, type House, type HouseFile } from './house.ts'
import { importsOf } from './imports.ts'
import { typesOf } from './types.ts'

export function checkPublic(house: House): Finding[] {
  const entries = stableEntries(house)
  const used = usedNames(house)
  return entries.flatMap(([specifier, file]) => [
    ...exportedNames(file)
      .filter(([name]) => !used.has(`${specifier} ${name}`))
      .map(([name, node]) => findingAt(file, node, `no guide, example or public test uses ${name} of ${specifier}`)),
    ...(specifier === 'evenkeel' ? undocumented(house, file) : []),
  ])
}

function stableEntries(house: House): (readonly [string, HouseFile])[] {
  const points = entryPoints(library, house.manifests.get(library) ?? {})
  return [...points].flatMap(([specifier, path]) => {
    const file = house.files.get(path)
    const isStable = !specifier.includes('/unstable/') && !specifier.includes('/kinds/')
    return file && isStable && path.includes('/src/public/') ? [[specifier, file] as const] : []
  })
}

function exportedNames({ source }: HouseFile): [string, ts.Node][] {
  return source.statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined
    if (!clause || !ts.isNamedExports(clause)) return []
    return clause.elements.map((element): [string, ts.Node] => [element.name.text, element])
  })
}

/** `evenkeel/client Client` for every import in examples, in tests next to the entries, and in programs of the docs. */
function usedNames(house: House): Set<string> {
  const used = new Set<string>()
  const note = (specifier: string, names: Iterable<string>): void => {
    for (const name of names) used.add(`${specifier} ${name}`)
  }
  for (const file of house.files.values()) {
    const isPublicTest = file.isTest && file.path.startsWith(`${library}/src/public/`)
    if (!isPublicTest && !file.path.startsWith('examples/')) continue
    for (const { specifier, names } of importsOf(file)) {
      const entry = isPublicTest
        ? specifier.replace(/^\.\/(.*)\.ts$/, 'evenkeel/$1').replace('evenkeel/index', 'evenkeel')
        : specifier
      if (names !== 'all') note(entry, names.keys())
    }
  }
  for (const text of pages()) for (const [specifier, names] of importsIn(text)) note(specifier, names)
  return used
}

function pages(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return path === 'docs/reference' ? [] : below(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
  return ['README.md', ...below('docs')].map((path) => readFileSync(join(root, path), 'utf8'))
}

function importsIn(text: string): (readonly [string, string[]])[] {
  return [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(evenkeel[^']*)'/g)].map(
    ([, list = '', specifier = '']) => [
      specifier,
      list.split(',').map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      ),
    ],
  )
}

function undocumented(house: House, file: HouseFile): Finding[] {
  const checker = typesOf(house, (path) => path.startsWith(`${library}/src/`))
  const module = checker.getSymbolAtLocation(file.source)
  if (!module) return []
  const nodes = new Map(exportedNames(file))
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    const node = nodes.get(exported.name) ?? file.source
    if (symbol.getDocumentationComment(checker).length === 0)
      return [findingAt(file, node, `${exported.name} has no doc comment`)]
    const isValue = (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0
    const hasExample = symbol.getJsDocTags(checker).some(({ name }) => name === 'example')
    return isValue && !hasExample ? [findingAt(file, node, `${exported.name} has no @example`)] : []
  })
}
