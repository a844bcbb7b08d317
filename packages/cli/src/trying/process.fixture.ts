/**
 * The command as a process of its own, from the sources, in a folder of its own.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Said } from './cli.fixture.ts'

const [runner, program] = ['../../../../tools/run.mjs', './start.fixture.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

interface Started {
  readonly child: ChildProcess
  /** Resolves with the text once it matches. */
  until(pattern: RegExp): Promise<string>
  /** Resolves when it ended. */
  readonly ended: Promise<Said>
}

/** Temporary files go into the folder too, so that it can be seen what is left of them. */
export function startProcess(words: readonly string[], folder: string): Started {
  const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: _host, NO_COLOR: _color, ...env } = process.env
  const child = spawn(process.execPath, [runner ?? '', program ?? '', ...words], {
    cwd: folder,
    env: { ...env, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (piece: Buffer) => {
    said.out += piece.toString()
  })
  child.stderr.on('data', (piece: Buffer) => {
    said.err += piece.toString()
  })
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), ...said }))
  return {
    child,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(said.out)) resolve(said.out)
        }
        child.stdout.on('data', look)
        look()
        void ended.then(({ code }) => {
          reject(new Error(`it ended with ${code}: ${said.out}${said.err}`))
        })
      }),
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
