/**
 * Polite clients: a process of its own that reads, writes and lists small objects, with pauses, and remembers what the
 * server promised. It answers an order `{ forMs }` with the times of its requests, and `verify` with what was lost.
 *
 * A time is what a user waits: from the request to the success, with a retry after a 429.
 */
import { Agent, request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { coreKinds, type AttackAddress, type AttackRequest } from './shape.ts'

export interface PoliteReport {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly slowestMs: number
  readonly retries: number
  readonly errors: number
  readonly firstError: string
}

const clients = 6
const pauseMs = 20
const patienceMs = 60_000
const address = JSON.parse(process.argv[2] ?? '{}') as AttackAddress

interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfter: number
}

class PoliteWorker {
  readonly #name: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, ca: address.caPem })
  #tried = 0
  #acknowledged = 0

  constructor(index: number) {
    this.#name = `polite-${index}`
  }

  async run(untilMs: number, tally: Tally): Promise<void> {
    const path = `${coreKinds}/configmaps`
    if (this.#tried === 0) await this.#timed(tally, { method: 'POST', path, body: this.#object() })
    while (performance.now() < untilMs) {
      await this.#timed(tally, { method: 'GET', path: `${path}/small` })
      const sequence = ++this.#tried
      const update = { method: 'PUT', path: `${path}/${this.#name}`, body: this.#object() }
      if (await this.#timed(tally, update)) this.#acknowledged = sequence
      await this.#timed(tally, { method: 'GET', path: `${path}?limit=100` })
    }
  }

  /** Whether the last acknowledged write is lost. */
  async isLost(): Promise<boolean> {
    const { body } = await this.#send({ method: 'GET', path: `${coreKinds}/configmaps/${this.#name}` })
    const { data } = JSON.parse(body) as { data?: { sequence?: string } }
    const found = Number(data?.sequence)
    return !(found >= this.#acknowledged && found <= this.#tried)
  }

  #object(): string {
    const metadata = { name: this.#name }
    return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { sequence: String(this.#tried) } })
  }

  /** False when it failed. */
  async #timed(tally: Tally, request: AttackRequest): Promise<boolean> {
    await sleep(pauseMs * (0.5 + Math.random()))
    const startMs = performance.now()
    for (;;) {
      const { status, retryAfter, body: text } = await this.#send(request)
      const waitedMs = performance.now() - startMs
      if (status >= 200 && status < 300) {
        tally.times.push(waitedMs)
        return true
      }
      if (status === 429 && waitedMs < patienceMs) {
        tally.retries++
        await sleep(retryAfter * 1000)
        continue
      }
      tally.times.push(waitedMs)
      tally.errors.push(`${request.method} ${request.path}: ${status} ${text.slice(0, 200)}`)
      return false
    }
  }

  #send({ method, path, body }: AttackRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const { port, tokens } = address
      const headers = { authorization: `Bearer ${tokens.polite}`, 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(patienceMs)
      const failed = (error: Error): void => {
        resolve({ status: 0, body: String(error), retryAfter: 0 })
      }
      const sent = httpsRequest({ host: '127.0.0.1', port, method, path, headers, agent: this.#agent, signal })
      sent.on('error', failed)
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('error', failed)
        response.on('data', (piece: string) => (text += piece))
        response.on('end', () => {
          const retryAfter = Number(response.headers['retry-after'] ?? 0)
          resolve({ status: response.statusCode ?? 0, body: text, retryAfter })
        })
      })
      sent.end(body)
    })
  }
}

interface Tally {
  readonly times: number[]
  readonly errors: string[]
  retries: number
}

const workers = Array.from({ length: clients }, (_, index) => new PoliteWorker(index))

async function work(forMs: number): Promise<PoliteReport> {
  const tally: Tally = { times: [], errors: [], retries: 0 }
  const untilMs = performance.now() + forMs
  await Promise.all(workers.map((worker) => worker.run(untilMs, tally)))
  const sorted = tally.times.sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    requests: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    slowestMs: at(1),
    retries: tally.retries,
    errors: tally.errors.length,
    firstError: tally.errors[0] ?? '',
  }
}

async function verify(): Promise<{ lost: number }> {
  const answers = await Promise.all(workers.map((worker) => worker.isLost()))
  return { lost: answers.filter(Boolean).length }
}

process.on('message', (order: { forMs: number } | 'verify') => {
  const answer = order === 'verify' ? verify() : work(order.forMs)
  void answer.then((message) => process.send?.(message))
})
process.on('disconnect', () => {
  process.exit(0)
})
