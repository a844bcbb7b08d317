/**
 * A type checker over the files of a house.
 *
 * Only our own files and the types of Node are loaded: other packages stay unresolved, which is
 * fine for the checks and several times faster than a full compile.
 */
import { existsSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import ts from 'typescript'
import { resolveImport, root, type House } from './house.ts'

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules', '@types')],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
}

/** Files of Node and of the language: they are the same for every house. */
const foreign = new Map<string, ts.SourceFile | undefined>()

/** Creates a checker for the files that `wanted` selects. */
export function typesOf(house: House, wanted: (path: string) => boolean): ts.TypeChecker {
  const host = ts.createCompilerHost(options)
  const readForeign = host.getSourceFile.bind(host)
  host.getSourceFile = (name, language) => {
    const own = house.files.get(toPath(name))
    if (own) return own.source
    if (!foreign.has(name)) foreign.set(name, readForeign(name, language))
    return foreign.get(name)
  }
  host.fileExists = (name) => house.files.has(toPath(name)) || existsSync(name)
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) => ({ resolvedModule: toModule(house, text, containing) }))
  const names = [...house.files.keys()].filter(wanted).map((path) => join(root, path))
  return ts.createProgram(names, options, host).getTypeChecker()
}

function toModule(house: House, specifier: string, containing: string): ts.ResolvedModuleFull | undefined {
  const from = toPath(containing)
  if (!house.files.has(from)) return foreignModule(specifier, containing)
  const path = resolveImport(house, from, specifier)
  if (path === undefined || !house.files.has(path)) return undefined
  return { resolvedFileName: join(root, path), extension: posix.extname(path), isExternalLibraryImport: false }
}

/** Declaration files that refer to each other. */
function foreignModule(specifier: string, containing: string): ts.ResolvedModuleFull | undefined {
  return ts.resolveModuleName(specifier, containing, options, ts.sys).resolvedModule
}

function toPath(name: string): string {
  return relative(root, name).split(sep).join('/')
}
