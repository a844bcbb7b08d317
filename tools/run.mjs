/**
 * Runs a TypeScript file from the sources: `node tools/run.mjs FILE [args...]`.
 *
 * The `source` condition makes `#layer` and `evenkeel/...` resolve to `src`, so no build is
 * needed. Node 22.18 and newer strip the types themselves; older versions use tsx.
 *
 * Signals are forwarded to the child and its exit code or signal is returned, so that a caller sees
 * no difference from running the file directly.
 */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The arguments of `node` before those of the program to run a TypeScript file from the sources. */
export function sourceArguments(file) {
  return ['--conditions=source', ...typeArguments(), resolve(file)]
}

/** Type stripping if Node supports it (without its warning), otherwise tsx. */
function typeArguments() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  if (strips) return ['--disable-warning=ExperimentalWarning']
  return ['--import', import.meta.resolve('tsx'), '--import', import.meta.resolve('./run-threads.mjs')]
}

/** Runs a program in the foreground and resolves with its end: `{ code, signal }`. */
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

/** Ctrl-C in a terminal reaches the child as well; forwarding would send it twice. */
export function sentByTerminal(signal) {
  return signal === 'SIGINT' && process.stdin.isTTY === true
}

/** Ends this process like the child ended. */
export function endAs({ code, signal }) {
  if (signal) process.kill(process.pid, signal)
  else process.exitCode = code ?? 1
}

/** Older versions of Node need the package tsx: reports that instead of a stack. */
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
