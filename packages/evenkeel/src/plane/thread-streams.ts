/**
 * Streams of the embedding program, served by a data plane in another thread.
 *
 *   server thread: StreamHandler  ──open──▶  program thread: the handler that the program declared
 *                  next piece     ──next──▶  its body, one piece at a time: the pace is that of the client
 *                  changes        ◀─change── the object after each change, when the handler asks for it
 *                  the client left ─close─▶  its signal aborts
 *
 * Connections (`exec`, `attach`) are not served so: a server in a thread has none of them.
 *
 * Invariants: every stream that was opened is closed; a piece is made when the one before was sent; bytes move to the other
 * thread and are not copied there.
 */
import { fromStatus, isApiError, toStatus, type Status, type UnstructuredObject } from '#api'
import { copyBytes, onAbort, Transfer, type PortCalls, type PortFunctions } from '#base'
import type { CustomResourceOptions, HandlerResponse, StreamHandler, StreamRequest } from '#server'

/** {@link CustomResourceOptions} as plain data: streams by name, and without connections, which stay in one thread. */
export interface ThreadCustomResource extends Omit<CustomResourceOptions, 'streams' | 'connects'> {
  readonly streamNames: readonly string[]
}

/** A request as it is sent to the program. */
interface ThreadStreamRequest extends Pick<StreamRequest, 'object' | 'headers' | 'user'> {
  /** Of this stream. */
  readonly id: number
  /** `group/kind/name` of the handler. */
  readonly handler: string
  readonly query: string
}

type ThreadStreamAnswer =
  | { readonly failure: Status }
  | (Pick<HandlerResponse, 'status' | 'headers'> & { readonly body?: string | Uint8Array | 'stream' })

const keyOf = ({ kind: { group, kind } }: Pick<CustomResourceOptions, 'kind'>, name: string): string =>
  `${group}/${kind}/${name}`

export function withoutHandlers(all: readonly CustomResourceOptions[]): readonly ThreadCustomResource[] {
  return all.map(({ kind: { group, kind }, streams = {}, connects: _, ...rules }) => ({
    ...rules,
    kind: { group, kind },
    streamNames: Object.keys(streams),
  }))
}

type Calls = Pick<PortCalls, 'call' | 'notify'>

interface ProgramStream {
  readonly ended: AbortController
  pieces?: AsyncIterator<Uint8Array>
}

/** The functions of the thread of the program. */
export function programStreams(all: readonly CustomResourceOptions[], calls: () => Calls): PortFunctions {
  const handlers = new Map(
    all.flatMap((one) =>
      Object.entries(one.streams ?? {}).map(([name, handler]) => [keyOf(one, name), handler] as const),
    ),
  )
  const streams = new Map<number, ProgramStream>()
  return {
    async streamOpen({ id, handler: key, query, ...request }: ThreadStreamRequest): Promise<ThreadStreamAnswer> {
      const stream: ProgramStream = { ended: new AbortController() }
      streams.set(id, stream)
      const handler = handlers.get(key)
      if (!handler) throw new Error(`no handler for the stream ${key}`)
      try {
        const { body, ...answer } = await handler({
          ...request,
          query: new URLSearchParams(query),
          signal: stream.ended.signal,
          changes: () => changesOf(id, stream, calls()),
        })
        if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
          streams.delete(id)
          return { ...answer, ...(body !== undefined && { body }) }
        }
        stream.pieces = body[Symbol.asyncIterator]()
        return { ...answer, body: 'stream' }
      } catch (error) {
        streams.delete(id)
        if (isApiError(error)) return { failure: toStatus(error) }
        throw error
      }
    },
    async streamNext(id: number): Promise<Transfer | undefined> {
      const next = await streams.get(id)?.pieces?.next()
      if (!next || next.done === true) return undefined
      const bytes = copyBytes(next.value)
      return new Transfer(bytes, [bytes])
    },
    streamClose(id: number): void {
      const stream = streams.get(id)
      streams.delete(id)
      stream?.ended.abort(new Error('the stream has ended'))
      stream?.pieces?.return?.().catch(() => undefined)
    },
  }
}

async function* changesOf(
  id: number,
  { ended }: ProgramStream,
  calls: Calls,
): AsyncGenerator<UnstructuredObject, void> {
  while (!ended.signal.aborted) {
    const object = await calls.call<UnstructuredObject | undefined>('streamChange', id)
    if (!object) return
    yield object
  }
}

interface ServerStreams {
  readonly customResources: readonly CustomResourceOptions[]
  readonly functions: PortFunctions
}

/** The handlers of the thread of the server, and its functions. */
export function serverStreams(all: readonly ThreadCustomResource[], calls: () => Calls): ServerStreams {
  const changes = new Map<number, AsyncIterator<UnstructuredObject>>()
  const requests = new Map<number, StreamRequest>()
  let lastId = 0
  const handlerOf =
    (key: string): StreamHandler =>
    async (request) => {
      const id = ++lastId
      requests.set(id, request)
      let stop = (): void => undefined
      const close = (): void => {
        stop()
        if (!requests.delete(id)) return
        changes
          .get(id)
          ?.return?.()
          .catch(() => undefined)
        changes.delete(id)
        calls().notify('streamClose', id)
      }
      stop = onAbort(request.signal, close)
      const { object, headers, user, query } = request
      const sent: ThreadStreamRequest = { id, handler: key, object, headers, user, query: query.toString() }
      const answer = await calls().call<ThreadStreamAnswer>('streamOpen', sent)
      if ('failure' in answer) {
        close()
        throw fromStatus(answer.failure)
      }
      return { ...answer, ...(answer.body === 'stream' && { body: piecesOf(id, calls(), close) }) }
    }
  return {
    customResources: all.map(({ streamNames, ...options }) => ({
      ...options,
      streams: Object.fromEntries(streamNames.map((name) => [name, handlerOf(keyOf(options, name))])),
    })),
    functions: {
      async streamChange(id: number): Promise<UnstructuredObject | undefined> {
        const request = requests.get(id)
        if (!request) return undefined
        const iterator = changes.get(id) ?? request.changes()[Symbol.asyncIterator]()
        changes.set(id, iterator)
        const next = await iterator.next()
        return next.done === true ? undefined : next.value
      },
    },
  }
}

async function* piecesOf(id: number, calls: Calls, close: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const piece = await calls.call<Uint8Array | undefined>('streamNext', id)
      if (!piece) return
      yield piece
    }
  } finally {
    close()
  }
}
