#!/usr/bin/env node
/**
 * The command `evenkeel`: runs the built files; in a clone that was never built it says how to build them.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = new URL('../dist/index.js', import.meta.url)
if (existsSync(fileURLToPath(built))) {
  try {
    const { runProcess } = await import('@evenkeel/cli')
    await runProcess(process)
  } catch (error) {
    // Loading the program failed. Errors of a command are reported by the program itself.
    if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error
    console.error('error[busy]: too many open files\nTry: raise the limit, for instance with ulimit -n 1024')
    process.exitCode = 1
  }
} else {
  console.error('error[not-built]: this clone was not built yet\nTry: npm run build')
  process.exitCode = 1
}
