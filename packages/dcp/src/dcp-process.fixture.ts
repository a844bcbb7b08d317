/**
 * The command `dcp` in a process of its own, from the sources, with a session folder.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const program = fileURLToPath(new URL('./main.fixture.ts', import.meta.url))

/** The program as one file: to compile the sources at each start would take seconds. */
async function buildProgram(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: program,
    platform: 'node',
    resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
    logLevel: 'silent',
  })
  const file = join(folder, 'dcp.mjs')
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  return file
}

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A session: a folder, and programs that are started in it. All of them have ended when `close` resolves. */
export class TestSession {
  readonly folder: string
  readonly #file: string
  readonly #started: ChildProcess[] = []

  private constructor(folder: string, file: string) {
    this.folder = folder
    this.#file = file
  }

  static async open(): Promise<TestSession> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
    await mkdir(join(folder, 'session'))
    return new TestSession(folder, await buildProgram(folder))
  }

  /** The folder that `dcp` removes. */
  get sessionFolder(): string {
    return join(this.folder, 'session')
  }

  get kubeconfig(): string {
    return join(this.sessionFolder, 'kubeconfig')
  }

  /** Runs `dcp` with these words until its end. */
  run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.start(words, env).ended
  }

  start(
    words: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
    const child = spawn(process.execPath, [this.#file, ...words], {
      cwd: this.folder,
      env: { ...process.env, DCP_SESSION_FOLDER: this.sessionFolder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#started.push(child)
    const said = { out: '', err: '' }
    child.stdout.on('data', (piece: Buffer) => (said.out += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (said.err += piece.toString()))
    return { child, ended: once(child, 'close').then(([code]) => ({ code: Number(code), ...said })) }
  }

  /** A process that a session is made to end with. */
  startHost(): ChildProcess {
    const host = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
    this.#started.push(host)
    return host
  }

  async close(): Promise<void> {
    for (const child of this.#started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    for (const child of this.#started)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Resolves when a file or folder is there, or no longer there. Its folder has to exist. */
export function untilThere(path: string, isWanted = true): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(dirname(path), (_, name) => {
      if (name === null || name === basename(path)) look()
    })
    const look = (): void => {
      access(path)
        .then(
          () => true,
          () => false,
        )
        .then((isThere) => {
          if (isThere !== isWanted) return
          watcher.close()
          resolve()
        })
        .catch(reject)
    }
    look()
  })
}
