/**
 * Clients that create, read, change, list and delete their own ConfigMaps, each over one connection, at a slow pace.
 *
 * Some objects have a label that makes the server call a webhook, which may deny, fail or be slow. Then other responses
 * are correct too, and the duration says nothing about the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from './calls.ts'
import type { Answer } from './calls.ts'
import { namespaceOf, plan, soakers, soakToken } from './plan.ts'
import type { Ready } from './server-process.ts'
import type { Tally } from './tally.ts'

const text = 'x'.repeat(800)
const methods = { change: 'PATCH', get: 'GET', list: 'GET', delete: 'DELETE' } as const

/** Runs until the time is up. */
export async function runClients(server: Ready, tally: Tally): Promise<void> {
  await Promise.all(Array.from({ length: plan.clients }, (_, index) => new SoakClient(server, tally, index).run()))
}

class SoakClient {
  readonly #caller: Caller
  readonly #tally: Tally
  readonly #index: number
  readonly #path: string
  readonly #objects: string[] = []
  #made = 0

  constructor(server: Ready, tally: Tally, index: number) {
    this.#caller = new Caller(server, { token: soakToken(soakers[index % soakers.length] ?? ''), sockets: 1 })
    this.#tally = tally
    this.#index = index
    this.#path = `/api/v1/namespaces/${namespaceOf(index)}/configmaps`
  }

  async run(): Promise<void> {
    while (!this.#tally.isOver) {
      try {
        await this.#turn()
      } catch (error) {
        this.#tally.error(`a client: ${String(error)}`)
      }
      await sleep(plan.pauseMs * (0.5 + Math.random()))
    }
    this.#caller.close()
  }

  async #turn(): Promise<void> {
    this.#tally.count('requests')
    const chance = Math.random()
    const [name] = this.#objects
    if (name === undefined || (chance < 0.3 && this.#objects.length < plan.objectsMax)) return this.#create()
    if (chance < 0.6)
      return this.#plain('change', `${this.#path}/${this.#any()}`, { data: { text, changed: String(Math.random()) } })
    if (chance < 0.8) return this.#plain('get', `${this.#path}/${this.#any()}`)
    if (chance < 0.82) return this.#plain('list', `${this.#path}?limit=100`)
    this.#objects.shift()
    return this.#plain('delete', `${this.#path}/${name}`)
  }

  async #create(): Promise<void> {
    const name = `c${this.#index}-${this.#made++}`
    const hooked = Math.random() < 0.1 ? (Math.random() < 0.5 ? 'ignore' : 'fail') : undefined
    const send = (): Promise<Answer> =>
      this.#caller.call('POST', this.#path, {
        body: { metadata: { name, ...(hooked !== undefined && { labels: { hooked } }) }, data: { text } },
      })
    const { status, json } = hooked === undefined ? await this.#tally.time('create', send) : await send()
    if (status === 201) this.#objects.push(name)
    else if (hooked === undefined || ![400, 403, 500, 504].includes(status))
      this.#tally.error(`POST ${this.#path} returned ${status}: ${JSON.stringify(json)}`)
    else this.#tally.count('refusedByWebhook')
  }

  async #plain(kind: keyof typeof methods, path: string, body?: unknown): Promise<void> {
    const method = methods[kind]
    const options = body === undefined ? {} : { body, type: 'application/merge-patch+json' }
    const { status, json } = await this.#tally.time(kind, () => this.#caller.call(method, path, options))
    if (status !== 200) this.#tally.error(`${method} ${path} returned ${status}: ${JSON.stringify(json)}`)
  }

  #any(): string {
    return this.#objects[Math.floor(Math.random() * this.#objects.length)] ?? ''
  }
}
