/**
 * The committed listing of public names: `node tools/run.mjs tools/api-listing.ts [--write]`.
 *
 * A name that appears, goes or changes its kind shows up in a review as a changed line of
 * docs/reference/api.md; tools/tidy.test.ts fails while that page is out of date.
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { entryPoints, library, readHouse, root, type House } from './tidy/house.ts'
import { typesOf } from './tidy/types.ts'

export const listingFile = 'docs/reference/api.md'

const head = `# Public names

What each entry point of \`evenkeel\` exports. This page is generated:
\`node tools/run.mjs tools/api-listing.ts --write\`. Entry points below \`unstable\` may change in any release.
`

/** The text of the page, from the sources. */
export function apiListing(house: House = readHouse()): string {
  const checker = typesOf(house, (path) => path.startsWith(`${library}/src/`))
  const entries = [...entryPoints(library, house.manifests.get(library) ?? {})]
  const sections = entries.map(([specifier, path]) => {
    const source = house.files.get(path)?.source
    const names = source ? namesOf(source, checker) : []
    return `\n## ${specifier}\n\n${table(names)}`
  })
  return head + sections.join('')
}

interface PublicName {
  readonly name: string
  readonly kind: string
}

function namesOf(source: ts.SourceFile, checker: ts.TypeChecker): PublicName[] {
  const module = checker.getSymbolAtLocation(source)
  if (!module) return []
  return checker
    .getExportsOfModule(module)
    .map((symbol) => ({ name: symbol.name, kind: kindOf(symbol, checker) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** One word for what a name is; a value and a type of the same name are both said. */
function kindOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const kinds = [
    flags & ts.SymbolFlags.Class ? 'class' : '',
    flags & ts.SymbolFlags.Function ? 'function' : '',
    flags & ts.SymbolFlags.Variable ? 'const' : '',
    flags & ts.SymbolFlags.Interface && !(flags & ts.SymbolFlags.Class) ? 'interface' : '',
    flags & ts.SymbolFlags.TypeAlias ? 'type' : '',
  ]
  return kinds.filter((kind) => kind !== '').join(' and ') || 'unknown'
}

function table(names: readonly PublicName[]): string {
  if (names.length === 0) return 'Nothing yet.\n'
  return `| Name | Kind |\n|---|---|\n${names.map(({ name, kind }) => `| \`${name}\` | ${kind} |`).join('\n')}\n`
}

function main(): void {
  if (!process.argv.includes('--write')) {
    process.stdout.write(apiListing())
    return
  }
  mkdirSync(dirname(join(root, listingFile)), { recursive: true })
  writeFileSync(join(root, listingFile), apiListing())
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main()
