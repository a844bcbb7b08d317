/**
 * Reads the JSON paths that printer columns are made of: `.spec.replicas`, `.metadata.labels['app\.kubernetes\.io/name']`,
 * `.status.conditions[?(@.type=="Ready")].status`.
 *
 * The language is kubectl's, oddities included: a quoted key is read as a path again, so its dots need a backslash; a
 * bracket ends at the first `]`; an unknown operator or word is no mistake here but finds nothing later. Invariant: the
 * text is read once from left to right, and what is nested is shorter, so the cost is bounded by the length.
 */
import type { JsonPath, JsonPathSlice, JsonPathStep } from './path.ts'

/**
 * The steps of a path.
 *
 * @throws {RangeError} when the text is no path.
 */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > textLengthMax)
    throw new RangeError(`a JSON path has at most ${textLengthMax} characters, got ${text.length}`)
  return new Parser(text).parse()
}

const textLengthMax = 4096
const terminators = /[\s.,[\]$@{}]/
const wordStart = /[\p{L}\p{N}_]/u
const slicePattern = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/
const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s

class Parser {
  readonly #text: string
  #at = 0
  readonly #steps: JsonPathStep[] = []

  constructor(text: string) {
    this.#text = text
  }

  parse(): JsonPath {
    while (this.#at < this.#text.length) this.#step()
    return this.#steps
  }

  #step(): void {
    const text = this.#text
    const character = text.charAt(this.#at)
    if (text.startsWith('[?(', this.#at)) this.#filter()
    else if (text.startsWith('..', this.#at)) this.#descend()
    else if (character === '[') this.#bracket()
    else if (character === '"' || character === "'") this.#quoted(character)
    else if (character === '.') {
      this.#at++
      this.#field()
    } else if (/[\d+-]/.test(character)) this.#number()
    else if (wordStart.test(character)) this.#word()
    else if (' @$'.includes(character)) this.#at++
    else throw this.#mistake(`does not expect ${JSON.stringify(character)}`)
  }

  #field(): void {
    const name = this.#takeWord()
    this.#steps.push(name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') })
  }

  #descend(): void {
    if (this.#steps.at(-1)?.type === 'descend') throw this.#mistake('descends twice in a row')
    this.#at += 2
    this.#steps.push({ type: 'descend' })
    if (wordStart.test(this.#text.charAt(this.#at))) this.#field()
  }

  #word(): void {
    const name = this.#takeWord()
    this.#steps.push(
      name === 'true' || name === 'false' ? { type: 'literal', value: name === 'true' } : { type: 'word', name },
    )
  }

  #number(): void {
    const [digits = ''] = /^[+-]?[\d.]*/.exec(this.#text.slice(this.#at)) ?? []
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(digits))
      throw this.#mistake(`cannot read the number ${JSON.stringify(digits)}`)
    this.#at += digits.length
    this.#steps.push({ type: 'literal', value: Number(digits) })
  }

  #quoted(quote: string): void {
    let end = this.#text.indexOf(quote, this.#at + 1)
    while (end > 0 && this.#text.charAt(end - 1) === '\\') end = this.#text.indexOf(quote, end + 1)
    const inner = end < 0 ? '\n' : this.#text.slice(this.#at + 1, end)
    if (inner.includes('\n')) throw this.#mistake('has a text without an end')
    const value = unescape(inner, quote)
    if (value === undefined) throw this.#mistake(`cannot read the text ${quote}${inner}${quote}`)
    this.#at = end + 1
    this.#steps.push({ type: 'literal', value })
  }

  #bracket(): void {
    const end = this.#text.indexOf(']', this.#at)
    const inner = end < 0 ? '\n' : this.#text.slice(this.#at + 1, end)
    if (inner.includes('\n')) throw this.#mistake('has a bracket without an end')
    this.#at = end + 1
    const alternatives = inner.split(',')
    const key = /^'([^']*)'$/.exec(inner)?.[1]
    if (alternatives.length > 1)
      this.#steps.push({ type: 'union', paths: alternatives.map((one) => parseJsonPath(`[${one.trim()}]`)) })
    else if (key !== undefined) this.#steps.push(...parseJsonPath(`.${key}`))
    else this.#steps.push(this.#slice(inner === '*' ? ':' : inner))
  }

  #slice(inner: string): JsonPathSlice {
    const match = slicePattern.exec(inner)
    if (!match) throw this.#mistake(`cannot read the index ${JSON.stringify(inner)}`)
    const [from, to, step] = [match[1] ?? '', match[2]?.slice(1) ?? '', match[3]?.slice(1) ?? ''].map((digits) => {
      if (digits === '-') throw this.#mistake('has an index without digits')
      return digits === '' ? undefined : Number(digits)
    })
    return {
      type: 'slice',
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(step !== undefined && { step }),
      single: match[2] === undefined,
    }
  }

  #filter(): void {
    const end = this.#filterEnd(this.#at + 3)
    if (this.#text.charAt(end + 1) !== ']') throw this.#mistake('has a filter without an end')
    const inner = this.#text.slice(this.#at + 3, end)
    this.#at = end + 2
    const [, left = inner, operator = 'exists', right = ''] = comparison.exec(inner) ?? []
    this.#steps.push({ type: 'filter', left: parseJsonPath(left), operator, right: parseJsonPath(right) })
  }

  /** Where the parenthesis closes: the first one outside the only quoted text a filter may have. */
  #filterEnd(start: number): number {
    let [quote, closed] = ['', false]
    for (let index = start; index < this.#text.length; index++) {
      const character = this.#text.charAt(index)
      if (character === '\n') break
      if (character === '"' || character === "'") {
        if (quote === '') quote = character
        else if (character === quote && this.#text.charAt(index - 1) !== '\\') closed = true
      } else if (character === ')' && (quote !== '') === closed) return index
    }
    throw this.#mistake('has a filter without an end')
  }

  /** Everything up to the next terminator; a backslash takes away the meaning of the character after it. */
  #takeWord(): string {
    const start = this.#at
    while (this.#at < this.#text.length && !terminators.test(this.#text.charAt(this.#at)))
      this.#at += this.#text.charAt(this.#at) === '\\' ? 2 : 1
    if (this.#at > this.#text.length) throw this.#mistake('ends with a backslash')
    return this.#text.slice(start, this.#at)
  }

  #mistake(complaint: string): RangeError {
    return new RangeError(`the JSON path ${JSON.stringify(this.#text)} ${complaint}, at character ${this.#at + 1}`)
  }
}

const escapes = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
])

const escapePattern = /\\(x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[0-3][0-7]{2}|.|$)/g

/** The text without its escapes, which are those of Go; `undefined` when one of them is none. */
function unescape(text: string, quote: string): string | undefined {
  let valid = true
  const value = text.replace(escapePattern, (_, escape: string) => {
    if (escape.length > 1) {
      const code = /^\d/.test(escape) ? parseInt(escape, 8) : parseInt(escape.slice(1), 16)
      valid &&= code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000)
      return valid ? String.fromCodePoint(code) : ''
    }
    const character = escape === quote ? quote : escapes.get(escape)
    valid &&= character !== undefined
    return character ?? ''
  })
  return valid ? value : undefined
}
