/**
 * Builds the files of every published package: `node tools/build.mjs`.
 *
 * Each entry of `exports` becomes one file, with shared code in chunks, so that `instanceof` holds across entries. A
 * process that loads a thousand small modules spends most of its start on that: 400 ms of CPU time instead of 70 for
 * `evenkeel/server`. The native tsc (typescript-7) checks and writes the declarations of all packages in one run, because
 * `evenkeel` and `@evenkeel/builtins` need each other's types. They are joined in the same way.
 *
 * Removes the old `dist` first, so that a deleted source leaves no files. Afterwards every target of `exports` and
 * `bin` must exist, because only users would notice a missing one.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const builtFile = join(root, '.cache', 'built')

/** The published packages. */
export const publishedNames = ['cel', 'builtins', 'evenkeel', 'cli', 'dcp', 'workloads']
const publishedFolders = publishedNames.map((name) => join(root, 'packages', name))
/** The command `evenkeel`. */
export const commandFile = join(root, 'packages', 'evenkeel', 'bin', 'evenkeel.mjs')

/**
 * Files that a package starts by path (threads, processes, the programs of envtest) and that are no entries for users.
 * They are in `dist` next to the chunks: code finds them by a path relative to its own file.
 */
const programs = {
  evenkeel: {
    'renewal-worker': 'src/manager/election/renewal-worker.ts',
    'yaml-worker': 'src/wire/yaml-worker.ts',
    'large-write-worker': 'src/server/large-writes/large-write-worker.ts',
    'plane-worker': 'src/plane/plane-worker.ts',
    'worker-process': 'src/testing/worker-process.ts',
    'envtest/kube-apiserver': 'src/plane/launcher/kube-apiserver.ts',
    'envtest/etcd': 'src/plane/launcher/etcd.ts',
  },
}

/**
 * Builds every published package in place, in a folder with the layout of the repository. Throws with the output of the
 * compiler on errors.
 */
export async function buildPackages(base) {
  const types = join(base, 'packages', '.types')
  rmSync(types, { recursive: true, force: true })
  try {
    emitDeclarations(base, types)
    for (const name of publishedNames) await buildPackage(join(base, 'packages', name), join(types, name, 'src'))
  } finally {
    rmSync(types, { recursive: true, force: true })
  }
}

async function buildPackage(folder, types) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  // Declarations contain `#layer` like the sources: here it is a folder of declarations.
  writeFileSync(join(types, 'package.json'), JSON.stringify({ type: 'module', imports: { '#*': './*/index.d.ts' } }))
  await joinModules(folder, manifest)
  await joinDeclarations(folder, { manifest, types })
  const missing = missingTargets(folder)
  if (missing.length > 0)
    throw new Error(`package.json names files that the build did not create:\n${missing.join('\n')}`)
}

/** Builds the repository and records the build. */
export async function buildAll() {
  await buildPackages(root)
  mkdirSync(dirname(builtFile), { recursive: true })
  writeFileSync(builtFile, '')
}

function emitDeclarations(base, outDir) {
  const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
  const args = [compiler, '-p', join(base, 'tsconfig.build.json'), '--outDir', outDir, '--pretty', 'false']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`tsc failed\n${stdout}${stderr}`)
}

async function joinModules(folder, manifest) {
  const bundle = await rolldown({
    input: { ...entriesOf(folder, manifest), ...programsOf(folder, manifest) },
    external: externalsOf(manifest),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
    plugins: [withoutValidator],
    logLevel: 'warn',
  })
  const groups = [
    { name: chunkNames(await rootModules(bundle)), debugName: 'layers', minShareCount: 2, test: isShared },
  ]
  const { output } = await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    sourcemap: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups, includeDependenciesRecursively: false },
  })
  await bundle.close()
  writeLicenses(folder, output)
}

/**
 * The SDK of the Model Context Protocol loads a JSON Schema compiler for answers of people to questions of a server. We ask
 * none, and it is 250 kB of code that compiles code.
 */
const withoutValidator = {
  name: 'without-validator',
  load: {
    filter: { id: /@modelcontextprotocol\/sdk\/.*\/ajv-provider\.js$/ },
    handler: () => 'export class AjvJsonSchemaValidator {}',
  },
}

/** The licences of the packages that became part of the built files: `dist/licenses.txt`, if there are any. */
function writeLicenses(folder, output) {
  const modules = output.flatMap((chunk) => Object.keys(chunk.modules ?? {}))
  const parts = modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [])
  if (parts.length === 0) return
  for (const { fileName } of output) if (fileName.endsWith('.map')) dropTexts(join(folder, 'dist', fileName))
  const texts = [...new Set(parts)].sort().map((part) => {
    const { name, version, license } = JSON.parse(readFileSync(join(part, 'package.json'), 'utf8'))
    const file = readdirSync(part).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} is part of the build and has no licence file`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(part, file), 'utf8').trim()}\n`
  })
  writeFileSync(join(folder, 'dist', 'licenses.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}

/** A source map without the texts of other packages: they are half of its size. */
function dropTexts(file) {
  const map = JSON.parse(readFileSync(file, 'utf8'))
  const sourcesContent = map.sourcesContent.map((text, index) =>
    map.sources[index].includes('/node_modules/') ? null : text,
  )
  writeFileSync(file, JSON.stringify({ ...map, sourcesContent }))
}

/** Modules that the root entry loads, by a trial build that splits by which entries need a module. */
async function rootModules(bundle) {
  const groups = [{ name: 'part', test: isShared, entriesAware: true }]
  const codeSplitting = { groups, includeDependenciesRecursively: false }
  const { output } = await bundle.generate({ format: 'esm', entryFileNames: '[name].js', codeSplitting })
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]))
  const reached = new Set()
  const visit = (name) => {
    if (reached.has(name) || !chunks.has(name)) return
    reached.add(name)
    chunks.get(name).imports.forEach(visit)
  }
  visit('index.js')
  return new Set([...reached].flatMap((name) => Object.keys(chunks.get(name).modules)))
}

/**
 * Few large chunks load faster than many small ones: two for each layer. What the root entry needs is one, because a
 * program that only declares its controllers should not wait for the code that runs them. `-run` has the rest.
 */
function chunkNames(rootModules) {
  return (id) => {
    const layer = /\/src\/([^/]+)\//.exec(id)?.[1]
    return layer !== undefined && !rootModules.has(id) ? `${layer}-run` : layer
  }
}

/** Modules that are loaded only on demand stay in the chunks of their importers. */
const onDemand =
  /\/(?:api\/(?:rules\/(?:check|compile|evaluate)|admission\/(?:authorizer|compiler|environment|overlay)|claims-compiler|schema\/cel-)|store\/etcd\/|plane\/|server\/(?:audit\/(?!hash-chain)|auth\/(?:oidc|token-webhook)|discovery|openapi|listen\/http2|large-writes\/(?:large-write-|replica))|manager\/define-controller)/

function isShared(id) {
  return id.includes('/src/') && !onDemand.test(id) && !id.includes('/node_modules/')
}

async function joinDeclarations(folder, { manifest, types }) {
  const entries = entriesOf(folder, manifest)
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, source]) => [name, declarationOf(source, { folder, types })]),
  )
  const bundle = await rolldown({
    input,
    external: externalsOf(manifest),
    platform: 'node',
    plugins: [dts({ dtsInput: true, tsconfig: false, sourcemap: false })],
    logLevel: 'warn',
  })
  await bundle.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    entryFileNames: '[name].ts',
    chunkFileNames: ({ name }) => `types/${name.replace(/\.d$/, '')}-[hash].d.ts`,
  })
  await bundle.close()
}

function declarationOf(source, { folder, types }) {
  return source.replace(join(folder, 'src'), types).replace(/\.ts$/, '.d.ts')
}

/** Entry name (`server`, `kinds/core/v1`) to source file, from `exports`. */
function entriesOf(folder, { exports }) {
  return Object.fromEntries(
    Object.values(exports)
      .filter((target) => typeof target === 'object')
      .map(({ source, default: built }) => [
        built.replace(/^\.\/dist\//, '').replace(/\.js$/, ''),
        join(folder, source),
      ]),
  )
}

function programsOf(folder, { name }) {
  return Object.fromEntries(
    Object.entries(programs[name] ?? {}).map(([program, source]) => [program, join(folder, source)]),
  )
}

function externalsOf({ dependencies, peerDependencies }) {
  return Object.keys({ ...dependencies, ...peerDependencies }).map((name) => new RegExp(`^${name}(?:/|$)`))
}

/** Targets of `exports` and `bin`, for users (so without `source`), that do not exist; declarations included. */
export function missingTargets(folder) {
  const { exports = {}, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return [...targetsOf(exports), ...targetsOf(bin)]
    .flatMap((target) => (/^\.\/dist\/.*\.js$/.test(target) ? [target, target.replace(/\.js$/, '.d.ts')] : [target]))
    .filter((target) => !existsSync(join(folder, target)))
}

function targetsOf(entry) {
  if (typeof entry === 'string') return entry.startsWith('./') ? [entry] : []
  return Object.entries(entry ?? {}).flatMap(([condition, inner]) => (condition === 'source' ? [] : targetsOf(inner)))
}

/** Whether a build is missing or older than a source (folders count: a file may have been deleted). */
export function isStale() {
  if ([builtFile, ...publishedFolders.map((folder) => join(folder, 'dist'))].some((path) => !existsSync(path)))
    return true
  const inputs = publishedFolders.flatMap((folder) => ['src', 'package.json'].map((name) => join(folder, name)))
  const own = ['tools/build.mjs', 'tsconfig.base.json', 'tsconfig.build.json'].map((name) => join(root, name))
  return Math.max(...[...own, ...inputs].map(newestMs)) > statSync(builtFile).mtimeMs
}

function newestMs(path) {
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(
    mtimeMs,
    ...readdirSync(path)
      .filter((name) => !name.endsWith('.test.ts'))
      .map((name) => newestMs(join(path, name))),
  )
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await buildAll()
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
