/**
 * Processes of this machine. They end with this program.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { ChannelEvent } from 'evenkeel/controller'
import { sleep, SystemClock } from 'evenkeel/unstable/base'
import type { Processes, RunningProcess } from './kinds.ts'

interface Held extends RunningProcess {
  readonly child: ChildProcess
}

/** A process that ends sooner is not restarted at once. */
const soonMs = 1000
/** How long a process may take to stop gracefully. */
const graceMs = 3000

export class RealProcesses implements Processes {
  readonly #clock = new SystemClock()
  readonly #held = new Map<string, Held>()
  #onExit: (uid: string) => void = () => undefined

  /** Called when a process exits. */
  onExit(call: (uid: string) => void): void {
    this.#onExit = call
  }

  async ensureRunning(uid: string, command: string, config: Readonly<Record<string, string>>): Promise<RunningProcess> {
    const held = this.#held.get(uid)
    if (held && held.command === command && JSON.stringify(held.config) === JSON.stringify(config)) return held
    await this.ensureStopped(uid)
    const child = spawn(command, { shell: true, stdio: 'ignore', detached: true, env: { ...process.env, ...config } })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    const running: Held = { pid: child.pid ?? 0, command, config, child }
    this.#held.set(uid, running)
    const startedAtMs = this.#clock.monotonic()
    child.once('exit', () => {
      if (this.#held.get(uid) !== running) return
      this.#held.delete(uid)
      if (this.#clock.monotonic() - startedAtMs >= soonMs) this.#onExit(uid)
      else
        void sleep(this.#clock, soonMs).then(() => {
          this.#onExit(uid)
        })
    })
    return running
  }

  async ensureStopped(uid: string): Promise<void> {
    const held = this.#held.get(uid)
    if (!held) return
    this.#held.delete(uid)
    const over = new AbortController()
    const gone = new Promise<void>((resolve) => {
      held.child.once('exit', () => {
        resolve()
      })
    }).finally(() => {
      over.abort()
    })
    if (!signalAll(held, 'SIGTERM')) return
    await Promise.race([gone, sleep(this.#clock, graceMs, { signal: over.signal }).catch(() => undefined)])
    if (!over.signal.aborted) signalAll(held, 'SIGKILL')
    await gone
  }

  getProcess(uid: string): Promise<RunningProcess | undefined> {
    return Promise.resolve(this.#held.get(uid))
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((uid) => this.ensureStopped(uid)))
  }
}

/** Signals the process group; false when no process is left. */
function signalAll({ pid }: Held, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Exits of processes as a channel, for a source of the controller. */
export class Exits {
  readonly #waiting: ChannelEvent[] = []
  #wake: () => void = () => undefined

  push(event: ChannelEvent): void {
    this.#waiting.push(event)
    this.#wake()
  }

  async *events(signal: AbortSignal): AsyncGenerator<ChannelEvent> {
    signal.addEventListener(
      'abort',
      () => {
        this.#wake()
      },
      { once: true },
    )
    while (!signal.aborted) {
      const next = this.#waiting.shift()
      if (next) yield next
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}
