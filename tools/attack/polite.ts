/**
 * A polite client: one small GET at a time on its own connection, with a pause in between. It records its slowest answer.
 */
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackAddress } from './shape.ts'

const pauseMs = 25
const path = '/api/v1/namespaces/default/configmaps/small'

export class PoliteClient {
  readonly #address: AttackAddress
  readonly #agent: Agent
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #startMs: number | undefined
  #slowestMs = 0

  constructor(address: AttackAddress) {
    this.#address = address
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, ca: address.caPem })
    this.#ended = this.#run()
  }

  /** The slowest answer since the last call, counting a request that still waits. */
  takeSlowestMs(): number {
    const now = performance.now()
    const slowest = Math.max(this.#slowestMs, this.#startMs === undefined ? 0 : now - this.#startMs)
    this.#slowestMs = 0
    if (this.#startMs !== undefined) this.#startMs = now
    return slowest
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#agent.destroy()
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#startMs = performance.now()
      await this.#get().catch(() => undefined)
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - this.#startMs)
      this.#startMs = undefined
      await sleep(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  #get(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { port, tokens } = this.#address
      const headers = { authorization: `Bearer ${tokens.polite}`, accept: 'application/json' }
      const options = { host: '127.0.0.1', port, path, headers, agent: this.#agent, signal: this.#stop.signal }
      request(options, (response) => {
        response.on('error', reject).on('end', resolve).resume()
      })
        .on('error', reject)
        .end()
    })
  }
}
