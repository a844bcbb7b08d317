/**
 * The vitest configuration of tools/mutate: from the sources, with mutants behind switches in the planned files.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
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

function groupByFile(): Map<string, (Site & { readonly id: number })[]> {
  const groups = new Map<string, (Site & { readonly id: number })[]>()
  for (const site of sites) groups.set(join(root, site.file), [...(groups.get(join(root, site.file)) ?? []), site])
  return groups
}

/** Fast test files first: what they notice need not run in the slow ones. */
class FastFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const costs = costByFile()
    const costOf = ({ moduleId }: TestSpecification): number => costs.get(relative(root, moduleId)) ?? 0
    return Promise.resolve(files.toSorted((a, b) => costOf(a) - costOf(b)))
  }
}

/** For each test file: its duration times the mutants it reaches, from the first phase. */
function costByFile(): Map<string, number> {
  const costs = new Map<string, number>()
  const path = join(folder, 'reached')
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []) {
    const { test, ids, ms } = JSON.parse(line) as { test: string; ids: readonly number[]; ms: number }
    const file = test.slice(0, test.indexOf(' > '))
    costs.set(file, (costs.get(file) ?? 0) + ms * ids.length)
  }
  return costs
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
    runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
    environment: 'node',
    // A test is repeated for every mutant it reaches: only a single mutant has a time limit (runner.ts).
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    dangerouslyIgnoreUnhandledErrors: true,
    maxWorkers: process.env['MUTATE_WORKERS'] ?? '100%',
    isolate: true,
    sequence: { sequencer: FastFirst },
  },
})
