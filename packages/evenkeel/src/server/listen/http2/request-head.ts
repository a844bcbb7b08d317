/**
 * The head of an HTTP/2 request in the form that both versions share: `:authority` is `host`, and no field begins with a colon.
 */
import type { IncomingHttpHeaders } from 'node:http2'
import type { WireHeaders } from '#wire'
import { HttpProtocolError } from '../http-refusal.ts'
import { isIdentityHeader } from '../join-fields.ts'

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

/**
 * @param sent names and values in turn, as they came
 * @throws {HttpProtocolError} when a part is missing or contradicts another.
 */
export function convertHttp2Head(raw: IncomingHttpHeaders, sent: readonly string[]): Http2Head {
  const { ':method': method = '', ':path': target = '', ':authority': authority } = raw
  if (method === 'CONNECT') throw new HttpProtocolError(405, 'this is no proxy')
  if (!methodText.test(method)) throw new HttpProtocolError(400, 'the method is no word')
  if (!targetText.test(target) && !(target === '*' && method === 'OPTIONS'))
    throw new HttpProtocolError(400, 'the request target is not a path')
  const headers = convertFields(raw, sent)
  if (authority !== undefined && headers['host'] !== undefined && headers['host'] !== authority)
    throw new HttpProtocolError(400, 'host and :authority differ')
  if (authority !== undefined) headers['host'] = authority
  if (headers['host'] === undefined) throw new HttpProtocolError(400, 'there is no host')
  const length = headers['content-length']
  if (length !== undefined && !lengthText.test(length))
    throw new HttpProtocolError(400, 'content-length is not a number of bytes')
  return { method, target, headers, length: length === undefined ? undefined : Number(length) }
}

function convertFields(raw: IncomingHttpHeaders, sent: readonly string[]): Record<string, string> {
  const headers = { __proto__: null } as unknown as Record<string, string>
  for (const name of Object.keys(raw)) {
    const value = raw[name]
    if (value === undefined || name.startsWith(':')) continue
    if (isIdentityHeader(name)) headers[name] = valuesOf(name, sent).join('\n')
    else headers[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}

/** Node joins repeated fields by commas; as they were sent they are names and values in turn. */
function valuesOf(name: string, sent: readonly string[]): string[] {
  return sent.filter((_value, index) => index % 2 === 1 && sent[index - 1]?.toLowerCase() === name)
}
