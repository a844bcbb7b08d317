/**
 * How the unit tests run: from the sources, with no build in between.
 *
 * The `source` condition is what makes `#layer` and `evenkeel/...` imports resolve to `src`.
 */
import { defineConfig } from 'vitest/config'

const conditions = ['source', 'node', 'import', 'module', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['source', 'node', 'import', 'default'] }, noExternal: [/^evenkeel/, /^@evenkeel\//] },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts', 'examples/**/*.test.ts'],
    environment: 'node',
    // Many tests wait for a process of their own, so one core more is not kept free.
    maxWorkers: '100%',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Some tests drive real servers and processes on a machine that others load as well. In CI a test that fails is
    // tried once more; what needed that is listed at the end of the run.
    retry: process.env['CI'] ? 1 : 0,
  },
})
