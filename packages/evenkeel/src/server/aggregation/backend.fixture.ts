/**
 * An aggregated API server over HTTPS on loopback for tests, and a server that knows it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SystemClock, SystemRandom } from '#base'
import { issueServerCertificate, makeAuthority } from '#wire'
import { makeFrontProxyIdentity } from '../auth/front-proxy-identity.ts'
import { TestServer } from '../client.fixture.ts'
import type { ServerOptions } from '../server-options.ts'

const made = { clock: new SystemClock(), random: new SystemRandom() }
const authority = makeAuthority(made)
const stranger = makeAuthority(made)
const certificate = issueServerCertificate(authority, { ...made, names: ['backend.default.svc'] })

/** The certificates of the proxy under test: real time, because TLS uses it. */
export const frontProxy = makeFrontProxyIdentity(made)
const caBundle = Buffer.from(authority.certificatePem).toString('base64')
export const strangersCaBundle = Buffer.from(stranger.certificatePem).toString('base64')

type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Accepts only clients with a certificate of the front proxy. */
export class BackendServer {
  /** Answers requests other than discovery. */
  serve: Serve = (_, response) => {
    response.end('{}')
  }
  /** Whether discovery is answered at all. */
  isAnswering = true
  /** The common names of the clients that sent a request. */
  readonly clients: string[] = []
  readonly server: Server
  #port = 0

  private constructor(server: Server) {
    this.server = server
  }

  static async start(): Promise<BackendServer> {
    const { keyPem: key, certificatePem: cert } = certificate
    const ca = frontProxy.authority.certificatePem
    const server = createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: true })
    const backend = new BackendServer(server)
    server.on('request', (request, response) => {
      backend.#receive(request, response)
    })
    await backend.listen()
    return backend
  }

  /** Listens again on the same port. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (this.server.address() as AddressInfo).port
  }

  get address(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.#port }
  }

  close(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve()
      })
    })
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.clients.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
    if (request.url === '/apis/example.com/v1') {
      if (this.isAnswering) response.setHeader('content-type', 'application/json').end(JSON.stringify(resourceList))
    } else if (request.headers['x-remote-user'] === 'system:kube-aggregator') response.writeHead(404).end()
    else this.serve(request, response)
  }
}

const resourceList = {
  kind: 'APIResourceList',
  groupVersion: 'example.com/v1',
  resources: [
    { name: 'foos', singularName: 'foo', namespaced: true, kind: 'Foo', verbs: ['get'], shortNames: ['f'] },
    { name: 'foos/status', singularName: '', namespaced: true, kind: 'Foo', verbs: ['get', 'patch'] },
  ],
}

/** A server that resolves the Service `default/backend` to a backend. */
export function startProxy({ address }: BackendServer, options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start({
    proxyClient: frontProxy.client,
    webhooks: {
      resolveService: ({ namespace, name }) => {
        if (namespace === 'default' && name === 'backend') return address
        throw new Error('unknown')
      },
    },
    ...options,
  })
}

const path = '/apis/apiregistration.k8s.io/v1/apiservices'

/** Creates the APIService of the backend. */
export async function register(server: TestServer, fields: Record<string, unknown> = { caBundle }): Promise<void> {
  const spec = {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 15,
    service: { namespace: 'default', name: 'backend' },
    ...fields,
  }
  const { status, text } = await server.ask('POST', path, { body: { metadata: { name: 'v1.example.com' }, spec } })
  if (status !== 201) throw new Error(text)
}

interface Condition {
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** The condition Available, once it has this reason. */
export async function condition(server: TestServer, reason: string): Promise<Condition> {
  const events = await server.watch(`${path}?watch=true&fieldSelector=metadata.name%3Dv1.example.com`)
  try {
    for (;;) {
      const event = (await events.next()) as unknown as { object: { status?: { conditions?: Condition[] } } }
      const found = event.object.status?.conditions?.find((one) => one.reason === reason)
      if (found) return found
    }
  } finally {
    await events.close()
  }
}
