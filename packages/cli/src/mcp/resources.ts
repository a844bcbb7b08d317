/**
 * Objects as resources of the Model Context Protocol: their URIs, and subscriptions that watch one object each.
 *
 *     evenkeel://namespaces/default/lamps.test.dev/desk
 *     evenkeel://cluster/nodes/one
 */
import { stringifyJson, type JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import { sleep } from 'evenkeel/unstable/base'
import { Failure, failureOf } from '../failure.ts'
import { watchObjects } from '../object-watch.ts'
import { objectSummary } from './read-tools.ts'
import type { ObjectTarget, Scope } from './scope.ts'
import { bounded, dataNotice, visible } from './tool-result.ts'

export const resourceTemplates = [
  {
    name: 'namespaced object',
    uriTemplate: 'evenkeel://namespaces/{namespace}/{kind}/{name}',
    description: 'An object of a namespaced kind, as JSON, without managed fields',
    mimeType: 'application/json',
  },
  {
    name: 'cluster-scoped object',
    uriTemplate: 'evenkeel://cluster/{kind}/{name}',
    description: 'An object of a cluster-scoped kind, as JSON, without managed fields',
    mimeType: 'application/json',
  },
] as const

/** How many workloads are listed; others are read by their URI. */
const listedMax = 200

interface ListedResource {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}

/** The objects of the category `app`: those that a person wants to attach to a conversation. */
export async function listResources(scope: Scope, signal: AbortSignal): Promise<ListedResource[]> {
  const client = await scope.client()
  const kinds = (await scope.kinds(signal)).filter(
    ({ categories, verbs }) => categories.includes('app') && verbs.includes('list'),
  )
  const lists = await Promise.all(
    kinds.map(async (resource) => {
      const { apiVersion, kind } = resource
      const place = scope.limit === undefined ? {} : { namespace: scope.limit }
      const { items } = await client
        .page({ apiVersion, kind }, { ...place, pageSize: listedMax, signal })
        .catch((error: unknown) => {
          if (signal.aborted) throw error
          return { items: [] }
        })
      return items.map((item) => listedResource({ ...item, apiVersion, kind } as KubeObject, { resource, scope }))
    }),
  )
  return lists.flat().slice(0, listedMax)
}

function listedResource(
  object: KubeObject,
  { resource, scope }: Pick<ObjectTarget, 'resource'> & { readonly scope: Scope },
): ListedResource {
  const { name = '', namespace } = object.metadata
  const { state, why } = objectSummary(object, scope.clock.now()) as { state: string; why?: string }
  return {
    uri: uriOf({ resource, name, namespace }),
    name: `${resource.singular}/${name}`,
    description: String(visible(why === undefined ? state : `${state}: ${why}`)).slice(0, 200),
    mimeType: 'application/json',
  }
}

function uriOf({ resource: { plural, group }, name, namespace }: ObjectTarget): string {
  const place = namespace === undefined ? 'cluster' : `namespaces/${encodeURIComponent(namespace)}`
  return `evenkeel://${place}/${group === '' ? plural : `${plural}.${group}`}/${encodeURIComponent(name)}`
}

/** @throws {Failure} `usage`, `unknown-kind`, `not-allowed` */
async function targetOfUri(scope: Scope, uri: string): Promise<ObjectTarget> {
  const parts = /^evenkeel:\/\/(?:namespaces\/([^/]+)|cluster)\/([^/]+)\/([^/]+)$/.exec(uri)
  if (!parts)
    throw new Failure('usage', `${JSON.stringify(uri.slice(0, 200))} is not the URI of an object`, {
      hint: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    })
  const [namespace, kind = '', name = ''] = parts.slice(1).map((part) => part && decoded(part))
  const target = await scope.target(kind, name, { namespace })
  if (target.resource.namespaced === (namespace === undefined))
    throw new Failure(
      'usage',
      `${target.resource.kind} is ${namespace === undefined ? 'namespaced' : 'cluster-scoped'}`,
      {
        hint: uriOf(target),
      },
    )
  return target
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The object as JSON, bounded. The notice is a field, because a resource is one document. */
export async function readResource(
  scope: Scope,
  uri: string,
  { signal, bytesMax }: { readonly signal: AbortSignal; readonly bytesMax: number },
): Promise<string> {
  const object = scope.shown(await scope.read(await targetOfUri(scope, uri), signal))
  const document = bounded({ notice: dataNotice, object: visible(object) as JsonObject }, { bytesMax })
  return stringifyJson(document)
}

/** How many objects a client may watch at once. */
const subscriptionsMax = 50

/** The subscriptions of one client. */
export class Subscriptions {
  readonly #scope: Scope
  readonly #notify: (uri: string) => Promise<void>
  readonly #log: (text: string) => void
  readonly #open = new Map<string, AbortController>()

  constructor(
    scope: Scope,
    { notify, log }: { readonly notify: (uri: string) => Promise<void>; readonly log: (text: string) => void },
  ) {
    this.#scope = scope
    this.#notify = notify
    this.#log = log
  }

  /** Resolves when changes from now on are noticed. @throws {Failure} */
  async add(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#open.has(uri)) return
    if (this.#open.size >= subscriptionsMax)
      throw new Failure('refused', `there are ${subscriptionsMax} subscriptions already: end some of them first`)
    const target = await targetOfUri(this.#scope, uri)
    await this.#scope.read(target, signal)
    const stop = new AbortController()
    this.#open.set(uri, stop)
    await this.#watch(uri, target, stop.signal)
  }

  remove(uri: string): void {
    this.#open.get(uri)?.abort(new Error('the client unsubscribed'))
    this.#open.delete(uri)
  }

  /** Ends all. */
  close(): void {
    for (const uri of [...this.#open.keys()]) this.remove(uri)
  }

  /** Resolves with the first list; the watch goes on until the subscription ends. */
  #watch(uri: string, target: ObjectTarget, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let version: string | undefined
      let isListed = false
      const follow = async (): Promise<void> => {
        const changes = watchObjects(await this.#scope.client(), target.resource, {
          namespace: target.namespace,
          fieldSelector: `metadata.name=${target.name}`,
          signal,
          clock: this.#scope.clock,
        })
        for await (const change of changes) {
          const object = change.type === 'LISTED' ? change.objects[0] : change.object
          const isNew = change.type !== 'LISTED' || (isListed && object?.metadata.resourceVersion !== version)
          version = object?.metadata.resourceVersion
          isListed = true
          resolve()
          if (isNew) await this.#notify(uri)
        }
      }
      const repeat = async (): Promise<void> => {
        while (!signal.aborted) {
          try {
            await follow()
          } catch (error) {
            if (signal.aborted) return
            // The first error is the answer to the client; later the server may only be starting again.
            if (!isListed || failureOf(error)?.code !== 'no-server') throw error
            this.#scope.noteError(error)
            await sleep(this.#scope.clock, pauseMs, { signal }).catch(() => undefined)
          }
        }
      }
      repeat().then(resolve, (error: unknown) => {
        this.#open.delete(uri)
        this.#log(`the subscription of ${uri} ended: ${(error as Error).message}`)
        reject(error as Error)
      })
    })
  }
}

/** Before a watch that the connection broke begins again. */
const pauseMs = 5000
