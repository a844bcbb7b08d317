/**
 * Starts and stops the process under test and receives its reports.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** In bytes. */
export interface Memory {
  readonly rss: number
  readonly heapUsed: number
  /** The delay of the event loop in the last second, 99th percentile: every request waits that long. */
  readonly lateMs: number
}

/** A report. */
export type FromServer =
  | { readonly kind: 'ready'; readonly url: string; readonly token: string; readonly caPem: string }
  | ({ readonly kind: 'memory' | 'live' } & Memory)
  | { readonly kind: 'fault' | 'said'; readonly text: string }

export interface Ready {
  readonly url: string
  readonly token: string
  readonly caPem: string
}

/** A request. */
export type ToServer = 'live' | 'stop'

const readyMsMax = 60_000

export class ServerProcess {
  /** Once a second. */
  readonly memory: Memory[] = []
  /** Log lines that should never occur. */
  readonly faults: string[] = []
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #isStopping = false
  #onLive: ((memory: Memory) => void) | undefined

  constructor(folder: string) {
    // It runs from the sources as we do, with the same flags.
    this.#child = fork(fileURLToPath(new URL('serve.ts', import.meta.url)), [folder], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#exited = once(this.#child, 'exit').then(([code]) => {
      if (!this.#isStopping || code !== 0) this.faults.push(`the server ended with ${String(code)}`)
    })
  }

  async ready(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      const tooLate = setTimeout(() => {
        reject(new Error('the server did not start'))
      }, readyMsMax)
      void this.#exited.then(() => {
        reject(new Error('the server ended before it was ready'))
      })
      this.#child.on('message', (message: FromServer) => {
        if (message.kind === 'memory') this.memory.push(message)
        else if (message.kind === 'live') this.#onLive?.(message)
        else if (message.kind === 'fault') this.faults.push(message.text)
        else if (message.kind === 'ready') {
          clearTimeout(tooLate)
          resolve(message)
        }
      })
    })
  }

  /** Its memory after a full garbage collection. */
  async live(): Promise<Memory> {
    const memory = new Promise<Memory>((resolve, reject) => {
      this.#onLive = resolve
      void this.#exited.then(() => {
        reject(new Error('the server ended'))
      })
    })
    this.#send('live')
    return memory
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#child.exitCode === null && this.#child.connected) this.#send('stop')
    await this.#exited
  }

  #send(message: ToServer): void {
    this.#child.send(message)
  }
}
