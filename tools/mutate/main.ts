/**
 * What the tests of a layer detect: `npm run mutate -- --layer NAME [--sample 300] [--seed 1] [--file TEXT] [--again FILE] [--json]`.
 *
 * Changes one line of source at a time (tools/mutate/sites.ts) and runs the nearest tests (tools/mutate/layers.ts). Prints
 * the share of detected mutants and the survivors. All mutants are in the code at once, each behind a switch, so that a
 * mutant costs the tests that reach it and not a start of the test runner. A mutant that no test reaches has survived.
 *
 * Equivalent survivors are listed in tools/mutate/equivalent.ts, with the reason, and do not count.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SeededRandom } from 'evenkeel/unstable/base'
import { equivalents } from './equivalent.ts'
import { layerFolders, nearestTests } from './layers.ts'
import { sitesOf, type Site } from './sites.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** A file that a thread starts by itself: neither the switches nor the tests reach it. */
const inThread = /\/renewal-worker\.ts$/

interface Mutant extends Site {
  readonly id: number
}

const help = `npm run mutate -- --layer NAME [options]

  --layer NAME   ${Object.keys(layerFolders).join(' ')}
  --sample N     how many mutants are tried (default 300)
  --seed TEXT    which ones (default 1)
  --file TEXT    only files whose path contains it
  --again FILE   only the survivors that an earlier run with --json has written to FILE
  --json         one JSON line for the layer and one for each survivor
`

const { values } = parseArgs({
  options: {
    layer: { type: 'string', default: '' },
    sample: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    again: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const sample = Number(values.sample)
  const folder = layerFolders[values.layer]
  if (values.help || folder === undefined || !(Number.isInteger(sample) && sample > 0)) {
    process.stderr.write(values.help ? help : `Error: give a layer, and a sample of 1 or more\n\n${help}`)
    return values.help ? 0 : 2
  }
  const sites = allSites(folder)
  const mutants = choose(values.again === '' ? sites : survivorsAmong(sites, readText(values.again)), sample)
  const scratch = mkdtempSync(join(tmpdir(), 'evenkeel-mutate-'))
  try {
    const changing = mutants.filter(({ original, mutated }) => original !== mutated)
    writeFileSync(join(scratch, 'plan.json'), JSON.stringify({ sites: changing, tests: nearestTests[values.layer] }))
    say(`${mutants.length} mutants of ${values.layer}; first, which test reaches which`)
    await runTests(scratch, 'reach')
    say('now each test with the mutants that it reaches')
    while (await runTests(scratch, 'judge')) say('a mutant did not end and counts as noticed; going on')
    report(mutants, scratch)
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function say(text: string): void {
  if (!values.json) process.stderr.write(`${text}\n`)
}

function allSites(folder: string): Site[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith('.ts') && !/\.(?:test|fixture)\.ts$|\/generated\/|\/index\.ts$/.test(path))
    .filter((path) => path.includes(values.file))
    .sort()
    .flatMap((path) => sitesOf(path, readFileSync(join(root, path), 'utf8')))
}

/** The sites that a run with --json has listed as survivors. */
function survivorsAmong(sites: readonly Site[], json: string): Site[] {
  const lines = json.split('\n').filter((line) => line.startsWith('{"survivor"'))
  const listed = lines.map((line) => JSON.parse(line) as { survivor: string; original: string; mutated: string })
  return sites.filter(({ file, line, original, mutated }) =>
    listed.some((one) => one.survivor === `${file}:${line}` && one.original === original && one.mutated === mutated),
  )
}

/** A sample by seed, at most one mutant per line, none inside another. */
function choose(sites: readonly Site[], sample: number): Mutant[] {
  const random = new SeededRandom(values.seed)
  const shuffled = sites.map((site) => ({ site, rank: random.uint32() })).sort((a, b) => a.rank - b.rank)
  const chosen: Mutant[] = []
  const lines = new Set<string>()
  for (const { site } of shuffled) {
    if (chosen.length === sample) break
    const line = `${site.file}:${site.line}`
    if (lines.has(line) || inThread.test(site.file) || chosen.some((other) => overlap(site, other))) continue
    lines.add(line)
    chosen.push({ ...site, id: chosen.length })
  }
  return chosen
}

function overlap(one: Site, other: Site): boolean {
  if (one.file !== other.file) return false
  const spansOf = ({ start, end, uses = [[start, end]] }: Site): typeof uses => uses
  return spansOf(one).some(([from, to]) => spansOf(other).some(([start, end]) => start < to && from < end))
}

/** Runs a phase; true when a mutant blocked a process, which was then killed. */
async function runTests(folder: string, phase: 'reach' | 'judge'): Promise<boolean> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const config = join(root, 'tools', 'mutate', 'vitest.config.ts')
  const child = spawn(process.execPath, [vitest, '--run', '--config', config, '--reporter=dot'], {
    cwd: root,
    env: { ...process.env, MUTATE_FOLDER: folder, MUTATE_PHASE: phase, NODE_OPTIONS: '--no-warnings' },
    stdio: 'ignore',
  })
  const watch = phase === 'judge' ? watchForHang(folder, child) : undefined
  await new Promise((resolve) => child.on('close', resolve))
  return watch?.stop() ?? false
}

/** A mutant in an endless loop blocks its process: it counts as detected, and the process is killed. */
function watchForHang(folder: string, child: ChildProcess): { stop(): boolean } {
  let isHung = false
  const timer = setInterval(() => {
    for (const name of readdirSync(folder).filter((file) => file.startsWith('current-'))) {
      const path = join(folder, name)
      const [id = '', limitMs = ''] = readText(path).split(' ')
      // Twice the limit of runner.ts, which ends a test that waits: this one does not even get there.
      if (limitMs === '' || Date.now() - statSync(path).mtimeMs < 2 * Number(limitMs)) continue
      if (!isAlive(Number(name.slice(8)))) continue
      writeFileSync(join(folder, 'noticed'), `${readText(join(folder, 'noticed'))}${id}\n`)
      isHung = true
      process.kill(Number(name.slice(8)), 'SIGKILL')
      rmSync(path)
      child.kill('SIGKILL')
    }
  }, 1_000)
  return {
    stop: () => {
      clearInterval(timer)
      for (const name of readdirSync(folder).filter((file) => file.startsWith('current-'))) rmSync(join(folder, name))
      return isHung
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function report(mutants: readonly Mutant[], folder: string): void {
  const lines = (name: string): string[] => readText(join(folder, name)).split('\n').filter(Boolean)
  const noticed = new Set(lines('noticed').map(Number))
  const reached = new Set(lines('reached').flatMap((line) => (JSON.parse(line) as { ids: number[] }).ids))
  const judged = mutants.filter((one) => noticed.has(one.id) || !isEquivalent(one))
  const survivors = judged.filter(({ id }) => !noticed.has(id))
  const share = Math.round((1000 * (judged.length - survivors.length)) / judged.length) / 10
  const summary = {
    layer: values.layer,
    sampled: mutants.length,
    noticed: noticed.size,
    survived: survivors.length,
    unreached: survivors.filter(({ id }) => !reached.has(id)).length,
    equivalent: mutants.length - judged.length,
    share,
  }
  if (values.json) {
    console.log(JSON.stringify(summary))
    for (const { file, line, kind, original, mutated, id } of survivors)
      console.log(JSON.stringify({ survivor: `${file}:${line}`, kind, original, mutated, reached: reached.has(id) }))
    return
  }
  for (const { file, line, kind, original, mutated, id } of survivors.sort((a, b) => (a.file < b.file ? -1 : 1)))
    console.log(
      `${file}:${line} ${kind}${reached.has(id) ? '' : ' (no test reaches it)'}: ${oneLine(original)} → ${oneLine(mutated)}`,
    )
  console.log(
    `${values.layer}: ${share} % of ${judged.length} mutants noticed; ${survivors.length} survived, ${summary.unreached} of them unreached`,
  )
}

/** Listed as equivalent, or a `return undefined`, which has no other value to return. */
function isEquivalent(one: Mutant): boolean {
  return (
    one.original === one.mutated ||
    equivalents.some(
      ({ file, original, mutated, line = '' }) =>
        one.file.endsWith(file) && one.original === original && one.mutated === mutated && lineOf(one).includes(line),
    )
  )
}

function lineOf({ file, line }: Mutant): string {
  return readText(join(root, file)).split('\n')[line - 1] ?? ''
}

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, ' ')
  return flat.length > 90 ? `${flat.slice(0, 89)}…` : flat
}
