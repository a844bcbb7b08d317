/**
 * A webhook for one case: HTTPS on loopback.
 *
 * Invariant: it is closed with all its connections when the case ends.
 */
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Loose } from '../answer.ts'
import { selfSigned } from './self-signed.ts'

/** A conversion request: objects and the desired version. */
export interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Loose[] }
}

export interface Hook {
  /** Its clientConfig in a CRD. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string }
  /** All received reviews. */
  readonly asked: readonly Review[]
}

const { keyPem: key, certificatePem: cert } = selfSigned()

/** Runs with a webhook that responds with the given function. */
export async function withHook(
  respond: (review: Review) => unknown,
  run: (hook: Hook) => Promise<void>,
): Promise<void> {
  const asked: Review[] = []
  await withHttps(
    (_, body, response) => {
      const review = JSON.parse(body) as Review
      asked.push(review)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(respond(review)))
    },
    ({ url, caBundle }) => run({ clientConfig: { url: `${url}/convert`, caBundle }, asked }),
  )
}

/** Handles a request: its path and query, its body, and the response to write. */
type AnswerHttps = (target: string, body: string, response: ServerResponse) => void

/** Runs with an HTTPS server that responds with the given function. */
export async function withHttps(
  answer: AnswerHttps,
  run: (server: { readonly url: string; readonly caBundle: string }) => Promise<void>,
): Promise<void> {
  const server = createServer({ key, cert }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => {
      pieces.push(piece)
    })
    request.on('end', () => {
      answer(request.url ?? '', Buffer.concat(pieces).toString('utf8'), response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  try {
    await run({
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      caBundle: Buffer.from(cert).toString('base64'),
    })
  } finally {
    await close(server)
  }
}

/** The review with its response: the objects as `convert` returns them. */
export function converted(
  { apiVersion, kind, request: { uid, desiredAPIVersion, objects } }: Review,
  convert: (object: Loose) => object,
): object {
  return {
    apiVersion,
    kind,
    response: {
      uid,
      result: { status: 'Success' },
      convertedObjects: objects.map((object) => ({ ...convert(object), apiVersion: desiredAPIVersion })),
    },
  }
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => {
    server.close(() => {
      resolve()
    })
  })
}
