/**
 * What the suite needs from a server: a way to send requests, and the known limits.
 *
 *   server ──place──▶ a fresh namespace for one case ──end──▶ everything that the case created is deleted
 *
 * Invariant: cases share nothing but the server, so they can run in parallel and in any order; only those that need
 * `compaction` run alone, because compaction affects every case.
 */
import { randomUuid, SystemRandom } from 'evenkeel/unstable/base'
import type { Case } from '../case.ts'
import type { Answer } from './answer.ts'
import { Client } from './client.ts'
import type { AskOptions, Send } from './client.ts'
import { collectionPath } from './samples.ts'
import type { ResourceName } from './samples.ts'
import type { WatchStream } from './watch-stream.ts'

/**
 * - `authentication`: requests with invalid credentials are rejected.
 * - `no-anonymous`: requests without credentials are rejected too.
 * - `compaction`: history can be compacted on demand.
 * - `still`: no controller acts on what the cases create.
 * - `callback`: the server can call this process over the loopback.
 * - `cbor`: the feature gate CBORServingAndStorage is on.
 * - `service-accounts`: pods need a service account and get a token: the admission plugin ServiceAccount.
 * - `storage-protection`: claims and volumes get finalizers: the admission plugin StorageObjectInUseProtection.
 * - `upgrade`: a connection can change to another protocol.
 * - `collector`: the controllers of a cluster run: garbage is collected, namespaces get their objects and are emptied.
 */
export type ServerNeed =
  | 'authentication'
  | 'no-anonymous'
  | 'compaction'
  | 'still'
  | 'callback'
  | 'cbor'
  | 'service-accounts'
  | 'storage-protection'
  | 'upgrade'
  | 'collector'

export type ServerCase = Case<Place, ServerNeed>

/** A server under test. */
export interface ServerTarget {
  readonly name: string
  /** What it cannot do, with the reason. */
  readonly lacks: Readonly<Partial<Record<ServerNeed, string>>>
  /** Cases with a deliberate difference, with the reason. */
  readonly differs?: Readonly<Record<string, string>>
  readonly send: Send
  /** Headers with full access. */
  readonly credentials: Readonly<Record<string, string>>
  /** Compacts all history up to now; present unless `lacks.compaction` says why not. */
  compact?(): Promise<void>
}

/** Where one case runs: a fresh namespace, and shorthand for requests. */
export class Place {
  readonly target: ServerTarget
  readonly namespace: string
  readonly client: Client
  /** The same server, without credentials. */
  readonly stranger: Client
  readonly #made: string[] = []

  constructor(target: ServerTarget, namespace: string) {
    this.target = target
    this.namespace = namespace
    this.client = new Client(target.send, { headers: target.credentials })
    this.stranger = new Client(target.send)
  }

  /** A unique name for a cluster-scoped object. */
  unique(suffix: string): string {
    return `${this.namespace}-${suffix}`
  }

  /** The path of a collection, an object (`name`) or a subresource (`name/status`). */
  path(resource: ResourceName, name?: string): string {
    const collection = collectionPath(resource, this.namespace)
    return name === undefined ? collection : `${collection}/${name}`
  }

  get(resource: ResourceName, name?: string, options?: AskOptions): Promise<Answer> {
    return this.client.request('GET', this.path(resource, name), options)
  }

  list(resource: ResourceName, query: NonNullable<AskOptions['query']> = {}, options?: AskOptions): Promise<Answer> {
    return this.client.request('GET', this.path(resource), { ...options, query })
  }

  async post(resource: ResourceName, body: unknown, options?: AskOptions): Promise<Answer> {
    const answer = await this.client.request('POST', this.path(resource), { ...options, body })
    this.#remember(answer, resource)
    return answer
  }

  async put(resource: ResourceName, name: string, { body, ...options }: AskOptions): Promise<Answer> {
    const answer = await this.client.request('PUT', this.path(resource, name), { ...options, body })
    this.#remember(answer, resource)
    return answer
  }

  /** A merge patch by default. */
  patch(resource: ResourceName, name: string, { type = patchTypes.merge, ...options }: AskOptions): Promise<Answer> {
    return this.client.request('PATCH', this.path(resource, name), { ...options, type })
  }

  delete(resource: ResourceName, name?: string, options?: AskOptions): Promise<Answer> {
    return this.client.request('DELETE', this.path(resource, name), options)
  }

  watch(
    resource: ResourceName,
    query: NonNullable<AskOptions['query']> = {},
    options?: AskOptions,
  ): Promise<WatchStream> {
    return this.client.watch(this.path(resource), { ...options, query })
  }

  /** Creates the namespace. */
  async begin(): Promise<void> {
    const answer = await this.post('namespaces', { metadata: { name: this.namespace } })
    if (answer.status !== 201) throw new Error(`cannot create the namespace: ${answer}`)
  }

  /** Ends the streams and deletes the namespace and the cluster-scoped objects of the case. */
  async end(): Promise<void> {
    this.client.close()
    this.stranger.close()
    for (const path of this.#made.splice(0).reverse()) await this.#remove(path)
  }

  /** Without a controller that empties namespaces, deletion would never finish: then the content is left behind. */
  async #remove(path: string): Promise<void> {
    await this.client.request('DELETE', path)
    const [, name] = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path) ?? []
    if (name === undefined || this.target.lacks.still !== undefined) return
    await this.client.request('PUT', `${path}/finalize`, { body: { metadata: { name }, spec: { finalizers: [] } } })
  }

  #remember(answer: Answer, resource: ResourceName): void {
    if (answer.status !== 201) return
    const collection = this.path(resource)
    if (!collection.includes('/namespaces/') && answer.text.startsWith('{'))
      this.#made.push(`${collection}/${answer.json.metadata.name}`)
  }
}

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

/** An apply is a patch that can create, and needs a field manager. */
export const applyType = 'application/apply-patch+yaml'

const random = new SystemRandom()

/** Runs a case in its own namespace and cleans up afterwards. */
export async function runCase({ run }: ServerCase, target: ServerTarget): Promise<void> {
  const place = new Place(target, `judge-${randomUuid(random).slice(0, 13)}`)
  try {
    await place.begin()
    await run(place)
  } finally {
    await place.end()
  }
}

/** Why a case is skipped: a missing capability or a deliberate difference; undefined when it can run. */
export function reasonToSkip(
  { id, needs = [] }: ServerCase,
  { lacks, differs = {} }: Pick<ServerTarget, 'lacks' | 'differs'>,
): string | undefined {
  return differs[id] ?? needs.map((need) => lacks[need]).find((reason) => reason !== undefined)
}
