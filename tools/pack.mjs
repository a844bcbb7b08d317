/**
 * Makes the files that users install: `node tools/pack.mjs OUT-FOLDER [PACKAGE-FOLDER...]`; without folders, all that are published.
 *
 * Builds staged copies, each with those before it as its dependencies, so that a build in the working tree is neither used nor disturbed, and
 * packs that. The staged package.json loses the `source` condition and everything that is only
 * for development: `src` is not published, so a user whose own tools set `source` would
 * otherwise be sent to files that are not there. Prints npm's description of the packages as JSON.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, publishedPackages } from './build.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Packs package folders into `out` and gives npm's description of each: name, version, filename, files. */
export async function pack(out, folders = publishedPackages) {
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-pack-'))
  try {
    cpSync(join(root, 'tsconfig.base.json'), join(scratch, 'tsconfig.base.json'))
    symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'), 'dir')
    mkdirSync(out, { recursive: true })
    const packed = []
    const built = new Map()
    for (const folder of folders) {
      const stage = copyForBuild(scratch, folder, built)
      await build(stage)
      const manifest = publishedManifest(stage)
      built.set(manifest.name, stage)
      writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
      const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
        cwd: stage,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      packed.push(JSON.parse(output)[0])
    }
    return packed
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The package at the same depth as in the repository, with the packages that it uses beside it. */
function copyForBuild(scratch, folder, built) {
  const stage = join(scratch, relative(root, folder))
  mkdirSync(join(stage, 'node_modules'), { recursive: true })
  for (const name of ['package.json', 'tsconfig.build.json', 'src', 'bin', 'envtest', 'README.md']) {
    if (existsSync(join(folder, name))) cpSync(join(folder, name), join(stage, name), { recursive: true })
  }
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  if (!existsSync(join(stage, 'README.md'))) cpSync(join(root, 'README.md'), join(stage, 'README.md'))
  const own = join(folder, 'node_modules')
  const links = new Map([...(existsSync(own) ? readdirSync(own) : []).map((name) => [name, join(own, name)]), ...built])
  for (const [name, target] of links) {
    mkdirSync(dirname(join(stage, 'node_modules', name)), { recursive: true })
    symlinkSync(target, join(stage, 'node_modules', name), 'dir')
  }
  return stage
}

function publishedManifest(stage) {
  const {
    scripts,
    devDependencies,
    private: isPrivate,
    imports,
    ...manifest
  } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8'))
  return { ...manifest, exports: withoutSource(manifest.exports) }
}

function withoutSource(entry) {
  if (entry === null || typeof entry !== 'object') return entry
  return Object.fromEntries(
    Object.entries(entry)
      .filter(([name]) => name !== 'source')
      .map(([name, inner]) => [name, withoutSource(inner)]),
  )
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [out, ...folders] = process.argv.slice(2)
  if (out)
    console.log(
      JSON.stringify(
        await pack(resolve(out), folders.length === 0 ? undefined : folders.map((folder) => resolve(folder))),
      ),
    )
  else console.error('Usage: node tools/pack.mjs OUT-FOLDER [PACKAGE-FOLDER...]')
  process.exitCode = out ? 0 : 2
}
