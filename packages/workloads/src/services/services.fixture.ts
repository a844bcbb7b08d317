/** Services in test planes: clients and servers in memory, and shortcuts for their objects. */
import type { Client } from 'evenkeel'
import { Process, type ProcessObject } from '../process-kind.ts'
import { startSimulated, type SimulatedPlane } from '../plane.fixture.ts'
import type { Connection } from './network.ts'
import { Endpoint, Service, type EndpointObject, type ServiceObject } from './service-kind.ts'

const keyOf = (name: string) => ({ name, namespace: 'default' })

/** One end of a connection: what it has received, and how it ended. */
export class Peer {
  received = ''
  hasEnded = false
  isClosed = false
  error: string | undefined
  readonly connection: Connection

  constructor(connection: Connection) {
    this.connection = connection
    connection.on('data', (chunk: Buffer) => {
      this.received += chunk.toString()
    })
    connection.on('end', () => {
      this.hasEnded = true
    })
    connection.on('close', () => {
      this.isClosed = true
    })
    connection.on('error', (error: Error & { readonly code?: string }) => {
      this.error = error.code ?? error.message
    })
    connection.resume()
  }

  send(text: string): this {
    this.connection.write(text)
    return this
  }
}

/** A server in memory that greets with its name. */
export class NamedServer {
  readonly peers: Peer[] = []
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  readonly accept = (connection: Connection): void => {
    this.peers.push(new Peer(connection).send(`${this.name};`))
  }
}

export interface ServicePlane extends SimulatedPlane {
  createService(name: string, spec: object): Promise<unknown>
  createProcess(name: string, spec?: object): Promise<unknown>
  createEndpoint(name: string, spec: object): Promise<unknown>
  getService(name: string): Promise<ServiceObject>
  patchService(name: string, spec: object): Promise<void>
  endpoints(): Promise<readonly EndpointObject[]>
  untilService(name: string, condition: (service: ServiceObject) => boolean): Promise<ServiceObject>
  /** A client of a Service connects. */
  connect(name: string): Promise<Peer>
  /** A Process that is Ready, with a server behind its port. */
  startServer(name: string): Promise<NamedServer>
  /** Whether the readiness probes of Processes succeed, by the name of the Process. */
  readonly healthy: Set<string>
}

/** Processes get the label `app: web`, a port `http`, and a readiness probe. */
const processSpec = {
  command: ['serve'],
  ports: [{ name: 'http' }],
  probes: { readiness: { tcp: { port: 'http' }, periodSeconds: 1, failureThreshold: 1 } },
}

export async function startServices(given: Parameters<typeof startSimulated>[0] = {}): Promise<ServicePlane> {
  const world = await startSimulated(given)
  const healthy = new Set<string>()
  const portNames = new Map<number, string>()
  world.probes.answer = (check) => ({
    isOk: check.type === 'tcp' && healthy.has(portNames.get(check.port) ?? ''),
    output: 'connection refused',
  })
  const base = serviceCalls(world.client)
  return {
    ...world,
    ...base,
    healthy,
    async untilService(name, condition) {
      let last: ServiceObject | undefined
      try {
        await world.plane.until(async () => condition((last = await base.getService(name))), { timeoutMs: 60_000 })
      } catch (error) {
        throw new Error(`${name} did not get so: ${JSON.stringify(last?.status, undefined, 1)}`, { cause: error })
      }
      return last as ServiceObject
    },
    async connect(name) {
      const { status } = await base.getService(name)
      return new Peer(world.network.connect({ address: status?.address ?? '', port: status?.port ?? 0 }))
    },
    async startServer(name) {
      if (!(await world.client.find(Process, keyOf(name)))) await base.createProcess(name)
      const { status } = await world.until(name, (object) => object.status?.run?.ports?.[0] !== undefined)
      const port = status?.run?.ports?.[0]?.port ?? 0
      const server = new NamedServer(name)
      world.network.serve({ address: '127.0.0.1', port }, server.accept)
      portNames.set(port, name)
      healthy.add(name)
      return server
    },
  }
}

function serviceCalls(client: Client) {
  return {
    createService: (name: string, spec: object): Promise<unknown> =>
      client.create(Service, { metadata: keyOf(name), spec } as never),
    createEndpoint: (name: string, spec: object): Promise<unknown> =>
      client.create(Endpoint, { metadata: keyOf(name), spec } as never),
    createProcess: (name: string, spec: object = {}): Promise<unknown> =>
      client.create(Process, {
        metadata: { ...keyOf(name), labels: { app: 'web' } },
        spec: { ...processSpec, ...spec },
      } as never),
    getService: async (name: string): Promise<ServiceObject> =>
      (await client.get(Service, keyOf(name))) as ServiceObject,
    async patchService(name: string, spec: object): Promise<void> {
      await client.patch(await client.get(Service, keyOf(name)), { spec } as never)
    },
    endpoints: async (): Promise<readonly EndpointObject[]> =>
      (await client.list(Endpoint, { namespace: 'default' })).items as readonly EndpointObject[],
  }
}

export const toWeb = { selector: { matchLabels: { app: 'web' } } }

export const conditionIn = ({ status }: Pick<ServiceObject, 'status'> | Pick<ProcessObject, 'status'>, type: string) =>
  status?.conditions?.find((one) => one.type === type)

export const hasAddress = (service: ServiceObject): boolean => service.status?.url !== undefined
export const isServing = (service: ServiceObject): boolean => conditionIn(service, 'Ready')?.status === 'True'
