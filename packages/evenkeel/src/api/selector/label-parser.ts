/**
 * The text form of label selectors: `app=web,tier in (front,back),!legacy`.
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] KEY | KEY ( "=" | "==" | "!=" | ">" | "<" ) [ VALUE ] | KEY ( "in" | "notin" ) "(" values ")"
 *     values      = [ VALUE ] { "," [ VALUE ] }
 *
 * There is no quoting. White space separates and is otherwise ignored; `in` and `notin` are words only where an
 * operator is expected, so they may be keys and values. A missing value is the empty text.
 */
import { checkQualifiedName, compareText } from '@evenkeel/cel/primitives'
import { badRequest } from '../errors/constructors.ts'
import { fieldError, formatFieldError, formatFieldErrors } from '../errors/field-error.ts'
import { validateLabelRequirement, type LabelOperator, type LabelRequirement } from './label-selector.ts'

/**
 * Parses a selector; the requirements are sorted by key. The empty string selects everything.
 *
 * @throws {ApiError} `BadRequest`, with the text of upstream.
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  if (last?.text === text) return last.requirements
  const requirements = new Parser(tokenize(text)).parse().sort((a, b) => compareText(a.key, b.key))
  if (text.length <= rememberedMax) last = { text, requirements }
  return requirements
}

/** A request reads its selector twice, for authorization and for its work, and a client often opens many watches with one. */
let last: { readonly text: string; readonly requirements: readonly LabelRequirement[] } | undefined
const rememberedMax = 65_536

type TokenKind = 'end' | 'identifier' | 'in' | 'notin' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/** Every operator that stands between key and value, as messages list them. */
const binaryOperators = 'in, notin, =, ==, !=, gt, lt'
const operators = new Map<TokenKind, LabelOperator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
])
// A token is a symbol, longest first, or a run of characters that are neither symbol nor space. NUL ends the text,
// unless it directly follows a token: upstream skips it there, and two parsers that disagree are a security risk.
const tokenPattern = /[ \t\r\n]*(?:(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n\0]+))\0?|(\0))/y

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  tokenPattern.lastIndex = 0
  for (let match = tokenPattern.exec(text); match !== null && match[3] === undefined; match = tokenPattern.exec(text)) {
    const [, symbol, word = ''] = match
    const kind = (symbol ?? (word === 'in' || word === 'notin' ? word : 'identifier')) as TokenKind
    tokens.push({ kind, text: symbol ?? word })
  }
  return [...tokens, endToken]
}

const endToken: Token = { kind: 'end', text: '' }

class Parser {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    while (this.#peek().kind !== 'end') {
      if (requirements.length === 0) this.#expectStart("!, identifier, or 'end of string'")
      requirements.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return requirements
      if (next.kind !== ',') throw complain(`found '${next.text}', expected: ',' or 'end of string'`)
      this.#expectStart("identifier after ','")
    }
    return requirements
  }

  /** The next token as a key or value would see it: there, `in` and `notin` are plain words. */
  #peek(): Token {
    const token = this.#peekOperator()
    return token.kind === 'in' || token.kind === 'notin' ? { ...token, kind: 'identifier' } : token
  }

  #peekOperator(): Token {
    return this.#tokens[this.#position] ?? endToken
  }

  #take(): Token {
    const token = this.#peek()
    this.#position++
    return token
  }

  #expectStart(expected: string): void {
    const { kind, text } = this.#peek()
    if (kind !== 'identifier' && kind !== '!') throw complain(`found '${text}', expected: ${expected}`)
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#position++
    const key = this.#key()
    const next = this.#peek().kind
    // A negated key takes no operator: in `!key=value` the caller stumbles over the `=`.
    if (negated) return check({ key, operator: '!', values: [] })
    return next === 'end' || next === ',' ? check({ key, operator: 'exists', values: [] }) : this.#comparison(key)
  }

  #key(): string {
    const { kind, text } = this.#take()
    if (kind !== 'identifier') throw complain(`found '${text}', expected: identifier`, true)
    const complaints = checkQualifiedName(text)
    if (complaints.length > 0)
      throw complain(formatFieldError(fieldError.invalid(undefined, text, complaints.join('; '))), true)
    return text
  }

  #comparison(key: string): LabelRequirement {
    const token = this.#peekOperator()
    this.#position++
    const operator = operators.get(token.kind)
    if (operator === undefined) throw complain(`found '${token.text}', expected: ${binaryOperators}`, true)
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()]
    return check({ key, operator, values: [...new Set(values)].sort(compareText) })
  }

  #value(): string {
    const { kind, text } = this.#peek()
    if (kind === 'end' || kind === ',') return ''
    if (kind !== 'identifier') throw complain(`found '${text}', expected: identifier`, true)
    this.#position++
    return text
  }

  #values(): string[] {
    const open = this.#take()
    if (open.kind !== '(') throw complain(`found '${open.text}' expected: '('`, true)
    const values: string[] = []
    for (;;) {
      const { kind, text } = this.#peek()
      if (kind === 'identifier') this.#position++
      else if (kind !== ',' && kind !== ')')
        throw complain(`found '${text}', expected: ${expectedValue(values.length === 0)}`, true)
      values.push(kind === 'identifier' ? text : '')
      const next = this.#take()
      if (next.kind === ')') return values
      if (next.kind !== ',') throw complain(`found '${next.text}', expected: ',' or ')'`, true)
    }
  }
}

function expectedValue(isFirst: boolean): string {
  return isFirst ? "',', ')' or identifier" : "',', or identifier"
}

function check(requirement: LabelRequirement): LabelRequirement {
  const errors = validateLabelRequirement(requirement)
  if (errors.length > 0) throw complain(formatFieldErrors(errors), true)
  return requirement
}

function complain(what: string, insideRequirement = false): Error {
  return badRequest(insideRequirement ? `unable to parse requirement: ${what}` : what)
}
