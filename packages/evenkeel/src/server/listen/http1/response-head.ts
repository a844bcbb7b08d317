/**
 * The head of an HTTP/1.1 response, as text with a character per byte.
 */
import { STATUS_CODES } from 'node:http'
import type { WireResponse } from '#wire'
import { fieldsToSend } from '../response.ts'

/** How the other side knows where the body ends; `none` when there is no body to speak of. */
export type BodyEnd = { readonly bytes: number } | 'chunked' | 'close' | 'none'

interface ResponseHeadOptions {
  readonly end: BodyEnd
  readonly date: string
  /** What to say about the connection; nothing, when the version's default holds. */
  readonly connection: 'close' | 'keep-alive' | undefined
}

export function formatResponseHead(response: WireResponse, { end, date, connection }: ResponseHeadOptions): string {
  const { status } = response
  if (!(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new RangeError(`a response has a status from 200 to 599, got ${status}`)
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (const [name, value] of fieldsToSend(response)) text += `${name}: ${value}\r\n`
  if (response.headers['date'] === undefined) text += `date: ${date}\r\n`
  if (connection !== undefined) text += `connection: ${connection}\r\n`
  if (typeof end === 'object') text += `content-length: ${end.bytes}\r\n`
  else if (end === 'chunked') text += 'transfer-encoding: chunked\r\n'
  return `${text}\r\n`
}
