/**
 * The head of an HTTP/2 request in the form that both versions share: `:authority` is `host`, and no field begins with a colon.
 */
import type { IncomingHttpHeaders } from 'node:http2'
import type { WireHeaders } from '#wire'
import { HttpRefusal } from '../http-refusal.ts'

interface Http2Head {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  /** Bytes of the body, if the client said. */
  readonly length: number | undefined
}

const methodText = /^[A-Z][A-Z-]{0,31}$/
const targetText = /^\/[\x21\x22\x24-\x7e]*$/
const lengthText = /^\d{1,15}$/

/** @throws {HttpRefusal} when a part is missing or contradicts another. */
export function convertHead(raw: IncomingHttpHeaders): Http2Head {
  const { ':method': method = '', ':path': target = '', ':authority': authority } = raw
  if (method === 'CONNECT') throw new HttpRefusal(405, 'this is no proxy')
  if (!methodText.test(method)) throw new HttpRefusal(400, 'the method is no word')
  if (!targetText.test(target) && !(target === '*' && method === 'OPTIONS')) throw new HttpRefusal(400, 'the request target is not a path')
  const headers = convertFields(raw)
  if (authority !== undefined && headers['host'] !== undefined && headers['host'] !== authority) throw new HttpRefusal(400, 'host and :authority differ')
  if (authority !== undefined) headers['host'] = authority
  if (headers['host'] === undefined) throw new HttpRefusal(400, 'there is no host')
  const length = headers['content-length']
  if (length !== undefined && !lengthText.test(length)) throw new HttpRefusal(400, 'content-length is not a number of bytes')
  return { method, target, headers, length: length === undefined ? undefined : Number(length) }
}

function convertFields(raw: IncomingHttpHeaders): Record<string, string> {
  const headers = { __proto__: null } as unknown as Record<string, string>
  for (const name of Object.keys(raw)) {
    const value = raw[name]
    if (value !== undefined && !name.startsWith(':')) headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}
