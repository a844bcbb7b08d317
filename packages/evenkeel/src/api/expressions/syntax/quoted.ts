/**
 * What string and bytes literals mean: quotes taken off, escapes resolved.
 *
 * `\x41` and `\101` are characters in a string and bytes in a bytes literal; `\u` exists in strings only.
 */
import { SyntaxIssue } from './issue.ts'
import type { Token } from './lexer.ts'

/** The text of a string literal. */
export function readString({ text, offset }: Token): string {
  const { body, raw } = takeQuotesOff(text)
  return raw
    ? body
    : pieces(body, offset)
        .map((piece) => (typeof piece === 'string' ? piece : String.fromCodePoint(piece.code)))
        .join('')
}

/** The bytes of a bytes literal: its text in UTF-8, numeric escapes as single bytes. */
export function readBytes({ text, offset }: Token): Uint8Array {
  const { body, raw } = takeQuotesOff(text.slice(1))
  if (raw) return encoder.encode(body)
  const bytes: number[] = []
  for (const piece of pieces(body, offset)) {
    if (typeof piece === 'string') for (const byte of encoder.encode(piece)) bytes.push(byte)
    else if (piece.unicode) throw new SyntaxIssue('unable to unescape string', offset)
    else bytes.push(piece.code)
  }
  return Uint8Array.from(bytes)
}

const encoder = new TextEncoder()
const escape = /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y
const simple = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

type Piece = string | { readonly code: number; readonly unicode: boolean }

function takeQuotesOff(text: string): { body: string; raw: boolean } {
  const raw = text.startsWith('r') || text.startsWith('R')
  const quoted = (raw ? text.slice(1) : text).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const width = quoted.length >= 6 && /^(?:"""|''')/.test(quoted) ? 3 : 1
  return { body: quoted.slice(width, -width), raw }
}

function pieces(body: string, offset: number): Piece[] {
  const result: Piece[] = []
  let position = 0
  while (position < body.length) {
    const next = body.indexOf('\\', position)
    if (next < 0) return [...result, body.slice(position)]
    if (next > position) result.push(body.slice(position, next))
    escape.lastIndex = next
    const found = escape.exec(body)
    if (!found) throw new SyntaxIssue('unable to unescape string', offset)
    result.push(readEscape(found, offset))
    position = next + found[0].length
  }
  return result
}

function readEscape([, letter, hex, short, long, octal]: RegExpExecArray, offset: number): Piece {
  if (letter !== undefined) return simple.get(letter) ?? letter
  if (hex !== undefined) return { code: parseInt(hex, 16), unicode: false }
  if (octal !== undefined) return { code: parseInt(octal, 8), unicode: false }
  const code = parseInt(short ?? long ?? '', 16)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new SyntaxIssue('invalid unicode code point', offset)
  return { code, unicode: true }
}
