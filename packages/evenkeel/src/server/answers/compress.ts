/**
 * Large answers, compressed for clients that read gzip.
 *
 * Go's clients ask for it without being told to. Small answers are not worth it, and neither is more than the quickest
 * level: the work happens off the main thread, the waiting does not.
 */
import { promisify } from 'node:util'
import type { WireResponse } from '#wire'

/** As upstream has it. */
export const gzipSizeMin = 128 * 1024
const gzipLevel = 1

/** What an answer in gzip says about itself. */
export const gzipHeaders = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } as const

/** The same answer, smaller if it is large and the client can read it. */
export async function compress(response: WireResponse, acceptEncoding = ''): Promise<WireResponse> {
  const { body } = response
  if (body === undefined || !acceptsGzip(acceptEncoding) || response.headers['content-encoding'] !== undefined)
    return response
  const headers = { ...response.headers, ...gzipHeaders }
  if (!(body instanceof Uint8Array)) return { ...response, headers, body: gzipPieces(body) }
  if (body.byteLength < gzipSizeMin) return response
  const { gzip } = await import('node:zlib')
  return { ...response, headers, body: await promisify(gzip)(body, { level: gzipLevel }) }
}

/** Whether a client says that it reads gzip. */
export function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one))
}

async function* gzipPieces(body: readonly Uint8Array[] | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  // Loaded when the first large answer goes out: a server starts without it.
  const [{ createGzip }, { pipeline }, { Readable }] = await Promise.all([
    import('node:zlib'),
    import('node:stream/promises'),
    import('node:stream'),
  ])
  const packed = createGzip({ level: gzipLevel })
  const fed = pipeline(Readable.from(body), packed)
  try {
    for await (const piece of packed as AsyncIterable<Uint8Array>) yield piece
    await fed
  } finally {
    packed.destroy()
    fed.catch(() => undefined)
  }
}
