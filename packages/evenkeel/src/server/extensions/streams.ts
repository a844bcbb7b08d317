/**
 * GET of a subresource that streams: `/apis/demo.example.com/v1/namespaces/shop/websites/web/log`.
 *
 * A handler of the embedding program gets the object and the query, and answers with a stream. Until it answers, an error
 * is a Status of its own; the status line is sent with the first answer. Such a request counts as a watch: it takes no
 * seat and has no deadline, and ends when the handler ends it, the client leaves, or the server stops.
 */
import { ApiError, isApiError, methodNotAllowed, type UnstructuredObject } from '#api'
import { abortable, anySignal, onAbort, type Logger } from '#base'
import type { Watch } from '#store'
import type { WireResponse } from '#wire'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import { getObject } from '../handlers/get.ts'
import { clientSignal, type RequestContext, type ResourceRef, type User } from '../request-context.ts'
import { prepareConversions, toServed } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { CustomResources } from './custom-resources.ts'
import { toWireResponse, type HandlerResponse } from './handler-response.ts'

/** A request for a stream of an object. */
export interface StreamRequest {
  /** The object, in the requested version. */
  readonly object: UnstructuredObject
  /** The parameters of the request. */
  readonly query: URLSearchParams
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly user: User
  /** Aborts when the client leaves and when the server stops. */
  readonly signal: AbortSignal
  /**
   * The object after each later change, the newest state only when the reader is slow. It ends when the object is
   * deleted or replaced by another one of its name, and when the signal aborts.
   */
  changes(): AsyncIterable<UnstructuredObject>
}

/**
 * Answers a GET of a subresource with a stream.
 *
 * @throws {ApiError} what the client gets as a Status; any other error is an InternalError
 */
export type StreamHandler = (request: StreamRequest) => HandlerResponse | Promise<HandlerResponse>

interface StreamServices {
  readonly storage: Storage
  readonly flowControl: FlowControl
  readonly customResources: CustomResources
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export class StreamSubresources {
  readonly #services: StreamServices

  constructor(services: StreamServices) {
    this.#services = services
  }

  /** @throws {ApiError} `NotFound`, `MethodNotAllowed` (HEAD), `TooManyRequests`, what the handler throws. */
  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { flowControl, customResources, stopping } = this.#services
    const { resource, subresource } = target
    const name = subresource?.name ?? ''
    const handler = customResources.find(resource)?.streams?.[name]
    if (!handler) throw new ApiError('NotFound', `${resource.kind} has no stream ${JSON.stringify(name)}`)
    if (context.request.method === 'HEAD')
      throw methodNotAllowed({ group: resource.group, kind: `${resource.plural}/${name}` }, 'head')
    const ended = new AbortController()
    const uncount = flowControl.startWatch(context)
    const end = (): void => {
      uncount()
      // A handler that still watches its object must not go on after its answer.
      ended.abort(new Error('the stream has ended'))
    }
    const stop = onAbort(clientSignal(context.request), end)
    try {
      return await this.#answer(handler, { context, target, ended: ended.signal, onEnd: () => (stop(), end()) })
    } catch (error) {
      stop()
      end()
      throw stopping.aborted && !isApiError(error)
        ? new ApiError('ServiceUnavailable', 'the server is stopping: send the request again')
        : error
    }
  }

  async #answer(handler: StreamHandler, { context, target, ended, onEnd }: OpenStream): Promise<WireResponse> {
    const { storage, stopping, log } = this.#services
    const { resource, subresource, name } = target
    const stored = await getObject(target, storage)
    await prepareConversions([stored], resource)
    const signal = anySignal(ended, stopping)
    const answer = await abortable(
      Promise.resolve(
        handler({
          object: toServed(stored, resource),
          query: queryOf(context),
          headers: context.request.headers,
          user: context.user,
          signal,
          changes: () => changesOf(stored, { storage, target, signal }),
        }),
      ),
      { signal },
    )
    return toWireResponse(answer, {
      info: context,
      signal,
      onEnd,
      onFailure: (error) => {
        log.error('stream failed', {
          kind: resource.kind,
          object: name,
          namespace: target.namespace,
          subresource: subresource?.name,
          error,
        })
      },
    })
  }
}

interface OpenStream {
  readonly context: RequestContext
  readonly target: ResourceRef
  /** Aborts when nothing more is sent. */
  readonly ended: AbortSignal
  readonly onEnd: () => void
}

/** The parameters of a request, as the platform has them. */
export function queryOf({ request: { target } }: Pick<RequestContext, 'request'>): URLSearchParams {
  const at = target.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : target.slice(at + 1))
}

interface ChangesOptions {
  readonly storage: Storage
  readonly target: ResourceRef
  readonly signal: AbortSignal
}

/** A reader that falls behind reads the object again: it misses states, never the newest one. */
async function* changesOf(first: StoredObject, options: ChangesOptions): AsyncGenerator<UnstructuredObject, void> {
  const { storage, target, signal } = options
  const followed = { ...options, key: storage.keyOf(target, target.name), uid: first.metadataField('uid') }
  let seen = first.revision
  while (!signal.aborted) {
    const watch = storage.store.watch(followed.key, { after: seen, signal })
    const isGone = yield* statesOf(watch, followed)
    if (isGone || watch.end?.reason === 'closed') return
    if (watch.end?.reason === 'failed') throw watch.end.cause
    const now = await storage.get(target.name, target)
    const object = await servedState(now, followed)
    if (!now || !object) return
    seen = now.revision
    yield object
  }
}

interface FollowedObject extends ChangesOptions {
  readonly key: string
  readonly uid: string | undefined
}

/** The states of an object in a watch; returns whether it is gone, or its reader is. */
async function* statesOf(watch: Watch, followed: FollowedObject): AsyncGenerator<UnstructuredObject, boolean> {
  try {
    for await (const { changes } of watch) {
      const last = changes.findLast(({ key }) => key === followed.key)
      if (!last) continue
      const object = await servedState(last.entry && new StoredObject(last.entry.value, last.entry.revision), followed)
      if (!object) return true
      yield object
    }
    return false
  } catch (error) {
    if (followed.signal.aborted) return true
    throw error
  } finally {
    watch.close()
  }
}

/** The object in its served version; undefined when it is gone, or another one has its name. */
async function servedState(
  stored: StoredObject | undefined,
  { target: { resource }, uid }: FollowedObject,
): Promise<UnstructuredObject | undefined> {
  if (!stored || stored.metadataField('uid') !== uid) return undefined
  await prepareConversions([stored], resource)
  return toServed(stored, resource)
}
