/**
 * How the unit tests run: from the sources, with no build in between.
 *
 * The `source` condition is what makes `#layer` and `evenkeel/...` imports resolve to `src`.
 */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const conditions = ['source', 'node', 'import', 'module', 'default']

/** What every test runs with. */
const shared = {
  environment: 'node',
  // For tests that hang: a machine with a load of 20 takes ten times as long for all others.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // A package with sources under the condition that finds ours, and the one that imports it.
  server: {
    deps: { inline: [/\/eventsource-parser\//, /\/@modelcontextprotocol\/sdk\/dist\/esm\/client\/streamableHttp/] },
  },
}

/** Property tests try the same cases in every run. */
const alias = [
  { find: /^fast-check$/, replacement: fileURLToPath(new URL('tools/seeded-checks.mjs', import.meta.url)) },
  { find: /^fast-check\/real$/, replacement: fileURLToPath(import.meta.resolve('fast-check')) },
]

const resolution = {
  resolve: { conditions, alias },
  ssr: {
    resolve: { conditions, externalConditions: ['source', 'node', 'import', 'default'] },
    noExternal: [/^evenkeel/, /^@evenkeel\//],
  },
}

/**
 * Tests that leave nothing behind: their files share a process and load every module once, which halves the time.
 * Whoever changes the process itself (its folder, its environment, its signal handlers) belongs to the others.
 */
const together = [
  'base',
  'api',
  'wire',
  'queue',
  'server',
  'public',
  'client',
  'cache',
  'controller',
  'webhook',
  'kinds',
  'store',
  'manager',
  'plane',
]
  .map((layer) => `packages/evenkeel/src/${layer}/**/*.test.ts`)
  .concat(
    'packages/builtins/src/**/*.test.ts',
    'packages/cel/src/**/*.test.ts',
    'packages/conformance/src/**/*.test.ts',
    'bench/**/*.test.ts',
    // Of workloads those on the simulated host: the others start processes, or look at this one.
    'packages/workloads/src/{formats,schedules,sets,tasks}/*.test.ts',
    'packages/workloads/src/{env-references,environment,process-connects,processes,shutdown-order,workloads}.test.ts',
    'packages/workloads/src/services/{router,service-proxy,services}.test.ts',
    'packages/workloads/src/watch/{cascade,ignore-patterns,process-watch}.test.ts',
    'packages/workloads/src/logs/{log-handler,log-lines,time-index}.test.ts',
    'packages/workloads/src/containers/{containers,log-frames,simulated-runtime}.test.ts',
  )
/** What `tools/test.mjs --exclude` leaves out: vitest's own flag does not reach projects. */
const left = ['**/node_modules/**', ...(process.env['TESTS_EXCLUDED'] ?? '').split(',').filter((glob) => glob !== '')]
/** What `tools/test.mjs --long` runs: a project of their own. */
const only = (process.env['TESTS_ONLY'] ?? '').split(',').filter((glob) => glob !== '')
const all = ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts', 'examples/**/*.test.ts']

export default defineConfig({
  ...resolution,
  test: {
    // Many tests wait for a process of their own, so one core more is not kept free.
    maxWorkers: '100%',
    projects:
      only.length > 0
        ? [{ ...resolution, test: { ...shared, name: 'long', include: only, exclude: left } }]
        : [
            { ...resolution, test: { ...shared, name: 'together', include: together, exclude: left, isolate: false } },
            { ...resolution, test: { ...shared, name: 'apart', include: all, exclude: [...left, ...together] } },
          ],
  },
})
