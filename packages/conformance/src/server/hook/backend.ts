/**
 * An aggregated API server for one case: HTTPS on loopback, and the APIService and Service that name it.
 *
 * Invariant: it is closed with all its connections when the case ends, and so are its objects.
 */
import { createServer } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually, groupIn } from '../custom.ts'
import type { Answer, Loose } from '../answer.ts'
import { ok } from '../expect.ts'
import type { Place } from '../target.ts'
import { selfSigned } from './self-signed.ts'

/** A request as the backend got it. */
interface Forwarded {
  readonly method: string
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Every header with its values, names in lower case. */
  readonly values: Readonly<Record<string, readonly string[] | undefined>>
  readonly body: string
}

/** Answers requests below the group version; false leaves it to the default. */
type Serve = (request: Forwarded, response: ServerResponse) => boolean | undefined

class Backend {
  readonly place: Place
  readonly port: number
  /** All requests but those of the aggregator itself. */
  readonly forwarded: Forwarded[]

  constructor(place: Place, port: number, forwarded: Forwarded[]) {
    this.place = place
    this.port = port
    this.forwarded = forwarded
  }

  get group(): string {
    return groupIn(this.place)
  }

  /** A path of the aggregated version. */
  path(rest = ''): string {
    return `/apis/${this.group}/v1${rest}`
  }

  get(rest = '', options: Parameters<Place['client']['request']>[2] = {}): Promise<Answer> {
    return this.place.client.request('GET', this.path(rest), options)
  }
}

export const apiServicesPath = '/apis/apiregistration.k8s.io/v1/apiservices'

interface ApiServiceFields {
  readonly service?: Readonly<Record<string, unknown>>
  readonly groupPriorityMinimum?: number
  readonly versionPriority?: number
}

/** Creates the APIService of the group of a case. */
export async function createApiService(
  place: Place,
  {
    service = { name: 'backend', port: 443 },
    groupPriorityMinimum = 1000,
    versionPriority = 15,
  }: ApiServiceFields = {},
): Promise<string> {
  const name = `v1.${groupIn(place)}`
  const spec = {
    group: groupIn(place),
    version: 'v1',
    groupPriorityMinimum,
    versionPriority,
    insecureSkipTLSVerify: true,
    service: { namespace: place.namespace, ...service },
  }
  const created = await place.client.request('POST', apiServicesPath, { body: { metadata: { name }, spec } })
  // The group version of a CRD may have a local APIService, which is then taken over.
  if (created.status !== 409) ok(created, 201)
  else {
    const metadata = { labels: { 'kube-aggregator.kubernetes.io/automanaged': null } }
    const type = 'application/merge-patch+json'
    ok(await place.client.request('PATCH', `${apiServicesPath}/${name}`, { type, body: { metadata, spec } }), 200)
  }
  return name
}

export function deleteApiService(place: Place): Promise<Answer> {
  return place.client.request('DELETE', `${apiServicesPath}/v1.${groupIn(place)}`)
}

interface Condition {
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** The condition Available of the APIService, once it has this reason. */
export async function availability(place: Place, reason: string): Promise<Condition> {
  const conditionIn = ({ status }: Loose): Condition | undefined =>
    (status?.['conditions'] as (Condition & { type: string })[] | undefined)?.find(({ type }) => type === 'Available')
  const answer = await eventually(
    () => place.client.request('GET', `${apiServicesPath}/v1.${groupIn(place)}`),
    (one) => conditionIn(one.json)?.reason === reason,
  )
  return conditionIn(answer.json) as Condition
}

interface BackendFields extends Omit<ApiServiceFields, 'service'> {
  /** @default discovery and OpenAPI of one kind, and 404 */
  readonly serve?: Serve
}

/** Runs with a backend that is available. */
export async function withBackend(
  place: Place,
  { serve = () => undefined, ...fields }: BackendFields,
  run: (backend: Backend) => Promise<void>,
): Promise<void> {
  const forwarded: Forwarded[] = []
  const { keyPem: key, certificatePem: cert } = selfSigned()
  const server = createServer({ key, cert }, (request, response) => {
    receive(request, response, { forwarded, serve, group: groupIn(place) })
  })
  server.on('upgrade', (request, socket) => {
    forwarded.push({ ...headOf(request), body: '' })
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: judge\r\n\r\nhello')
    socket.on('data', (bytes: Buffer) => socket.write(`echo ${bytes.toString()}`))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  try {
    const service = { metadata: { name: 'backend' }, spec: { type: 'ExternalName', externalName: 'localhost' } }
    ok(await place.post('services', service), 201)
    await createApiService(place, { ...fields, service: { name: 'backend', port } })
    await availability(place, 'Passed')
    const backend = new Backend(place, port, forwarded)
    // A real server begins to forward some time after it has set the condition.
    await eventually(
      () => backend.get(),
      ({ status }) => status === 200,
    )
    forwarded.length = 0
    await run(backend)
  } finally {
    await deleteApiService(place)
    server.closeAllConnections()
    server.close()
  }
}

/** The users of checks, discovery and OpenAPI of the aggregator itself. */
const aggregators: ReadonlySet<string> = new Set(['system:kube-aggregator', 'system:aggregator', 'undefined'])

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { forwarded, serve, group }: { forwarded: Forwarded[]; serve: Serve; group: string },
): void {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => {
    pieces.push(piece)
  })
  request.on('end', () => {
    const one = { ...headOf(request), body: Buffer.concat(pieces).toString() }
    const isCheck = aggregators.has(String(one.headers['x-remote-user']))
    if (!isCheck) forwarded.push(one)
    const isDiscovery = one.target === `/apis/${group}/v1`
    if (!isCheck && !isDiscovery && serve(one, response)) return
    answer(one, response, group)
  })
}

function headOf(request: IncomingMessage): Omit<Forwarded, 'body'> {
  const { method = '', url: target = '', headers, headersDistinct: values } = request
  return { method, target, headers, values }
}

const fooVerbs = ['get', 'list', 'watch']

/** Discovery and OpenAPI of a server with one kind, Foo. */
function answer({ target, headers }: Forwarded, response: ServerResponse, group: string): void {
  const path = target.replace(/\?.*$/, '')
  const json = (value: unknown, type = 'application/json'): void => {
    response.setHeader('content-type', type).end(JSON.stringify(value))
  }
  if (path === `/apis/${group}/v1`)
    json({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${group}/v1`,
      resources: [{ name: 'foos', singularName: 'foo', namespaced: true, kind: 'Foo', verbs: fooVerbs }],
    })
  else if (path === '/apis' && headers.accept?.includes('APIGroupDiscoveryList'))
    json(aggregated(group), 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
  else if (path === '/openapi/v3')
    json({ paths: { [`apis/${group}/v1`]: { serverRelativeURL: `/openapi/v3/apis/${group}/v1?hash=ABC` } } })
  else response.writeHead(404).end()
}

function aggregated(group: string): unknown {
  const responseKind = { group, version: 'v1', kind: 'Foo' }
  const foos = { resource: 'foos', responseKind, scope: 'Namespaced', singularResource: 'foo', verbs: fooVerbs }
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [{ metadata: { name: group }, versions: [{ version: 'v1', freshness: 'Current', resources: [foos] }] }],
  }
}
