/**
 * The cost of loading the package: CPU time of `import`, for each entry, and of a server that starts and stops.
 *
 * The packages are packed and installed into an empty folder, as users have them, and every figure is a new process.
 * The peer is the official JavaScript client, which a program for Kubernetes would load instead.
 * `before` is the figure of the first edition, whose package was the source tree (median of three, on an idle machine).
 */
import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../print.ts'
import type { Bench } from '../print.ts'

const run = promisify(execFile)
const pack = fileURLToPath(new URL('../../tools/pack.mjs', import.meta.url))
const peer = '@kubernetes/client-node'

interface ImportCase {
  readonly name: string
  /** A module that runs as a whole. */
  readonly program: string
  readonly goalMs?: number
  readonly beforeMs?: number
}

const imported = (entry: string, more: Partial<ImportCase> = {}): ImportCase => ({
  name: `import ${entry}`,
  program: `await import('${entry}')`,
  ...more,
})

const cases: readonly ImportCase[] = [
  imported('evenkeel', { goalMs: 45, beforeMs: 236 }),
  imported('evenkeel/client', { beforeMs: 153 }),
  imported('evenkeel/controller'),
  imported('evenkeel/server', { goalMs: 80, beforeMs: 436 }),
  imported('evenkeel/testing', { goalMs: 110, beforeMs: 543 }),
  imported('evenkeel/verbs'),
  imported('evenkeel/webhook'),
  imported('@evenkeel/cel'),
  {
    name: 'import, startServer(), stop()',
    program: `const { startServer } = await import('evenkeel/server'); await (await startServer()).stop()`,
    beforeMs: 392,
  },
]

export const importBench: Bench = {
  about: 'processor time to load each entry of the packed package, and of a server that starts and stops',
  async run({ rounds, only, print }) {
    const folder = await mkdtemp(join(await realpath(tmpdir()), 'evenkeel-import-'))
    try {
      await install(folder)
      for (const one of cases.filter(({ name }) => name.includes(only))) {
        const [ours, theirs]: [number[], number[]] = [[], []]
        // Interleaved, so that both run under the same conditions.
        for (let round = 0; round < Math.max(rounds, 5); round++) {
          ours.push(await processorMs(folder, one.program))
          theirs.push(await processorMs(folder, `await import('${peer}')`))
        }
        print({
          case: one.name,
          ours: median(ours),
          peer: median(theirs),
          peerName: peer,
          unit: 'ms of processor time',
          lessIsBetter: true,
          more: {
            ...(one.goalMs !== undefined && { goal: one.goalMs }),
            ...(one.beforeMs !== undefined && { before: one.beforeMs }),
            least: Math.round(Math.min(...ours)),
          },
        })
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** The packed packages and the peer in a separate folder. */
async function install(folder: string): Promise<void> {
  const { stdout } = await run(process.execPath, [pack, folder], { maxBuffer: 1 << 26 })
  const packed = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => join(folder, filename))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }))
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  await run('npm', ['install', ...quiet, `${peer}@1.4.0`, ...packed], { cwd: folder })
}

/** In a separate process; the startup of Node itself is not counted. */
async function processorMs(folder: string, program: string): Promise<number> {
  const file = join(folder, 'measure.mjs')
  await writeFile(
    file,
    `const before = process.cpuUsage()
    ${program}
    const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1000)
    process.exit()`,
  )
  const { stdout } = await run(process.execPath, [file], { cwd: folder })
  return Number(stdout.trim())
}
