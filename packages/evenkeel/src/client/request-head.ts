/**
 * The head of an HTTP/1.1 request as text.
 *
 * Invariant: no part of a request can end its line, so no value can smuggle a second header field or request.
 */

interface RequestHead {
  readonly method: string
  /** `/api/v1/pods?limit=1` */
  readonly target: string
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

interface RequestHeadOptions {
  /** The value of the Host header. */
  readonly host: string
  readonly connection?: 'close'
  /** How the body is delimited; undefined without a body. */
  readonly body?: number | 'chunked' | undefined
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainValue = /^[\t\x20-\x7e\x80-\xff]*$/
const plainTarget = /^[\x21-\x7e]+$/

/** @throws {RangeError} when a part of the request would break its line. */
export function formatRequestHead(
  { method, target, headers }: RequestHead,
  { host, connection, body }: RequestHeadOptions,
): string {
  if (!token.test(method) || !plainTarget.test(target))
    throw new RangeError(`not a request: ${JSON.stringify(`${method} ${target}`)}`)
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n`
  if (connection !== undefined) text += `connection: ${connection}\r\n`
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!token.test(name) || !plainValue.test(value))
        throw new RangeError(`not a header field: ${JSON.stringify(name)}`)
      text += `${name}: ${value}\r\n`
    }
  }
  if (body === 'chunked') text += 'transfer-encoding: chunked\r\n'
  else if (body !== undefined) text += `content-length: ${body}\r\n`
  return `${text}\r\n`
}
