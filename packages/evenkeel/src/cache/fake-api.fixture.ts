/**
 * The fake collection behind a transport, so that a real client can be put in front of it.
 */
import { fromStatus, isApiError, matchesLabels, notFound, parseLabelSelector, toStatus, type KubeObject } from '#api'
import type { SimulatedClock } from '#base'
import { Client, type ClientOptions } from '#client'
import { FakeServer, type Widget } from './fake-server.fixture.ts'
import type { Item } from './items.ts'
import type { StreamEvent } from './list-watch.ts'

type Transport = ClientOptions['transport']
type Answer = Awaited<ReturnType<Transport>>

export class FakeApi {
  readonly server = new FakeServer()
  /** Whether the server has the kind. */
  isThere = true
  readonly requests: string[] = []

  client(clock: SimulatedClock, hooks: Partial<ClientOptions> = {}): Client {
    return new Client({ transport: this.transport, clock, retry: false, ...hooks })
  }

  readonly transport: Transport = async ({ method, target, signal, headers }) => {
    this.requests.push(`${method} ${target}`)
    const { pathname, searchParams } = new URL(target, 'http://fake')
    const [, namespace, name] =
      /^\/apis\/test\.dev\/v1(?:\/namespaces\/([^/]+))?\/widgets(?:\/(.+))?$/.exec(pathname) ?? []
    const select = selector(namespace, searchParams)
    try {
      if (!this.isThere) throw new Error('not served')
      if (name !== undefined) return json(this.#one(`${namespace}/${name}`))
      return searchParams.has('watch')
        ? await this.#watch(searchParams, {
            signal,
            select,
            isPartial: headers['accept']?.includes('as=Partial') === true,
          })
        : await this.#list(searchParams, { signal, select })
    } catch (error) {
      if (isApiError(error))
        return {
          status: error.code,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(toStatus(error))),
        }
      return { status: 404, headers: { 'content-type': 'text/plain' }, body: Buffer.from('404 page not found') }
    }
  }

  #one(key: string): KubeObject {
    const object = this.server.objects.get(key)
    if (!object) throw notFound({ group: 'test.dev', kind: 'widgets', name: key })
    return object
  }

  async #list(
    query: URLSearchParams,
    { signal, select }: { signal: AbortSignal; select: (object: KubeObject) => boolean },
  ): Promise<Answer> {
    const token = query.get('continue')
    const page = await this.server.list({
      signal,
      resourceVersion: query.get('resourceVersion') ?? '',
      ...(query.has('limit') && { limit: Number(query.get('limit')) }),
      ...(token !== null && { continue: token }),
    })
    const metadata = { resourceVersion: page.resourceVersion, ...(page.continue !== '' && { continue: page.continue }) }
    return json({
      apiVersion: 'test.dev/v1',
      kind: 'WidgetList',
      metadata,
      items: page.items.map(managed).filter(select),
    })
  }

  async #watch(
    query: URLSearchParams,
    { signal, select, isPartial }: { signal: AbortSignal; select: (object: KubeObject) => boolean; isPartial: boolean },
  ): Promise<Answer> {
    const batches = this.server.watch({
      signal,
      resourceVersion: query.get('resourceVersion') ?? '',
      sendInitialEvents: query.has('sendInitialEvents'),
      timeoutSeconds: 0,
    })
    await batches.next()
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: lines(batches, (object) => (select(object) ? (isPartial ? partial(object) : object) : undefined)),
    }
  }
}

async function* lines(
  batches: AsyncIterable<readonly StreamEvent<Widget>[]>,
  show: (object: KubeObject) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const batch of batches) {
      const text = batch.map((arrival) => lineOf(arrival, show)).join('')
      if (text !== '') yield Buffer.from(text)
    }
  } catch (error) {
    if (!isApiError(error)) throw error
    yield Buffer.from(`${JSON.stringify({ type: 'ERROR', object: toStatus(fromStatus(toStatus(error))) })}\n`)
  }
}

function lineOf(arrival: StreamEvent<Widget>, show: (object: KubeObject) => unknown): string {
  if (arrival.type === 'BOOKMARK') {
    const annotations = arrival.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
    return `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Widget', apiVersion: 'test.dev/v1', metadata: { resourceVersion: arrival.version, ...annotations } } })}\n`
  }
  const object = show(managed(arrival.item))
  return object === undefined ? '' : `${JSON.stringify({ type: arrival.type, object })}\n`
}

/** An object as servers send it, with fields that caches do not want. */
function managed({ object }: Item<Widget>): KubeObject {
  return {
    ...object,
    metadata: {
      managedFields: [{ manager: 'fake', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
      ...object.metadata,
    },
  }
}

function partial({ metadata }: KubeObject): KubeObject {
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }
}

function selector(namespace: string | undefined, query: URLSearchParams): (object: KubeObject) => boolean {
  const requirements = parseLabelSelector(query.get('labelSelector') ?? '')
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) && matchesLabels(requirements, metadata.labels)
}

function json(value: unknown): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) }
}
