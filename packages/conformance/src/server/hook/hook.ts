/**
 * A webhook that converts between versions, for the length of one case: HTTPS on the loopback.
 *
 * Invariant: it is gone, connections and all, when the case ends.
 */
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Loose } from '../answer.ts'
import { selfSigned } from './self-signed.ts'

/** What a server asks: these objects, in that version. */
export interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string, readonly desiredAPIVersion: string, readonly objects: readonly Loose[] }
}

export interface Hook {
  /** How a definition names it. */
  readonly clientConfig: { readonly url: string, readonly caBundle: string }
  /** Every review there was. */
  readonly asked: readonly Review[]
}

const { keyPem: key, certificatePem: cert } = selfSigned()

/** Runs with a hook that answers as told. */
export async function withHook(respond: (review: Review) => unknown, run: (hook: Hook) => Promise<void>): Promise<void> {
  const asked: Review[] = []
  const server = createServer({ key, cert }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => { pieces.push(piece) })
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Review
      asked.push(review)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(respond(review)))
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  try {
    await run({ clientConfig: { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert`, caBundle: Buffer.from(cert).toString('base64') }, asked })
  } finally {
    await close(server)
  }
}

/** The review with its answer: the objects as `convert` makes them. */
export function converted({ apiVersion, kind, request: { uid, desiredAPIVersion, objects } }: Review, convert: (object: Loose) => object): object {
  return { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects: objects.map((object) => ({ ...convert(object), apiVersion: desiredAPIVersion })) } }
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => { server.close(() => { resolve() }) })
}
