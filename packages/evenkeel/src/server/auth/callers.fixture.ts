/**
 * A listening server, and clients with certificates, tokens and headers, over HTTP/1.1 and HTTP/2.
 */
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import type { CertificateKeyPair } from '#wire'
import { startServer } from '../server.ts'
import type { Server, ServerOptions } from '../server-options.ts'
import { makeIdentity, type Identity } from './identity.ts'

interface Caller {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly client?: CertificateKeyPair
  readonly body?: unknown
  readonly session?: Buffer
}

export interface IdentityResponse {
  readonly status: number
  readonly text: string
  /** The authenticated user, in the response to a SelfSubjectReview. */
  readonly user: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Record<string, readonly string[]>
  }
  readonly message: string
}

export const whoAmI = {
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  method: 'POST',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
} as const

/** A server on loopback, with the identity it was started with. */
export class Listening {
  readonly identity: Identity
  readonly server: Server

  private constructor(server: Server, identity: Identity) {
    this.server = server
    this.identity = identity
  }

  static async start({ listen, ...options }: ServerOptions = {}): Promise<Listening> {
    const identity = listen?.identity ?? makeIdentity()
    return new Listening(await startServer({ ...options, listen: { ...listen, identity } }), identity)
  }

  get port(): number {
    return this.server.address?.port ?? 0
  }

  get #base(): { readonly ca: string; readonly host: string; readonly port: number } {
    return { ca: this.identity.authority.certificatePem, host: '127.0.0.1', port: this.port }
  }

  /** Sends a request over HTTP/1.1; by default a SelfSubjectReview. */
  async ask({ path, method, headers = {}, client, body, session }: Caller = whoAmI): Promise<
    IdentityResponse & { readonly session: Buffer | undefined; readonly isResumed: boolean }
  > {
    const sent = httpsRequest({
      ...this.#base,
      path,
      method: method ?? 'GET',
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      agent: false,
      ...(session && { session }),
      ...(client && { cert: client.certificatePem, key: client.keyPem }),
    })
    let [last, isResumed]: [Buffer | undefined, boolean] = [undefined, false]
    sent.on('socket', (socket) => {
      socket.on('session', (made: Buffer) => {
        last = made
      })
      socket.on('secureConnect', () => {
        isResumed = (socket as unknown as { isSessionReused(): boolean }).isSessionReused()
      })
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { readonly statusCode: number }]
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece)
    return { ...identityResponse(response.statusCode, Buffer.concat(pieces).toString()), session: last, isResumed }
  }

  /** Sends a SelfSubjectReview. */
  who(caller: Caller = {}): ReturnType<Listening['ask']> {
    return this.ask({ ...whoAmI, ...caller })
  }

  /** The same over HTTP/2. */
  async whoHttp2({ headers = {}, client }: Caller = {}): Promise<IdentityResponse> {
    const { ca, host, port } = this.#base
    const session = connectHttp2(`https://${host}:${port}`, {
      ca,
      ...(client && { cert: client.certificatePem, key: client.keyPem }),
    })
    const stream = session.request({
      ':path': whoAmI.path,
      ':method': 'POST',
      'content-type': 'application/json',
      ...headers,
    })
    let status = 0
    stream.on('response', (answer) => {
      status = answer[':status'] ?? 0
    })
    stream.end(JSON.stringify(whoAmI.body))
    const pieces: Buffer[] = []
    for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece)
    const closed = once(session, 'close')
    session.close()
    await closed
    return identityResponse(status, Buffer.concat(pieces).toString())
  }
}

function identityResponse(status: number, text: string): IdentityResponse {
  const { status: said, message = '' } = text.startsWith('{')
    ? (JSON.parse(text) as { status?: { userInfo?: IdentityResponse['user'] } | string; message?: string })
    : {}
  return { status, text, user: typeof said === 'object' ? (said.userInfo ?? {}) : {}, message }
}
