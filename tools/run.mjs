/**
 * Runs a TypeScript file from the sources: `node tools/run.mjs FILE [args...]`.
 *
 * The `source` condition makes `#layer` and `evenkeel/...` resolve to `src`, so no build is
 * needed. Node 22.18 and newer strip the types themselves; older ones do it through tsx.
 *
 * Signals go to the child and its exit code or signal comes back, so that a caller cannot
 * tell the difference from running the file itself.
 */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `node` needs before a program's own arguments to run a TypeScript file from the sources. */
export function sourceArguments(file) {
  return ['--conditions=source', ...typeArguments(), resolve(file)]
}

/** Type stripping where Node has it (its warning kept quiet), tsx where not. */
function typeArguments() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  if (strips) return ['--disable-warning=ExperimentalWarning']
  return ['--import', import.meta.resolve('tsx'), '--import', import.meta.resolve('./run-threads.mjs')]
}

/** Runs a program in the foreground and resolves with how it ended: `{ code, signal }`. */
export function runForeground(args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const forward = (signal) => {
    if (!sentByTerminal(signal)) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, forward)
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward)
      done({ code, signal })
    })
  })
}

/** A terminal's Ctrl-C reaches the child as well; passing it on would make it two. */
export function sentByTerminal(signal) {
  return signal === 'SIGINT' && process.stdin.isTTY === true
}

/** Ends this process the way the child ended. */
export function endAs({ code, signal }) {
  if (signal) process.kill(process.pid, signal)
  else process.exitCode = code ?? 1
}

/** Older Nodes need tsx, which is a package: say so instead of showing a stack. */
function canRun() {
  try {
    typeArguments()
    return true
  } catch {
    console.error('Error: packages are missing: run `node tools/ensure.mjs` first')
    return false
  }
}

async function main([file, ...args]) {
  if (!file) {
    console.error('Usage: node tools/run.mjs FILE [args...]')
    process.exitCode = 2
    return
  }
  if (canRun()) endAs(await runForeground([...sourceArguments(file), ...args]))
  else process.exitCode = 1
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.slice(2))
