/**
 * The vitest configuration of tools/mutate: from the sources, with mutants behind switches in the planned files.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { withSwitches, type Site } from './sites.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = process.env['MUTATE_FOLDER'] ?? ''
const { sites, tests } = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as {
  readonly sites: readonly (Site & { readonly id: number })[]
  readonly tests: readonly string[]
}
const conditions = ['source', 'node', 'import', 'module', 'default']
const byFile = groupByFile()
const slowestMs = slowestTests()

function groupByFile(): Map<string, (Site & { readonly id: number })[]> {
  const groups = new Map<string, (Site & { readonly id: number })[]>()
  for (const site of sites) groups.set(join(root, site.file), [...(groups.get(join(root, site.file)) ?? []), site])
  return groups
}

/** The slowest test of each file in milliseconds; empty in the first phase. */
function slowestTests(): Map<string, number> {
  const path = join(folder, 'reached')
  const slowest = new Map<string, number>()
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []) {
    const { test, ms } = JSON.parse(line) as { readonly test: string; readonly ms: number }
    const file = join(root, test.split(' > ')[0] ?? '')
    slowest.set(file, Math.max(slowest.get(file) ?? 0, ms))
  }
  return slowest
}

/** Fast tests first: a mutant that one of them detects does not have to run into the time limit of a slow one. */
class FastFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const msOf = ({ moduleId }: TestSpecification): number => slowestMs.get(moduleId) ?? 0
    return (await super.sort(files)).sort((a, b) => msOf(a) - msOf(b))
  }
}

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(code, id) {
        const own = byFile.get(id.split('?')[0] ?? '')
        return own ? { code: withSwitches(code, own), map: null } : undefined
      },
    },
  ],
  resolve: { conditions },
  ssr: {
    resolve: { conditions, externalConditions: ['source', 'node', 'import', 'default'] },
    noExternal: [/^evenkeel/, /^@evenkeel\//],
  },
  test: {
    include: [...tests],
    sequence: { sequencer: FastFirst },
    runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
    environment: 'node',
    // A test is repeated for every mutant it reaches: only a single mutant has a time limit (runner.ts).
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    dangerouslyIgnoreUnhandledErrors: true,
    maxWorkers: process.env['MUTATE_WORKERS'] ?? '100%',
    isolate: true,
    // There is one switch for all tests of a process: with two at a time, a failure would count for the mutant of the other.
    maxConcurrency: 1,
  },
})
