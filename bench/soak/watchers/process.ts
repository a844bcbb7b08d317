/**
 * The parent side of the process of the watchers: one request at a time, one response each.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Verdict } from './judge.ts'
import type { Ready } from '../server-process.ts'

/** A request. */
export type ToWatchers =
  | { readonly kind: 'watch'; readonly server: Ready; readonly from: number }
  | { readonly kind: 'end'; readonly until: number }
  | { readonly kind: 'judge'; readonly until: number; readonly historyFile: string }

/** A response. */
export type FromWatchers =
  | { readonly kind: 'watching' }
  | ({ readonly kind: 'ended' } & WatchersEnd)
  | { readonly kind: 'judged'; readonly verdict: Verdict }
  | { readonly kind: 'failed'; readonly text: string }

export interface WatchersEnd {
  readonly watchesEnded: number
  readonly errors: number
  /** The first few errors. */
  readonly examples: readonly string[]
}

export class WatchersProcess {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('main.ts', import.meta.url)), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  readonly #exited = once(this.#child, 'exit')

  /** Resolves when all watchers watch, from this version on. */
  async watch(server: Ready, from: number): Promise<void> {
    await this.#ask({ kind: 'watch', server, from }, 'watching')
  }

  /** Waits until all watchers have received every event up to this version, and stops the watches. */
  async end(until: number): Promise<WatchersEnd> {
    return this.#ask({ kind: 'end', until }, 'ended')
  }

  /** Compares the received events with the history of the server. */
  async judge(historyFile: string, until: number): Promise<Verdict> {
    const { verdict } = await this.#ask({ kind: 'judge', until, historyFile }, 'judged')
    return verdict
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.#exited
  }

  async #ask<K extends FromWatchers['kind']>(
    message: ToWatchers,
    kind: K,
  ): Promise<Extract<FromWatchers, { kind: K }>> {
    const answered = new Promise<FromWatchers>((resolve) => {
      this.#child.once('message', resolve)
    })
    const ended = this.#exited.then(([code]): FromWatchers => ({
      kind: 'failed',
      text: `their process ended with ${String(code)}`,
    }))
    this.#child.send(message)
    const answer = await Promise.race([answered, ended])
    if (answer.kind === kind) return answer as Extract<FromWatchers, { kind: K }>
    throw new Error(`the watchers: ${answer.kind === 'failed' ? answer.text : `answered ${answer.kind}`}`)
  }
}
