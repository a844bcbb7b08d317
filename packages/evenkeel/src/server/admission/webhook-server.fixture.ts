/**
 * A webhook over HTTPS on loopback for tests: records requests and answers them by path.
 */
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '#api'
import { SystemClock, SystemRandom } from '#base'
import { issueServerCertificate, makeAuthority } from '#wire'

/** Loosely typed JSON for assertions. */
interface Loose {
  readonly [key: string]: Loose
}

interface AskedReview {
  readonly path: string
  readonly target: string
  readonly review: Loose
  readonly request: Loose
}

/** The `response` of a review without its uid; or any bytes for the wire. */
export type Respond = (
  asked: AskedReview,
  response: ServerResponse,
) => JsonObject | undefined | Promise<JsonObject | undefined>

const made = { clock: new SystemClock(), random: new SystemRandom() }
const authority = makeAuthority(made)

export class WebhookServer {
  readonly asked: AskedReview[] = []
  readonly caBundle = Buffer.from(authority.certificatePem).toString('base64')
  /** By path without the slash; an unknown path allows everything. */
  readonly answers = new Map<string, Respond>()
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<WebhookServer> {
    const { keyPem: key, certificatePem: cert } = issueServerCertificate(authority, {
      ...made,
      names: ['127.0.0.1', 'localhost'],
    })
    const server = createServer({ key, cert })
    const started = new WebhookServer(server)
    server.on('request', (request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => {
        pieces.push(piece)
      })
      request.on('end', () => {
        void started.#answer(request.url ?? '', Buffer.concat(pieces).toString(), response)
      })
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    return started
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The paths of requests since the last call, in order. */
  taken(): string[] {
    return this.asked.splice(0).map(({ path }) => path)
  }

  reset(): void {
    this.asked.length = 0
    this.answers.clear()
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }

  async #answer(target: string, text: string, response: ServerResponse): Promise<void> {
    const review = JSON.parse(text) as Loose
    const path = target.split('?')[0]?.slice(1) ?? ''
    const asked: AskedReview = { path, target, review, request: review['request'] as unknown as Loose }
    this.asked.push(asked)
    const given = this.answers.has(path) ? await this.answers.get(path)?.(asked, response) : {}
    if (given === undefined) return
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: review['apiVersion'],
        response: { uid: asked.request['uid'], allowed: true, ...given },
      }),
    )
  }
}

/** A patch as in a webhook response. */
export function patchOf(...operations: readonly JsonObject[]): JsonObject {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

/** Adds a label. */
export function label(name: string, value = 'yes'): JsonObject {
  return patchOf({ op: 'add', path: '/metadata/labels', value: { [name]: value } })
}

interface HookOptions {
  readonly path?: string
  readonly [field: string]: unknown
}

/** A webhook of a configuration for all ConfigMaps, at the path of its name. */
export function webhookFor(
  server: Pick<WebhookServer, 'url' | 'caBundle'>,
  name: string,
  { path = name, ...rest }: HookOptions = {},
): JsonObject {
  return {
    name: `${name}.test.example.com`,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: `${server.url}/${path}`, caBundle: server.caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    ...rest,
  }
}

/** A configuration of webhooks. */
export function configuration(
  kind: 'Mutating' | 'Validating',
  name: string,
  webhooks: readonly JsonObject[],
): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [...webhooks],
  }
}

export function configurationsPath(kind: 'Mutating' | 'Validating'): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`
}
