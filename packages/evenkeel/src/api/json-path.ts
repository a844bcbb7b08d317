/**
 * JSON paths of printer columns and of `wait --for jsonpath`, parsed and evaluated: `.spec.replicas`,
 * `.metadata.labels['app\.kubernetes\.io/name']`, `.status.conditions[?(@.type=="Ready")].status`.
 *
 * The syntax is kubectl's, with its quirks: a quoted key is parsed as a path again, so its dots need a backslash; a
 * bracket ends at the first `]`; an unknown operator or word is not a syntax error but matches nothing. No match (`[]`)
 * differs from a step that does not fit the data (`undefined`), because a filter distinguishes them, although upstream
 * shows neither.
 *
 * Invariants: the text is parsed once from left to right, and nested parts are shorter, so the cost is bounded by the
 * length. Evaluation never throws, whatever the data, and visits a bounded number of values, so a recursive path cannot
 * block a list.
 */
import { pushAll, getOwn, isJsonObject } from '@evenkeel/cel/primitives'

/**
 * The steps of a path.
 *
 * @throws {RangeError} for a syntax error.
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
    else if (key !== undefined) pushAll(this.#steps, parseJsonPath(`.${key}`))
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

  /** Everything up to the next terminator; a backslash escapes the next character. */
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

/** The unescaped text, by the rules of Go; `undefined` for an invalid escape. */
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

// The syntax tree. A path is a list of steps; each maps the values found so far to others.

export type JsonPath = readonly JsonPathStep[]

type JsonPathStep =
  | { readonly type: 'field'; readonly name: string }
  /** All items of an array or all values of an object. */
  | { readonly type: 'wildcard' }
  /** The values and everything below them. */
  | { readonly type: 'descend' }
  | JsonPathSlice
  | { readonly type: 'union'; readonly paths: readonly JsonPath[] }
  | JsonPathFilter
  /** A string, number or boolean, whatever was found before. */
  | { readonly type: 'literal'; readonly value: string | number | boolean }
  /** An identifier that is valid in a template but not in a column: evaluates to an error. */
  | { readonly type: 'word'; readonly name: string }

/** `[from:to:step]`; an index is a slice of one item. Negative bounds count from the end. */
interface JsonPathSlice {
  readonly type: 'slice'
  readonly from?: number
  readonly to?: number
  readonly step?: number
  /** Whether only `from` was written; `[-1]` ends at the end, which `to` cannot say. */
  readonly single: boolean
}

/** `[?(left operator right)]`, or `[?(left)]` for items where `left` exists. */
interface JsonPathFilter {
  readonly type: 'filter'
  readonly left: JsonPath
  readonly operator: string
  readonly right: JsonPath
}

// Evaluation of a path.

/**
 * All matches in order; `undefined` when a step does not fit the data or the budget is used up.
 *
 * @param budget is shared by the columns of an object
 */
export function findByJsonPath(
  path: JsonPath,
  data: unknown,
  budget: JsonPathBudget = { left: visitsMax },
): readonly unknown[] | undefined {
  return follow(path, [data], budget)
}

type Found = readonly unknown[] | undefined

/** How many more values may be visited. */
export interface JsonPathBudget {
  left: number
}

export const visitsMax = 100_000
/** A visited value of `..` takes as long as many others. */
const descentCost = 40

function follow(path: JsonPath, start: readonly unknown[], budget: JsonPathBudget): Found {
  let found: Found = start
  for (const step of path) {
    found = take(step, found, budget)
    if (found === undefined) return undefined
    budget.left -= found.length
    if (budget.left < 0) return undefined
  }
  return found
}

function take(step: JsonPathStep, values: readonly unknown[], budget: JsonPathBudget): Found {
  switch (step.type) {
    case 'field':
      return values.flatMap((value) => fieldOf(value, step.name))
    case 'wildcard':
      return values.flatMap(childrenOf)
    case 'descend':
      return descend(values, budget)
    case 'slice':
      return each(values.filter(isThere), (value) => sliceOf(value, step))
    case 'union':
      return each(step.paths, (path) => follow(path, values, budget))
    case 'filter':
      return each(values, (value) => filterItems(value, step, budget))
    case 'literal':
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    default:
      return undefined
  }
}

/** The results of all, or `undefined` if one of them failed. */
function each<T>(items: readonly T[], find: (item: T) => Found): Found {
  const all: unknown[] = []
  for (const item of items) {
    const found = find(item)
    if (found === undefined) return undefined
    for (const value of found) all.push(value)
  }
  return all
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined
}

function fieldOf(value: unknown, name: string): unknown[] {
  const child = isJsonObject(value) ? getOwn(value, name) : undefined
  return child === undefined ? [] : [child]
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value).filter((child) => child !== undefined) : []
}

/** Each value before its children; without recursion, because data may be deeply nested. */
function descend(values: readonly unknown[], budget: JsonPathBudget): Found {
  const all: unknown[] = []
  const pending = [...values].reverse()
  while (pending.length > 0) {
    budget.left -= descentCost
    if (budget.left < 0) return undefined
    const value = pending.pop()
    const children = childrenOf(value)
    // Upstream treats a string as a list of bytes, so a non-empty string counts as having children.
    if (children.length === 0 && (typeof value !== 'string' || value === '')) continue
    all.push(value)
    for (let at = children.length - 1; at >= 0; at--) pending.push(children[at])
  }
  return all
}

function sliceOf(value: unknown, { from = 0, to, step = 1, single }: JsonPathSlice): Found {
  if (!Array.isArray(value)) return undefined
  const begin = from < 0 ? from + value.length : from
  const end = endOf(value.length, { begin, to, single })
  if (begin === end) return []
  if (begin < 0 || begin >= value.length || end > value.length || begin > end || step <= 0) return undefined
  return value.slice(begin, end).filter((_, index) => index % step === 0)
}

function endOf(
  length: number,
  { begin, to, single }: { begin: number; to: number | undefined; single: boolean },
): number {
  if (single) return begin + 1
  if (to === undefined) return length
  return to < 0 ? to + length : to
}

function filterItems(value: unknown, { left, operator, right }: JsonPathFilter, budget: JsonPathBudget): Found {
  if (!Array.isArray(value)) return undefined
  return each(value, (item: unknown) => {
    const lefts = follow(left, [item], budget)
    if (operator === 'exists') return lefts !== undefined && lefts.length > 0 ? [item] : []
    const rights = lefts && follow(right, [item], budget)
    if (lefts === undefined || rights === undefined || lefts.length > 1) return undefined
    if (lefts.length === 0 || rights.length === 0) return []
    const holds = rights.length > 1 ? undefined : compare(lefts[0], operator, rights[0])
    return holds === undefined ? undefined : holds ? [item] : []
  })
}

/** `undefined` when the two cannot be compared. */
function compare(left: unknown, operator: string, right: unknown): boolean | undefined {
  if (kindOf(left) !== kindOf(right) || kindOf(left) === undefined) return undefined
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  return typeof left === 'boolean' ? undefined : comparisons.get(operator)?.(left as string, right as string)
}

const comparisons = new Map<string, (left: string, right: string) => boolean>([
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
])

/** The type for comparisons: integers and fractions are different types. */
function kindOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction'
  if (typeof value === 'bigint') return 'integer'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}
