/**
 * GET of a subresource over a WebSocket: `/apis/demo.example.com/v1/namespaces/shop/websites/web/exec?command=ls`.
 *
 * A handler of the embedding program gets the object, the options and the streams, and answers with an exit code. Query,
 * subprotocols and outcome are those of `pods/exec` in Kubernetes, so that its clients can be used.
 *
 *   get ──▶ authorize `get` and `create` ──▶ admit CONNECT ──▶ object ──▶ 101 ──▶ handler ──▶ Status ──▶ close
 *
 * Who runs commands changes something, although the method is GET: `create` on `PLURAL/exec` is needed as well, as
 * Kubernetes 1.35 has it for Pods. The handler begins when the 101 is sent. Until then a refusal is an answer of its own; later, a Status on the channel
 * `error`. A connection takes no seat and has no deadline, and counts as a watch. It ends when the handler returns, the
 * client leaves, or the server stops, also when the handler ignores its signal.
 */
import { ApiError, badRequest, isApiError, type JsonObject, type UnstructuredObject } from '#api'
import { anySignal, onAbort, type Clock, type Logger } from '#base'
import {
  channelProtocols,
  isWebSocketRequest,
  webSocketClosing,
  webSocketFields,
  webSocketProtocols,
  type ChannelProtocol,
  type Query,
  type WireResponse,
} from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { requireAllowed } from '../authz/authorize.ts'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import { getObject } from '../handlers/get.ts'
import { clientSignal, type RequestContext, type ResourceRef } from '../request-context.ts'
import { prepareConversions, toServed } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import {
  CommandConnection,
  type ConnectOptions,
  type ConnectRequest,
  type ConnectResult,
} from './command-connection.ts'
import type { CustomResources } from './custom-resources.ts'

/**
 * Serves one connection, from its beginning to its end.
 *
 * @throws {ApiError} what the client gets as a Status; any other error is an InternalError
 */
export type ConnectHandler = (object: UnstructuredObject, request: ConnectRequest) => Promise<ConnectResult>

interface ConnectServices {
  readonly storage: Storage
  readonly admission: Admission
  readonly authorizer: AuthorizerChain
  readonly flowControl: FlowControl
  readonly customResources: CustomResources
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export class ConnectSubresources {
  readonly #services: ConnectServices

  constructor(services: ConnectServices) {
    this.#services = services
  }

  /** @throws {ApiError} `Forbidden`, `NotFound`, `BadRequest` (no WebSocket), `TooManyRequests`. */
  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { customResources, storage, authorizer } = this.#services
    const { resource, subresource } = target
    const name = subresource?.name ?? ''
    const handler = customResources.find(resource)?.connects?.[name]
    if (!handler) throw new ApiError('NotFound', `${resource.kind} has no connection ${JSON.stringify(name)}`)
    if (context.verb === 'get') await requireAllowed({ ...context, verb: 'create' }, authorizer)
    const options = readConnectOptions(context.query)
    await this.#admit(context, target, options)
    const stored = await getObject(target, storage)
    await prepareConversions([stored], resource)
    const protocol = protocolOf(context, `${resource.plural}/${name}`)
    return this.#open(handler, { context, target, options, protocol, object: toServed(stored, resource) })
  }

  #admit(context: RequestContext, target: ResourceRef, options: ConnectOptions): Promise<unknown> {
    if (context.query.getAll('dryRun').some((value) => value !== '')) throw badRequest('dryRun is not supported')
    const { group = '', version = '', kind = '' } = target.subresource ?? {}
    return this.#services.admission.admitDocument(
      { apiVersion: `${group}/${version}`, kind, ...options } as JsonObject,
      { context, target, dryRun: false, options: null },
      { operation: 'CONNECT' },
    )
  }

  #open(handler: ConnectHandler, { context, target, options, protocol, object }: OpenConnection): WireResponse {
    const { flowControl, stopping, clock } = this.#services
    const uncount = flowControl.startWatch(context)
    const left = new AbortController()
    const connection = new CommandConnection({ ...options, protocol, clock })
    const stops = [
      onAbort(clientSignal(context.request), () => {
        connection.disconnect()
      }),
      onAbort(stopping, () => {
        connection.finish(new ApiError('ServiceUnavailable', 'the server is stopping: connect again'))
      }),
    ]
    connection.onEnd(() => {
      for (const stop of stops) stop()
      uncount()
      left.abort(new Error('the connection has ended'))
    })
    const request = connection.request({ user: context.user, signal: anySignal(left.signal, stopping), ...options })
    return {
      status: 101,
      headers: webSocketFields({ ...context.request.headers, 'sec-websocket-protocol': protocol }),
      body: connection.frames(() => {
        void this.#run(handler, { object, request, connection, target })
      }),
      isFinal: true,
      upgrade: {
        protocol: 'websocket',
        encode: (frame) => frame,
        receive: (bytes) => connection.receive(bytes),
        closing: webSocketClosing,
      },
    }
  }

  async #run(handler: ConnectHandler, { object, request, connection, target }: RunningConnection): Promise<void> {
    try {
      connection.finish(await handler(object, request))
    } catch (error) {
      if (!isApiError(error) && !request.signal.aborted) {
        const { resource, subresource, namespace, name } = target
        const fields = { kind: resource.kind, object: name, namespace, subresource: subresource?.name, error }
        this.#services.log.error('connection failed', fields)
      }
      connection.finish(error)
    }
  }
}

interface OpenConnection {
  readonly context: RequestContext
  readonly target: ResourceRef
  readonly options: ConnectOptions
  readonly protocol: ChannelProtocol
  readonly object: UnstructuredObject
}

interface RunningConnection {
  readonly object: UnstructuredObject
  readonly request: ConnectRequest
  readonly connection: CommandConnection
  readonly target: ResourceRef
}

function readConnectOptions(query: Query): ConnectOptions {
  const flag = (name: string, absent = false): boolean => {
    const value = query.get(name)
    return value === null ? absent : value === 'true' || value === '1'
  }
  const options = {
    command: query.getAll('command'),
    container: query.get('container') ?? '',
    stdin: flag('stdin'),
    stdout: flag('stdout', true),
    tty: flag('tty'),
  }
  // A terminal has one output.
  return { ...options, stderr: !options.tty && flag('stderr', true) }
}

/** @throws {ApiError} `BadRequest`, with what the client has to send. */
function protocolOf({ request: { headers, method } }: RequestContext, what: string): ChannelProtocol {
  if (method !== 'GET' || !isWebSocketRequest(headers))
    throw badRequest(`${what} needs a connection in both directions: use a WebSocket (GET with Upgrade: websocket)`)
  const offered = webSocketProtocols(headers)
  const chosen = channelProtocols.find((each) => offered.includes(each))
  if (chosen) return chosen
  throw badRequest(`${what} speaks ${channelProtocols.join(' and ')}: offer one of them in Sec-WebSocket-Protocol`)
}
