/**
 * Makes the file that users install: `node tools/pack.mjs OUT-FOLDER [PACKAGE-FOLDER]`.
 *
 * Builds a staged copy, so that a build in the working tree is neither used nor disturbed, and
 * packs that. The staged package.json loses the `source` condition and everything that is only
 * for development: `src` is not published, so a user whose own tools set `source` would
 * otherwise be sent to files that are not there. Prints npm's description of the package as JSON.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWithPrograms } from './build.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const library = join(root, 'packages', 'evenkeel')

/** Packs a package folder into `out` and gives npm's description: name, version, filename, files. */
export async function pack(out, folder = library) {
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-pack-'))
  try {
    const stage = copyForBuild(scratch, folder)
    await buildWithPrograms(stage)
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedManifest(stage), undefined, 2)}\n`)
    mkdirSync(out, { recursive: true })
    const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], { cwd: stage, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return JSON.parse(output)[0]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The package at the same depth as in the repository, with what its tsconfig looks for above it. */
function copyForBuild(scratch, folder) {
  const stage = join(scratch, relative(root, library))
  mkdirSync(stage, { recursive: true })
  for (const name of ['package.json', 'tsconfig.build.json', 'src', 'envtest', 'README.md']) {
    if (existsSync(join(folder, name))) cpSync(join(folder, name), join(stage, name), { recursive: true })
  }
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  cpSync(join(root, 'tsconfig.base.json'), join(scratch, 'tsconfig.base.json'))
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'), 'dir')
  if (existsSync(join(folder, 'node_modules'))) symlinkSync(join(folder, 'node_modules'), join(stage, 'node_modules'), 'dir')
  return stage
}

function publishedManifest(stage) {
  const { scripts, devDependencies, private: isPrivate, ...manifest } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8'))
  return { ...manifest, imports: withoutSource(manifest.imports), exports: withoutSource(manifest.exports) }
}

function withoutSource(entry) {
  if (entry === null || typeof entry !== 'object') return entry
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== 'source').map(([name, inner]) => [name, withoutSource(inner)]))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [out, folder] = process.argv.slice(2)
  if (out) console.log(JSON.stringify(await pack(resolve(out), folder && resolve(folder))))
  else console.error('Usage: node tools/pack.mjs OUT-FOLDER [PACKAGE-FOLDER]')
  process.exitCode = out ? 0 : 2
}
