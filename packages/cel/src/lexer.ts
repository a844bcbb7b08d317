/**
 * The lexer: text to tokens by longest match, and the values of literals.
 *
 * A token keeps its quotes and escapes; {@link readString} and {@link readBytes} decode them: `\x41` and `\101` are characters in
 * a string and bytes in a bytes literal; `\u` exists in strings only. One pass without backtracking beyond the current token, so
 * the time is linear.
 */
import { SyntaxIssue, type Issue } from './issues.ts'
import { Double, intIfFits, uintIfFits, type Value } from './values.ts'

type TokenKind = 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'identifier' | 'escaped' | 'symbol' | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly offset: number
}

interface Tokens {
  readonly tokens: readonly Token[]
  /** Characters outside any token; they are skipped. */
  readonly issues: readonly Issue[]
}

export function tokenize(text: string): Tokens {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let position = 0
  while (position < text.length) {
    blank.lastIndex = position
    position += blank.exec(text)?.[0].length ?? 0
    if (position >= text.length) break
    const token = nextToken(text, position)
    if (typeof token === 'number') {
      issues.push({
        offset: position,
        message: `Syntax error: token recognition error at: '${text.slice(position, token)}'`,
      })
      position = token
      continue
    }
    tokens.push(token)
    position += token.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length })
  return { tokens, issues }
}

const blank = /(?:[\t \r\n\f]+|\/\/[^\n]*)*/y
const double = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y
const integer = /(?:0x[0-9a-fA-F]+|\d+)(?:[uU])?/y
const word = /[A-Za-z_][A-Za-z0-9_]*/y
const escaped = /`[A-Za-z0-9_./ -]+`/y
const symbol = /(?:==|!=|<=|>=|&&|\|\||[<>[\](){}.,\-!?:+*/%])/y
const quotePrefix = /(?:[bB]?[rR]?)("""|'''|"|')/y

/** The token at an offset, or the end of invalid input. */
function nextToken(text: string, offset: number): Token | number {
  const quoted = quotedToken(text, offset)
  if (quoted) return quoted
  const floating = match(double, text, offset)
  const whole = match(integer, text, offset)
  if (floating !== undefined && floating.length > (whole?.length ?? 0))
    return { kind: 'double', text: floating, offset }
  if (whole !== undefined) return { kind: /[uU]$/.test(whole) ? 'uint' : 'int', text: whole, offset }
  const name = match(word, text, offset)
  if (name !== undefined) return { kind: 'identifier', text: name, offset }
  const mark = match(symbol, text, offset)
  if (mark !== undefined) return { kind: 'symbol', text: mark, offset }
  const backticked = match(escaped, text, offset)
  if (backticked !== undefined) return { kind: 'escaped', text: backticked, offset }
  // An incomplete operator includes the unexpected character, as in the messages of cel-go.
  const width = /[&|=]/.test(text[offset]!) ? 2 : (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1
  return Math.min(text.length, offset + width)
}

function quotedToken(text: string, offset: number): Token | number | undefined {
  quotePrefix.lastIndex = offset
  const opening = quotePrefix.exec(text)
  const quote = opening?.[1]
  if (!opening || quote === undefined) return undefined
  const prefix = opening[0].slice(0, -quote.length)
  const end = endOfQuoted(text, offset + opening[0].length, { quote, raw: /r/i.test(prefix) })
  if (end < 0) return -end
  return { kind: /b/i.test(prefix) ? 'bytes' : 'string', text: text.slice(offset, end), offset }
}

/** The offset after the closing quote; on an error, the negative offset of the error. */
function endOfQuoted(text: string, from: number, { quote, raw }: { quote: string; raw: boolean }): number {
  for (let position = from; position < text.length; position++) {
    if (text.startsWith(quote, position)) return position + quote.length
    const character = text[position]
    if (quote.length === 1 && (character === '\n' || character === '\r')) return -(position + 1)
    if (character !== '\\' || raw) continue
    const sequence = match(escapeSequence, text, position)
    if (sequence === undefined)
      return -Math.min(text.length, position + (match(escapeStart, text, position)?.length ?? 1) + 1)
    position += sequence.length - 1
  }
  return -text.length
}

const escapeSequence = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/y
const escapeStart = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y

function match(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset
  return pattern.exec(text)?.[0]
}

/** The value of a number literal. */
export function readNumber({ kind, text, offset }: Token): Value {
  const value =
    kind === 'double' ? doubleFrom(text) : kind === 'uint' ? uintIfFits(BigInt(text.slice(0, -1))) : intFrom(text)
  if (value === undefined) throw new SyntaxIssue(`invalid ${kind} literal`, offset)
  return value
}

function doubleFrom(text: string): Double | undefined {
  const value = Number(text)
  return Number.isFinite(value) ? new Double(value) : undefined
}

function intFrom(text: string): Value | undefined {
  return intIfFits(text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text))
}

/** The text of a string literal. */
export function readString({ text, offset }: Token): string {
  const { body, raw } = takeQuotesOff(text)
  return raw
    ? body
    : pieces(body, offset)
        .map((piece) => (typeof piece === 'string' ? piece : String.fromCodePoint(piece.code)))
        .join('')
}

/** The bytes of a bytes literal: UTF-8, with numeric escapes as single bytes. */
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
