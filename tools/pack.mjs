/**
 * Creates the files that users install: `node tools/pack.mjs OUT-FOLDER`.
 *
 * Builds and packs staged copies of the published packages, so that a build in the working tree is neither used nor
 * changed. The staged package.json loses the `source` condition and all development
 * fields: `src` is not published, so tools of a user that set `source` would otherwise
 * look for missing files. Prints npm's description of the packages as JSON.
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
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPackages, publishedNames } from './build.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Packs every published package into `out` and returns npm's description of each: name, version, filename, files. */
export async function pack(out) {
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-pack-'))
  try {
    for (const name of ['tsconfig.base.json', 'tsconfig.build.json']) cpSync(join(root, name), join(scratch, name))
    symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'), 'dir')
    mkdirSync(out, { recursive: true })
    const stages = publishedNames.map((name) => stagePackage(scratch, name))
    for (const stage of stages) linkPackages(stage, stages)
    await buildPackages(scratch)
    return stages.map((stage) => packStage(stage, out))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Copies a package to the same depth as in the repository, with its own node_modules. */
function stagePackage(scratch, name) {
  const folder = join(root, 'packages', name)
  const stage = join(scratch, 'packages', name)
  mkdirSync(join(stage, 'node_modules'), { recursive: true })
  for (const part of ['package.json', 'src', 'bin', 'envtest', 'README.md']) {
    if (existsSync(join(folder, part))) cpSync(join(folder, part), join(stage, part), { recursive: true })
  }
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  if (!existsSync(join(stage, 'README.md'))) cpSync(join(root, 'README.md'), join(stage, 'README.md'))
  const own = join(folder, 'node_modules')
  for (const dependency of existsSync(own) ? readdirSync(own) : [])
    symlinkSync(join(own, dependency), join(stage, 'node_modules', dependency), 'dir')
  return stage
}

/** The staged packages resolve each other before those of the repository. */
function linkPackages(stage, stages) {
  for (const other of stages) {
    const link = join(stage, 'node_modules', manifestOf(other).name)
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(other, link, 'dir')
  }
}

function packStage(stage, out) {
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedManifest(stage), undefined, 2)}\n`)
  const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
    cwd: stage,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return JSON.parse(output)[0]
}

function manifestOf(stage) {
  return JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8'))
}

function publishedManifest(stage) {
  const { scripts, devDependencies, private: isPrivate, imports, ...manifest } = manifestOf(stage)
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
  const [out] = process.argv.slice(2)
  if (out) console.log(JSON.stringify(await pack(resolve(out))))
  else console.error('Usage: node tools/pack.mjs OUT-FOLDER')
  process.exitCode = out ? 0 : 2
}
