/**
 * Our own server in this process, without a socket: the same cases, a thousand times a second.
 */
import { startPlane, startServer } from 'evenkeel/server'
import type { Server, ServerOptions } from 'evenkeel/server'
import { assert } from 'evenkeel/unstable/base'
import type { Send } from '../client.ts'
import { urlTarget } from './url.ts'
import type { ServerTarget } from '../target.ts'

export interface EvenkeelTarget extends ServerTarget {
  stop(): Promise<void>
}

/** What we decide otherwise on purpose. */
export const ourDifferences: Readonly<Record<string, string>> = {
  'server/routes/head': 'HEAD is answered as GET without a body, as HTTP has it',
  'server/content/yaml-first-document': 'a body of several YAML documents is refused, so that none of them is lost',
  'server/validation/duplicate-key-in-yaml':
    'a key that is there twice is named by its path, as in JSON, and not by its line',
  'server/custom/numbers': 'numbers are those of JavaScript: whole ones are exact up to 2^53',
  'server/defaults/claim': 'nothing here would ever take the finalizer kubernetes.io/pvc-protection away again',
}

/** What a server that is called in process cannot do. */
const inProcess = 'whoever calls it in process is its administrator'
const alone = 'no controllers run beside it'
export const inProcessLacks = { authentication: inProcess, 'no-anonymous': inProcess, collector: alone } as const
export const overHttpsLacks = { collector: alone } as const
export const planeLacks = { still: 'controllers act on what the cases create' } as const

/** Starts a server to be judged. Whoever reaches it this way is its administrator, so nobody is turned away. */
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

/** The same with sockets and TLS, as clients see it. */
export async function evenkeelOverHttps(options: ServerOptions = {}): Promise<EvenkeelTarget> {
  return overHttps(await startServer({ ...options, listen: {} }), {
    name: 'evenkeel over HTTPS',
    lacks: overHttpsLacks,
  })
}

/** The same with controllers beside it. */
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
