/**
 * HTTP/1.1 heads: the request line and fields in, the status line and fields out. RFC 9112, parsed as strictly as it
 * allows.
 *
 * Everything that two parsers could read differently is refused and the connection closed, because such a difference
 * between a proxy and this server allows request smuggling: folded lines, space around field names, bare CR or LF, two
 * lengths, a length together with chunks, codings other than chunked, repeated fields that must be single.
 */
import { STATUS_CODES } from 'node:http'
import type { WireHeaders, WireResponse } from '#wire'
import type { ListenLimits } from './connection.ts'
import { fieldsToSend, HttpProtocolError, separatorOf } from './http-message.ts'

export interface RequestHead {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: WireHeaders
  readonly isHttp10: boolean
  /** The client wants to keep the connection open. */
  readonly isKeepAlive: boolean
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
  /** Bytes of the body, 0 for none. */
  readonly length: number | 'chunked'
}

type HeadLimits = Pick<ListenLimits, 'requestLineBytesMax' | 'headFieldsMax'>

/** A byte that is invalid in a head, or half a line end. */
const stray = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const methodText = /^[A-Z][A-Z-]{0,31}$/
const targetText = /^[\x21\x22\x24-\x7e]+$/
const absoluteTarget = /^https?:\/\/([^/?]+)(\/[^]*|\?[^]*)?$/i
const lengthText = /^\d{1,15}$/
const [carriageReturn, lineFeed] = [13, 10]
const onlyOnce = new Set(['host', 'content-length', 'content-type', 'transfer-encoding', 'authorization', 'origin'])

export const headEnd = Buffer.from('\r\n\r\n')

/** Empty lines before a request are allowed. */
export function skipEmptyLines(bytes: Buffer): Buffer {
  let at = 0
  while (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at += 2
  return at === 0 ? bytes : bytes.subarray(at)
}

/**
 * Checks an incomplete head.
 *
 * @throws {HttpProtocolError} when it is already invalid.
 */
export function checkUnfinished(
  bytes: Buffer,
  { requestLineBytesMax, headBytesMax }: Pick<ListenLimits, 'requestLineBytesMax' | 'headBytesMax'>,
): void {
  const lineEnd = bytes.indexOf(lineFeed)
  if (lineEnd === 0 || (lineEnd > 0 && bytes[lineEnd - 1] !== carriageReturn))
    throw new HttpProtocolError(400, 'a line of the request head does not end in CRLF')
  if (lineEnd < 0 ? bytes.length > requestLineBytesMax : lineEnd > requestLineBytesMax)
    throw new HttpProtocolError(414, 'the request line is too long')
  if (bytes.length > headBytesMax) throw new HttpProtocolError(431, 'the request head is too long')
}

/**
 * Parses a head from its text (one character per byte), without the empty line that ends it.
 *
 * @throws {HttpProtocolError} for any deviation.
 */
export function parseHead(text: string, limits: HeadLimits): RequestHead {
  if (stray.test(text)) throw new HttpProtocolError(400, 'the request head holds a byte that does not belong there')
  const lineEnd = text.indexOf('\r\n')
  const line = lineEnd < 0 ? text : text.slice(0, lineEnd)
  if (line.length > limits.requestLineBytesMax) throw new HttpProtocolError(414, 'the request line is too long')
  const { method, target, isHttp10 } = parseRequestLine(line)
  const headers = lineEnd < 0 ? noHeaders() : parseFields(text, lineEnd + 2, limits.headFieldsMax)
  return finishHead({ method, isHttp10 }, target, headers)
}

/**
 * Parses `name: value` lines, from `start` to the end of the text. Also used for trailers, whose fields are ignored.
 */
export function parseFields(text: string, start: number, fieldsMax: number): Record<string, string> {
  const headers = noHeaders()
  let at = start
  for (let count = 0; at < text.length; count++) {
    if (count === fieldsMax) throw new HttpProtocolError(431, `more than ${fieldsMax} header fields`)
    const end = text.indexOf('\r\n', at)
    const stop = end < 0 ? text.length : end
    addField(headers, text, { at, stop })
    at = stop + 2
  }
  return headers
}

function addField(headers: Record<string, string>, text: string, { at, stop }: { at: number; stop: number }): void {
  const colon = text.indexOf(':', at)
  const rawName = colon < 0 || colon > stop ? '' : text.slice(at, colon)
  if (!token.test(rawName)) throw new HttpProtocolError(400, 'a header field has no proper name')
  joinField(headers, rawName.toLowerCase(), trimBlanks(text, colon + 1, stop))
}

/**
 * The head of a request from another parser: the same rules about the host, the target, repeated fields and the length
 * of the body.
 *
 * @param fields name, value, name, value …, as they were sent
 * @throws {HttpProtocolError} when two parsers could read it differently.
 */
export function headOf(line: RequestLine & { readonly target: string }, fields: readonly string[]): RequestHead {
  // Some versions of Node accept a tab in a target, and a field without a name.
  if (!targetText.test(line.target))
    throw new HttpProtocolError(400, 'the request target holds a byte that does not belong there')
  const headers = noHeaders()
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    if (!token.test(name)) throw new HttpProtocolError(400, 'a header field has no proper name')
    joinField(headers, name.toLowerCase(), fields[index + 1] ?? '')
  }
  return finishHead(line, line.target, headers)
}

function joinField(headers: Record<string, string>, name: string, value: string): void {
  const before = headers[name]
  if (before !== undefined && onlyOnce.has(name)) throw new HttpProtocolError(400, `${name} is given twice`)
  headers[name] = before === undefined ? value : `${before}${separatorOf(name)}${value}`
}

function trimBlanks(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function parseRequestLine(line: string): { method: string; target: string; isHttp10: boolean } {
  const [method = '', target = '', version = '', ...rest] = line.split(' ', 4)
  if (rest.length > 0 || !methodText.test(method) || !targetText.test(target))
    throw new HttpProtocolError(400, 'the request line is not METHOD TARGET VERSION')
  if (version === 'HTTP/1.1') return { method, target, isHttp10: false }
  if (version === 'HTTP/1.0') return { method, target, isHttp10: true }
  throw /^HTTP\/\d\.\d$/.test(version)
    ? new HttpProtocolError(505, 'only HTTP/1.1, and HTTP/2 over TLS')
    : new HttpProtocolError(400, 'the request line has no version')
}

type RequestLine = Pick<RequestHead, 'method' | 'isHttp10'>

function finishHead(
  { method, isHttp10 }: RequestLine,
  rawTarget: string,
  headers: Record<string, string>,
): RequestHead {
  if (headers['host'] === undefined && !isHttp10) throw new HttpProtocolError(400, 'there is no host header')
  const target = resolveTarget(method, rawTarget, headers)
  const connection =
    headers['connection'] === undefined
      ? []
      : headers['connection']
          .toLowerCase()
          .split(',')
          .map((option) => option.trim())
  return {
    method,
    target,
    headers,
    isHttp10,
    isKeepAlive: isHttp10 ? connection.includes('keep-alive') : !connection.includes('close'),
    expectsContinue: expectsContinue(headers, isHttp10),
    length: bodyLength(headers, isHttp10),
  }
}

/** A target in absolute form names the host; the `Host` header is then ignored, as the RFC requires. */
function resolveTarget(method: string, target: string, headers: Record<string, string>): string {
  if (method === 'CONNECT') throw new HttpProtocolError(405, 'this is no proxy')
  if (target.startsWith('/') || (target === '*' && method === 'OPTIONS')) return target
  const [, authority, path = '/'] = absoluteTarget.exec(target) ?? []
  if (authority === undefined) throw new HttpProtocolError(400, 'the request target is not a path')
  headers['host'] = authority
  return path.startsWith('/') ? path : `/${path}`
}

function expectsContinue(headers: WireHeaders, isHttp10: boolean): boolean {
  const expect = headers['expect']
  if (expect === undefined) return false
  if (expect.toLowerCase() !== '100-continue')
    throw new HttpProtocolError(417, 'nothing can be expected but 100-continue')
  return !isHttp10
}

function bodyLength(headers: WireHeaders, isHttp10: boolean): number | 'chunked' {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (coding === undefined) {
    if (length === undefined) return 0
    if (!lengthText.test(length)) throw new HttpProtocolError(400, 'content-length is not a number of bytes')
    return Number(length)
  }
  if (length !== undefined)
    throw new HttpProtocolError(400, 'a body has a content-length or a transfer-encoding, never both')
  if (isHttp10) throw new HttpProtocolError(400, 'HTTP/1.0 knows no transfer-encoding')
  if (coding.toLowerCase() !== 'chunked') throw new HttpProtocolError(501, 'the only transfer-encoding is chunked')
  return 'chunked'
}

/** Without a prototype: `constructor` and `__proto__` are valid field names. */
function noHeaders(): Record<string, string> {
  return { __proto__: null } as unknown as Record<string, string>
}

// The head of a response, as text with one character per byte.

/** How the client finds the end of the body; `none` when there is no body. */
export type BodyEnd = { readonly bytes: number } | 'chunked' | 'close' | 'none'

interface ResponseHeadOptions {
  readonly end: BodyEnd
  readonly date: string
  /** The `connection` header; absent when the default of the version applies. */
  readonly connection: 'close' | 'keep-alive' | 'Upgrade' | undefined
}

export function formatResponseHead(response: WireResponse, { end, date, connection }: ResponseHeadOptions): string {
  const { status } = response
  if (!(Number.isInteger(status) && ((status >= 200 && status <= 599) || (status === 101 && response.upgrade))))
    throw new RangeError(`a response has a status from 200 to 599, got ${status}`)
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (const [name, value] of fieldsToSend(response)) text += `${name}: ${value}\r\n`
  if (response.headers['date'] === undefined) text += `date: ${date}\r\n`
  if (connection !== undefined) text += `connection: ${connection}\r\n`
  if (response.upgrade) text += `upgrade: ${response.upgrade.protocol}\r\n`
  if (typeof end === 'object') text += `content-length: ${end.bytes}\r\n`
  else if (end === 'chunked') text += 'transfer-encoding: chunked\r\n'
  return `${text}\r\n`
}
