/**
 * `evenkeel up --watch`: keeps the server and starts the program again when a file of the project changes.
 *
 *   this process: server, file watcher ──▶ child process: evenkeel up MODULE ..., on that server
 *
 * A module cannot be loaded twice in one process, so the program has its own. Objects, addresses and the kubeconfig stay.
 *
 * Invariants: one child runs at a time; a change while it stops starts it once more, not twice; a program that does not
 * load is reported and waits for the next change.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, watch, type FSWatcher } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { onAbort, SystemClock } from 'evenkeel/unstable/base'
import type { Invocation } from './command.ts'
import { Failure } from './failure.ts'
import { portOf } from './commands/serve.ts'

/** Editors write a file in several steps. */
const settleMs = 100
/** A program that does not stop is killed after this. */
const graceMs = 10_000

const variable = 'EVENKEEL_SUPERVISED'

/** What the child knows of the server. */
interface Supervised {
  readonly kubeconfig: string
}

/** The server of the supervisor that started this process; undefined without one. */
export function supervisedBy(env: Invocation['io']['env']): Supervised | undefined {
  const text = env[variable]
  return text === undefined ? undefined : (JSON.parse(text) as Supervised)
}

/** Tells the supervisor the address of a manager. */
export function reportManager(name: string, url: string): void {
  process.send?.({ manager: { name, url } })
}

/** Runs until the signal aborts. */
export async function superviseProgram(call: Invocation): Promise<number> {
  const { values, io, words } = call
  const missing = words.find((file) => !existsSync(resolve(io.cwd, file)))
  if (missing !== undefined) throw new Failure('bad-file', `file ${resolve(io.cwd, missing)} does not exist`)
  if (values.flag('cluster')) return new Supervisor(call, undefined).run()
  const { openDataPlane } = await import('evenkeel/server')
  const { ManagerFile } = await import('evenkeel/unstable/plane')
  const opened = await openDataPlane({
    folder: resolve(io.cwd, values.text('data') ?? 'data'),
    memory: values.flag('memory'),
    port: portOf(values.text('port') ?? '6443'),
  })
  const managers = new ManagerFile(opened.folder)
  try {
    return await new Supervisor(call, { kubeconfig: opened.kubeconfig, folder: opened.folder, managers }).run()
  } finally {
    await managers.remove()
    await opened.stop()
  }
}

interface OwnServer extends Supervised {
  readonly folder: string
  readonly managers: { add(name: string, url: string): Promise<void> }
}

class Supervisor {
  readonly #call: Invocation
  readonly #server: OwnServer | undefined
  readonly #clock = new SystemClock()
  /** Resolved by the next change. */
  #changed = new Change()

  constructor(call: Invocation, server: OwnServer | undefined) {
    this.#call = call
    this.#server = server
  }

  async run(): Promise<number> {
    const { signal } = this.#call.io
    const watchers = this.#watch()
    try {
      while (!signal.aborted) {
        this.#changed = new Change()
        await this.#runOnce()
      }
    } finally {
      for (const watcher of watchers) watcher.close()
    }
    return 0
  }

  /** One life of the program: until a change, or until the end of this command. */
  async #runOnce(): Promise<void> {
    const { signal, stderr, stdout } = this.#call.io
    const child = this.#start()
    const ended = once(child, 'close') as Promise<[number | null]>
    const over = new Change()
    const stop = onAbort(signal, () => {
      over.resolve('')
    })
    const first = await Promise.race([ended, this.#changed.path, over.path])
    if (Array.isArray(first)) {
      stderr.write(
        `The program ended${first[0] === 0 ? '' : ` with code ${String(first[0])}`}. Waiting for a change of its files.\n`,
      )
      const path = await Promise.race([this.#changed.path, over.path])
      if (path !== '') stdout.write(`${path} changed: starting the program.\n`)
    } else {
      if (first !== '') stdout.write(`${first} changed: starting the program again.\n`)
      await this.#stop(child, ended)
    }
    stop()
  }

  #start(): ChildProcess {
    const { io } = this.#call
    const [, program = ''] = process.argv
    const given = process.argv.slice(2).filter((word) => word !== '--watch')
    const server = this.#server && { [variable]: JSON.stringify({ kubeconfig: this.#server.kubeconfig }) }
    const child = spawn(process.execPath, [...process.execArgv, program, ...given], {
      cwd: io.cwd,
      env: { ...io.env, ...server },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    child.on('message', (message: { readonly manager?: { readonly name: string; readonly url: string } }) => {
      if (message.manager) this.#server?.managers.add(message.manager.name, message.manager.url).catch(() => undefined)
    })
    child.on('error', () => undefined)
    return child
  }

  async #stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
    child.kill('SIGTERM')
    const cancel = this.#clock.after(graceMs, () => {
      child.kill('SIGKILL')
    })
    await ended
    cancel()
  }

  /** Watches the projects of all modules. */
  #watch(): readonly FSWatcher[] {
    const { words, io } = this.#call
    const roots = new Set(words.map((file) => projectOf(resolve(io.cwd, file))))
    let cancel: (() => void) | undefined
    return [...roots].map((root) =>
      watch(root, { recursive: true }, (_event, name) => {
        if (name === null || !this.#isSource(resolve(root, name), root)) return
        cancel?.()
        cancel = this.#clock.after(settleMs, () => {
          this.#changed.resolve(relative(io.cwd, resolve(root, name)))
        })
      }),
    )
  }

  #isSource(path: string, root: string): boolean {
    const parts = relative(root, path).split(sep)
    if (parts.some((part) => part.startsWith('.') || part === 'node_modules')) return false
    if (this.#server && path.startsWith(`${this.#server.folder}${sep}`)) return false
    return /\.(?:[cm]?[jt]sx?|json)$/.test(path)
  }
}

/** The nearest folder with a package.json, or the folder of the file. */
function projectOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(resolve(folder, 'package.json'))) return folder
    if (folder === dirname(folder)) return dirname(file)
  }
}

/** A change that is awaited: the path of the file. */
class Change {
  readonly path: Promise<string>
  resolve: (path: string) => void = () => undefined

  constructor() {
    this.path = new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}
