/**
 * Our own server in this process, without a socket: a thousand cases per second.
 */
import { MessageChannel } from 'node:worker_threads'
import { startPlane, startServer } from 'evenkeel/server'
import type { Server, ServerOptions } from 'evenkeel/server'
import { assert } from 'evenkeel/unstable/base'
import { serveReplica, startServerWith, type StartWorker } from 'evenkeel/unstable/server'
import type { Send } from '../client.ts'
import { urlTarget } from './url.ts'
import type { ServerCase, ServerTarget } from '../target.ts'

export interface EvenkeelTarget extends ServerTarget {
  stop(): Promise<void>
}

/** Deliberate differences from Kubernetes. */
export const ourDifferences: Readonly<Record<string, string>> = {
  'server/routes/head': 'HEAD returns what GET returns without a body, as HTTP specifies',
  'server/content/yaml-first-document': 'a body of several YAML documents is rejected, so that none is lost silently',
  'server/validation/duplicate-key-in-yaml': 'a duplicate key is reported by its path, as in JSON, and not by its line',
  'server/service-addresses/taken-dry-run': 'a dry run is refused when the write would be',
}

/** Limits of a server that is called in process. */
const inProcess = 'in-process callers are administrators'
const functionCall = 'a function call has no connection that could change its protocol'
const alone = 'no controllers run'
const gate = 'the feature gate is off'
const withoutControllers = { collector: alone, 'service-accounts': alone, 'storage-protection': alone } as const
export const overHttpsLacks = { ...withoutControllers, cbor: gate } as const
export const inProcessLacks = {
  ...overHttpsLacks,
  authentication: inProcess,
  'no-anonymous': inProcess,
  upgrade: functionCall,
} as const
export const planeLacks = { still: 'controllers act on what the cases create', cbor: gate } as const

/** Whether a case runs on a server with controllers, and on no other of ours. */
export function needsControllers({ needs = [] }: ServerCase): boolean {
  return needs.some((need) => need in withoutControllers)
}

/** Starts a server to test. In-process callers are administrators, so no request is rejected for missing rights. */
export async function evenkeelTarget(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  const server = await startServer(options)
  return {
    name: 'evenkeel in process',
    lacks: inProcessLacks,
    differs: ourDifferences,
    send: sendTo(server),
    credentials: {},
    compact: () => server.compact(),
    stop: () => server.stop(),
  }
}

/** The same with sockets and TLS, as clients use it. */
export async function evenkeelOverHttps(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  return overHttps(await startServer({ ...options, listen: {} }), {
    name: 'evenkeel over HTTPS',
    lacks: overHttpsLacks,
  })
}

/**
 * The same, with every write handled as a large one. Its thread is in this one, behind a message channel: a thread cannot
 * load these sources with every version of Node.
 */
export async function evenkeelWithLargeWrites(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  const server = await startServerWith(
    { ...options, listen: {}, limits: { largeWriteBytes: 1 } },
    { startWorker: startWorkerHere },
  )
  return overHttps(server, { name: 'evenkeel with large writes', lacks: overHttpsLacks })
}

const startWorkerHere: StartWorker = (start) => {
  const { port1, port2 } = new MessageChannel()
  void serveReplica(port2, start)
  const terminate = (): Promise<void> => {
    port1.close()
    return Promise.resolve()
  }
  return Object.assign(port1, { terminate })
}

/** The same with CBOR. */
export async function evenkeelWithCbor(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  const server = await startServer({ ...options, listen: {}, featureGates: { CBORServingAndStorage: true } })
  return overHttps(server, { name: 'evenkeel with CBOR', lacks: {} })
}

/** The same with controllers. */
export async function evenkeelPlane(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  return overHttps(await startPlane({ ...options, listen: {} }), {
    name: 'evenkeel with controllers',
    lacks: planeLacks,
  })
}

function overHttps(server: Server, { name, lacks }: Pick<ServerTarget, 'name' | 'lacks'>): EvenkeelTarget {
  assert(server.address, 'the server listens')
  const { url, token, caPem } = server.address
  const target = urlTarget({ url, token, ...(caPem !== undefined && { ca: caPem }) }, { name })
  return { ...target, lacks, differs: ourDifferences, compact: () => server.compact(), stop: () => server.stop() }
}

function sendTo({ transport }: Server): Send {
  return async (request) => {
    const { status, headers, body } = await transport(request)
    return { status, headers, body: piecesOf(body) }
  }
}

async function* piecesOf(body: Awaited<ReturnType<Server['transport']>>['body']): AsyncGenerator<Uint8Array, void> {
  if (body === undefined) return
  if (body instanceof Uint8Array) yield body
  else yield* body
}
