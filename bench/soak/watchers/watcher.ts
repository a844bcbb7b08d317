/**
 * Watchers that record every event and resume whenever the server ends a watch.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from '../calls.ts'
import { LineLog } from './line-log.ts'
import { namespaceOf, plan, soakers, soakToken } from '../plan.ts'
import type { Ready } from '../server-process.ts'
import type { Tally } from '../tally.ts'

/** One received change: `REVISION NAMESPACE/NAME`, and ` deleted`. */
export type EventLine = string

export class Watcher {
  /** Empty for all namespaces. */
  readonly namespace: string
  /** Every later change must be received. */
  readonly from: number
  readonly #received = new LineLog()
  readonly #caller: Caller
  readonly #tally: Tally
  readonly #ending = new AbortController()
  #version: number
  #ended: Promise<void> | undefined
  #isListening = false

  constructor(caller: Caller, tally: Tally, { namespace, from }: { namespace: string; from: number }) {
    this.#caller = caller
    this.#tally = tally
    this.namespace = namespace
    this.from = this.#version = from
  }

  get received(): readonly EventLine[] {
    return this.#received.lines()
  }

  /** Whether the server has accepted the watch. */
  get isListening(): boolean {
    return this.#isListening
  }

  /** The version up to which everything was received, according to the server. */
  get version(): number {
    return this.#version
  }

  start(): void {
    this.#ended = this.#run()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        await this.#watch()
        this.#tally.count('watchesEnded')
      } catch (error) {
        if (this.#ending.signal.aborted) return
        this.#tally.error(`a watcher: ${String(error)}`)
        await sleep(500)
      }
    }
  }

  async #watch(): Promise<void> {
    const where = this.namespace === '' ? '' : `namespaces/${this.namespace}/`
    const seconds = 20 + Math.floor(Math.random() * 40)
    const response = await this.#caller.stream(
      `/api/v1/${where}configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${this.#version}`,
      this.#ending.signal,
    )
    if (response.statusCode !== 200) throw new Error(`a watch returned ${response.statusCode}`)
    this.#isListening = true
    let rest = ''
    for await (const piece of response.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#receive(line)
    }
  }

  #receive(line: string): void {
    const {
      type,
      object: { metadata, code },
    } = JSON.parse(line) as {
      type: string
      object: { code?: number; metadata: { resourceVersion: string; namespace?: string; name?: string } }
    }
    if (type === 'ERROR') throw new Error(`a watch ended with ${String(code)}`)
    this.#version = Number(metadata.resourceVersion)
    if (type !== 'BOOKMARK')
      this.#received.push(
        `${metadata.resourceVersion} ${metadata.namespace ?? ''}/${metadata.name ?? ''}${type === 'DELETED' ? ' deleted' : ''}`,
      )
  }
}

/** All watchers, watching from this version on. */
export function startWatchers(server: Ready, tally: Tally, from: number): Watcher[] {
  const callers = soakers.map(
    (user) => new Caller(server, { token: soakToken(user), sockets: Number.POSITIVE_INFINITY }),
  )
  const watchers = Array.from(
    { length: plan.watchers },
    (_, index) =>
      new Watcher(callers[index % callers.length] as Caller, tally, {
        namespace: index < plan.wideWatchers ? '' : namespaceOf(index),
        from,
      }),
  )
  for (const watcher of watchers) watcher.start()
  return watchers
}
