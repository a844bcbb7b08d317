/**
 * The files for the tidy checks, and the resolution of imports.
 *
 * A house can be read from the disk or built from a few texts in memory: the checks see no
 * difference, so each can be tested with a bad sample.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { checkedFolders } from './rules.ts'

/** One finding. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** One source file; paths are relative to the repository, with forward slashes. */
export interface HouseFile {
  readonly path: string
  readonly source: ts.SourceFile
  /** `*.test.ts`: runs only under the test runner. */
  readonly isTest: boolean
  /** `*.fixture.ts`: used only by tests, never published. */
  readonly isFixture: boolean
}

/** The parts of a package.json that decide what may be imported. */
export interface Manifest {
  readonly name?: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export interface House {
  readonly files: ReadonlyMap<string, HouseFile>
  /** By folder: `packages/evenkeel`, `bench`, and '' for the root. */
  readonly manifests: ReadonlyMap<string, Manifest>
}

export const root: string = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const library = 'packages/evenkeel'

/** Reads the house from the disk. */
export function readHouse(): House {
  const paths = checkedFolders.flatMap((folder) => walk(folder))
  return buildHouse(new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])))
}

/** Builds a house from texts by path; `package.json` files become manifests. */
export function buildHouse(texts: ReadonlyMap<string, string>): House {
  const files = new Map<string, HouseFile>()
  const manifests = new Map<string, Manifest>()
  for (const [path, text] of texts) {
    if (isSource(path)) files.set(path, toFile(path, text))
    else manifests.set(folderOf(path), JSON.parse(text) as Manifest)
  }
  if (!manifests.has('')) manifests.set('', readManifest(''))
  if (!manifests.has(library)) manifests.set(library, readManifest(library))
  return { files, manifests }
}

/** The folder with a file's package.json. */
export function packageOf(house: House, path: string): string {
  let folder = folderOf(path)
  while (folder !== '' && !house.manifests.has(folder)) folder = folderOf(folder)
  return folder
}

/** The layer of a library file, '' for files directly in `src`; undefined for files elsewhere. */
export function layerOf(path: string): string | undefined {
  const inside = path.split(`${library}/src/`)[1]
  if (inside === undefined || !path.startsWith(library)) return undefined
  return inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : ''
}

/** The file of an import, if it is one of ours. */
export function resolveImport(house: House, from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(from), specifier))
  if (specifier.startsWith('#')) return `${packageOf(house, from)}/src/${specifier.slice(1)}/index.ts`
  for (const [folder, manifest] of house.manifests) {
    const name = manifest.name
    if (name === undefined || (specifier !== name && !specifier.startsWith(`${name}/`))) continue
    return entryPoints(folder, manifest).get(specifier)
  }
  return undefined
}

/** The exports of a package: import specifier to source file. */
export function entryPoints(folder: string, manifest: Manifest): Map<string, string> {
  const entries = new Map<string, string>()
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    const source = typeof target === 'string' ? target : (target as { source?: string }).source
    if (source?.endsWith('.ts')) entries.set(posix.join(manifest.name ?? '', subpath), posix.join(folder, source))
  }
  return entries
}

/** A finding at a position in a file. */
export function findingAt(file: HouseFile, node: ts.Node | number, message: string): Finding {
  const position = typeof node === 'number' ? node : node.getStart(file.source)
  return { path: file.path, line: file.source.getLineAndCharacterOfPosition(position).line + 1, message }
}

/** Visits a node and all its descendants. */
export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node)
  ts.forEachChild(node, (child) => visit(child, look))
}

function toFile(path: string, text: string): HouseFile {
  const kind = /\.m?js$/.test(path) ? ts.ScriptKind.JS : ts.ScriptKind.TS
  const source = ts.createSourceFile(
    join(root, path),
    text,
    { languageVersion: ts.ScriptTarget.ES2023, impliedNodeFormat: ts.ModuleKind.ESNext },
    true,
    kind,
  )
  return { path, source, isTest: path.endsWith('.test.ts'), isFixture: path.endsWith('.fixture.ts') }
}

function isSource(path: string): boolean {
  return /\.(?:ts|mts|mjs|js)$/.test(path)
}

function readManifest(folder: string): Manifest {
  const path = join(root, folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {}
}

function folderOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

/** Source files and package.json files below a folder of the repository. */
function walk(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['node_modules', 'dist', '.cache'].includes(entry.name) ? [] : walk(path)
    return isSource(path) || entry.name === 'package.json' ? [path] : []
  })
}
