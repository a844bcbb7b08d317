/**
 * Allowed imports: layers point downward, apps use only published entries, the conformance suite sees little.
 *
 * Types count as well: a type-only import ties two layers together just as much for a reader.
 */
import { isBuiltin } from 'node:module'
import ts from 'typescript'
import {
  entryPoints,
  findingAt,
  layerOf,
  library,
  packageOf,
  resolveImport,
  type Finding,
  type House,
  type HouseFile,
} from './house.ts'
import { importsOf, type ImportUse } from './imports.ts'
import {
  builtinsPackage,
  computedImports,
  extendingEntries,
  judgedClients,
  judgeData,
  judgeImports,
  layers,
  podmanFixture,
} from './rules.ts'

export function checkLayers(house: House): Finding[] {
  return [...house.files.values()].flatMap((file) => [...misplaced(file), ...checkFile(house, file)])
}

/** A folder of the library that is no layer, a file next to the layers, or a public entry with more than re-exports. */
function misplaced(file: HouseFile): Finding[] {
  const layer = layerOf(file.path)
  if (layer === undefined) return []
  if (!layers[layer])
    return [findingAt(file, 0, `${layer || 'src'} is not a layer: add it to tools/tidy/rules.ts or move the file`)]
  if (layer !== 'public' || extendingEntries.includes(file.path)) return []
  return file.source.statements
    .filter((statement) => !(ts.isExportDeclaration(statement) && statement.moduleSpecifier) && !file.isTest)
    .map((statement) => findingAt(file, statement, 'a public entry only re-exports'))
}

function checkFile(house: House, file: HouseFile): Finding[] {
  return importsOf(file).flatMap((use) => {
    const problem =
      use.specifier === ''
        ? computedImports.includes(file.path)
          ? undefined
          : 'imports a computed name'
        : complaint(house, file, use)
    return problem ? [findingAt(file, use.node, problem)] : []
  })
}

function complaint(house: House, file: HouseFile, { specifier }: ImportUse): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (isBuiltin(specifier)) return `write node:${specifier}`
  if ((file.isTest || file.isFixture) && isTestPackage(house, specifier)) return undefined
  if (layerOf(file.path) !== undefined) return libraryComplaint(house, file.path, specifier)
  return appComplaint(house, file.path, specifier)
}

function libraryComplaint(house: House, path: string, specifier: string): string | undefined {
  const layer = layerOf(path) ?? ''
  const target = resolveImport(house, path, specifier)
  if (specifier.startsWith('#')) return crossing(layer, specifier.slice(1))
  if (specifier.startsWith('.') && layerOf(target ?? '') === 'public' && layer !== 'public')
    return 'a layer does not import a public entry: import the layer'
  // An entry may import one file of a layer if the index would load too much.
  if (specifier.startsWith('.') && layer === 'public') return undefined
  if (specifier.startsWith('.'))
    return layerOf(target ?? '') === layer ? undefined : `leaves its layer by ${specifier}: write #layer`
  if (specifier === 'evenkeel' || specifier.startsWith('evenkeel/'))
    return `the library does not import itself by name: write #layer instead of ${specifier}`
  const isBuiltins = specifier === builtinsPackage.name || specifier.startsWith(`${builtinsPackage.name}/`)
  if (isBuiltins && !builtinsPackage.usedBy.some((user) => user === layer))
    return `${layer} may not import ${builtinsPackage.name}`
  return undeclared(house, path, specifier)
}

function crossing(layer: string, target: string): string | undefined {
  if (target.includes('/')) return `#${target} reaches into a layer: import #${target.split('/')[0]}`
  if (!layers[target]) return `#${target} is not a layer`
  if (target === layer) return `a layer does not import itself by #${target}: write a relative path`
  if (layers[layer]?.includes(target)) return undefined
  return `${layer} may not import ${target}`
}

function appComplaint(house: House, path: string, specifier: string): string | undefined {
  const home = homeOf(house, path)
  if (specifier.startsWith('.')) {
    const target = resolveImport(house, path, specifier) ?? ''
    // The bench measures what the examples show.
    if (home === 'bench' && target.startsWith('examples/')) return undefined
    // An example is complete without the others, but its tests share a browser, the pictures show several, and a test
    // that needs the process of the program itself starts it from the sources.
    const isShared = target.startsWith('examples/') || target === 'tools/run.mjs'
    if (isShared && /^examples\/.*\.(?:test|fixture)\.ts$/.test(path)) return undefined
    // A real container runtime for tests is made in one way.
    if (target === podmanFixture && /\.test\.ts$/.test(path)) return undefined
    return target.startsWith(`${home}/`) ? undefined : `leaves ${home} by ${specifier}`
  }
  const isOurs = specifier === 'evenkeel' || specifier.startsWith('evenkeel/')
  if (home === 'packages/conformance') return judgeSees(specifier) ? undefined : `the judge may not import ${specifier}`
  if (!isOurs) return undeclared(house, path, specifier)
  if (home === builtinsPackage.home)
    return specifier === builtinsPackage.sees ? undefined : `${builtinsPackage.name} may not import ${specifier}`
  const published = entryPoints(library, house.manifests.get(library) ?? {}).has(specifier)
  return published ? undefined : `${specifier} is not published`
}

function judgeSees(specifier: string): boolean {
  return (
    judgeImports.includes(specifier) || judgedClients.includes(specifier) || judgeData.includes(packageName(specifier))
  )
}

/** The folder that the relative imports of a file must stay in. */
function homeOf(house: House, path: string): string {
  const home = packageOf(house, path)
  if (home !== '') return home
  return path.startsWith('examples/') ? path.split('/').slice(0, 2).join('/') : (path.split('/')[0] ?? '')
}

/** Tests may use all development dependencies of the repository. */
function isTestPackage(house: House, specifier: string): boolean {
  return packageName(specifier) in (house.manifests.get('')?.devDependencies ?? {})
}

/** Tools and examples have no package.json, so they use the dependencies of the repository. */
function undeclared(house: House, path: string, specifier: string): string | undefined {
  const name = packageName(specifier)
  const home = packageOf(house, path)
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = house.manifests.get(home) ?? {}
  const declared = {
    ...dependencies,
    ...peerDependencies,
    ...optionalDependencies,
    ...(home === library ? {} : devDependencies),
  }
  const isWorkspace = home === '' && [...house.manifests.values()].some((other) => other.name === name)
  return name in declared || isWorkspace
    ? undefined
    : `${name} is not a dependency of ${home === '' ? 'the repository' : home}`
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
