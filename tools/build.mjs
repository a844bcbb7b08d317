/**
 * Builds the published files: `node tools/build.mjs [PACKAGE-FOLDER]`.
 *
 * Plain `tsc` (the native one: six seconds instead of twenty-six): one JavaScript and one declaration file per source file; only what envtest runs is joined as well. The old
 * `dist` goes first, so that a deleted source leaves nothing behind. Afterwards every target
 * of `exports`, `imports` and `bin` must exist, because a missing one is only noticed by users.
 * Without a folder it is the library and the command line; what `npm start -- serve` runs is made anew as well (tools/bundle.mjs).
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
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const library = join(root, 'packages', 'evenkeel')
const commandLine = join(root, 'packages', 'cli')
const builtFile = join(root, '.cache', 'built')
/** The program that `npm start -- serve` runs. */
export const servedFile = join(root, '.cache', 'serve', 'serve.mjs')
/** The command `evenkeel`. */
export const commandFile = join(commandLine, 'bin', 'evenkeel.mjs')

/** Builds one package folder in place. Throws with the compiler's own words when it cannot. */
export function build(folder = library) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
  const args = [compiler, '-p', join(folder, 'tsconfig.build.json'), '--pretty', 'false']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`tsc failed\n${stdout}${stderr}`)
  const missing = missingTargets(folder)
  if (missing.length > 0)
    throw new Error(`package.json names files that the build did not make:\n${missing.join('\n')}`)
}

/** Builds the library, the command line and the program that `npm start -- serve` runs. */
export async function buildLibrary() {
  await buildWithPrograms(library)
  build(commandLine)
  const { bundle } = await import('./bundle.mjs')
  await bundle(dirname(servedFile))
  noteBuilt()
}

/** Builds a package folder, and the programs that it has for envtest. */
export async function buildWithPrograms(folder) {
  build(folder)
  if (!existsSync(join(folder, 'dist', 'plane', 'launcher'))) return
  const { bundleEnvtest } = await import('./bundle.mjs')
  await bundleEnvtest(folder)
}

/** Targets of `exports`, `imports` and `bin`, for users (so without `source`), that are not there. */
export function missingTargets(folder) {
  const { exports = {}, imports = {}, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return [...targetsOf(exports), ...targetsOf(imports), ...targetsOf(bin)]
    .flatMap((target) => expand(folder, target))
    .filter((target) => !existsSync(join(folder, target)))
}

function targetsOf(entry) {
  if (typeof entry === 'string') return entry.startsWith('./') ? [entry] : []
  return Object.entries(entry ?? {}).flatMap(([condition, inner]) => (condition === 'source' ? [] : targetsOf(inner)))
}

/** A star in a target stands for every folder of `src` that has an index. */
function expand(folder, target) {
  if (!target.includes('*')) return [target]
  const source = join(folder, 'src')
  const layers = readdirSync(source).filter((name) => existsSync(join(source, name, 'index.ts')))
  return layers.map((layer) => target.replace('*', layer))
}

function noteBuilt() {
  mkdirSync(dirname(builtFile), { recursive: true })
  writeFileSync(builtFile, '')
}

/** True when there is no build, or a source is newer than it (folders count: files may be gone). */
export function isStale() {
  const outputs = [builtFile, join(library, 'dist'), join(commandLine, 'dist'), servedFile]
  if (outputs.some((path) => !existsSync(path))) return true
  const ofPackages = [library, commandLine].flatMap((folder) =>
    ['src', 'package.json', 'tsconfig.build.json'].map((name) => join(folder, name)),
  )
  const inputs = [
    join(root, 'tools', 'serve.mjs'),
    join(root, 'tools', 'bundle.mjs'),
    ...ofPackages,
    join(root, 'tsconfig.base.json'),
  ]
  return Math.max(...inputs.map(newestMs)) > statSync(builtFile).mtimeMs
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
    if (process.argv[2]) await buildWithPrograms(resolve(process.argv[2]))
    else await buildLibrary()
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
