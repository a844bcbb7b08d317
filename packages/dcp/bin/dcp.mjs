#!/usr/bin/env node
/**
 * The command `dcp`: runs the built files; in a clone that was never built it says how to build them.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = new URL('../dist/index.js', import.meta.url)
if (existsSync(fileURLToPath(built))) {
  const { runProcess } = await import('../dist/index.js')
  await runProcess(process)
} else {
  console.error('dcp: this clone was not built yet: npm run build')
  process.exitCode = 1
}
