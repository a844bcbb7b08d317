/**
 * The parser: tokens to a tree, by recursive descent over the grammar of CEL; macros are expanded bottom-up.
 *
 * Limits keep the stack from overflowing, here and in everything that traverses the tree later: at most 100,000 characters,
 * nesting at most 250 deep, and chains such as `a.b.c` or `1 + 2 + 3` at most 250 long. Chains of `&&` and `||` are not limited:
 * they become balanced trees.
 *
 * Example. `a && b && c && d` becomes `(a && b) && (c && d)`, the same tree as in cel-go, because cost estimates depend on it.
 */
import {
  call,
  identifier,
  literal,
  type ListNode,
  type MapEntry,
  type MapNode,
  type Node,
  type StructField,
} from './ast.ts'
import { keywords } from './escape.ts'
import { SyntaxIssue, type Issue } from './issues.ts'
import { readBytes, readNumber, readString, tokenize, type Token } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { characterCount } from './primitives/text.ts'
import { Bytes } from './values.ts'

/** Parses one expression. */
export function parseExpression(text: string): Node | { readonly issues: readonly Issue[] } {
  const characters = text.length <= sizeMax ? text.length : characterCount(text)
  if (characters > sizeMax) {
    return { issues: [{ message: `expression code point size exceeds limit: size: ${characters}, limit ${sizeMax}` }] }
  }
  const { tokens, issues } = tokenize(text)
  try {
    const node = new Parser(tokens).parse()
    return issues.length > 0 ? { issues } : node
  } catch (error) {
    if (!(error instanceof SyntaxIssue)) throw error
    return {
      issues: [...issues, { message: error.message, ...(error.offset !== undefined && { offset: error.offset }) }],
    }
  }
}

const sizeMax = 100_000
const depthMax = 250
const operandStart =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
const relations = new Set(['<', '<=', '>=', '>', '==', '!='])
const words = new Set(['in', 'true', 'false', 'null'])

class Parser {
  readonly #tokens: readonly Token[]
  #position = 0
  #depth = 0
  #links = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): Node {
    const node = this.#expression()
    const token = this.#peek()
    if (token.kind !== 'end')
      throw this.#unexpected(token, '<EOF>', this.#peek(1).kind === 'end' ? 'extraneous' : 'mismatched')
    return node
  }

  #expression(): Node {
    return this.#nested(() => {
      const condition = this.#logical('||')
      const question = this.#peek()
      if (!this.#accept('?')) return condition
      const yes = this.#logical('||')
      this.#expect(':')
      return call('_?_:_', question.offset, condition, yes, this.#expression())
    })
  }

  #logical(symbol: '||' | '&&'): Node {
    const operand = () => (symbol === '||' ? this.#logical('&&') : this.#relation())
    const terms = [operand()]
    const offsets: number[] = []
    for (let token = this.#peek(); this.#accept(symbol); token = this.#peek()) {
      offsets.push(token.offset)
      terms.push(operand())
    }
    return offsets.length === 0 ? terms[0]! : balance(`_${symbol}_`, terms, offsets)
  }

  #relation(): Node {
    return this.#chain(
      () => this.#sum(),
      (token) =>
        (relations.has(token.text) && token.kind === 'symbol') || (token.text === 'in' && token.kind === 'identifier'),
    )
  }

  #sum(): Node {
    return this.#chain(
      () => this.#product(),
      (token) => token.kind === 'symbol' && (token.text === '+' || token.text === '-'),
    )
  }

  #product(): Node {
    return this.#chain(
      () => this.#unary(),
      (token) => token.kind === 'symbol' && (token.text === '*' || token.text === '/' || token.text === '%'),
    )
  }

  #chain(operand: () => Node, isOperator: (token: Token) => boolean): Node {
    const links = this.#links
    let left = operand()
    for (let token = this.#peek(); isOperator(token); token = this.#peek()) {
      this.#position++
      this.#lengthen()
      const right = operand()
      left = call(token.text === 'in' ? '@in' : `_${token.text}_`, token.offset, left, right)
    }
    this.#links = links
    return left
  }

  #unary(): Node {
    const first = this.#peek()
    if (first.kind !== 'symbol' || (first.text !== '!' && first.text !== '-')) return this.#member(this.#primary())
    let count = 0
    while (this.#accept(first.text)) count++
    const next = this.#peek()
    if (first.text === '-' && count === 1 && (next.kind === 'int' || next.kind === 'double')) {
      // A single sign is part of the number; otherwise -9223372036854775808 could not be written.
      this.#position++
      const offset = this.#tokens[this.#position - 2]?.offset ?? next.offset
      return this.#member(literal(readNumber({ kind: next.kind, text: `-${next.text}`, offset }), offset))
    }
    const operand = this.#member(this.#primary())
    if (count % 2 === 0) return operand
    return call(first.text === '!' ? '!_' : '-_', first.offset, operand)
  }

  #member(primary: Node): Node {
    const links = this.#links
    let node = primary
    for (let token = this.#peek(); token.kind === 'symbol'; token = this.#peek()) {
      if (token.text === '.') node = this.#selection(node, token)
      else if (token.text === '[') node = this.#index(node, token)
      else break
      this.#lengthen()
    }
    this.#links = links
    return node
  }

  #selection(operand: Node, dot: Token): Node {
    this.#position++
    const optional = this.#accept('?')
    const name = this.#fieldName()
    if (optional) return call('_?._', dot.offset, operand, literal(fieldText(name), name.offset))
    const open = this.#peek()
    if (name.kind === 'escaped' || !this.#accept('('))
      return { kind: 'select', operand, field: fieldText(name), testOnly: false, offset: dot.offset }
    const parameters = this.#parameters()
    return expandMacro({ kind: 'call', name: name.text, target: operand, arguments: parameters, offset: open.offset })
  }

  #index(operand: Node, bracket: Token): Node {
    this.#position++
    const optional = this.#accept('?')
    const index = this.#expression()
    this.#expect(']')
    return call(optional ? '_[?_]' : '_[_]', bracket.offset, operand, index)
  }

  #primary(): Node {
    const token = this.#peek()
    switch (token.kind) {
      case 'identifier':
        return words.has(token.text) ? this.#word(token) : this.#name()
      case 'int':
      case 'uint':
      case 'double':
        this.#position++
        return literal(readNumber(token), token.offset)
      case 'string':
        this.#position++
        return literal(readString(token), token.offset)
      case 'bytes':
        this.#position++
        return literal(new Bytes(readBytes(token)), token.offset)
      case 'symbol':
        return this.#bracketed(token)
      default:
        throw this.#noOperand(token)
    }
  }

  #word(token: Token): Node {
    if (token.text === 'in') throw this.#noOperand(token)
    this.#position++
    return literal(token.text === 'null' ? null : token.text === 'true', token.offset)
  }

  #bracketed(token: Token): Node {
    if (token.text === '.') return this.#name()
    this.#position++
    if (token.text === '[') return this.#list(token)
    if (token.text === '{') return this.#map(token)
    if (token.text !== '(') {
      this.#position--
      throw this.#noOperand(token)
    }
    const inner = this.#expression()
    this.#expect(')')
    return inner
  }

  #name(): Node {
    const dot = this.#accept('.') ? '.' : ''
    const token = this.#peek()
    if (token.kind !== 'identifier' || words.has(token.text)) throw this.#unexpected(token, 'IDENTIFIER', 'mismatched')
    const struct = this.#structName()
    if (struct) return this.#struct(dot + struct)
    this.#position++
    if (keywords.has(token.text)) throw new SyntaxIssue(`reserved identifier: ${token.text}`, token.offset)
    const open = this.#peek()
    if (!this.#accept('(')) return identifier(dot + token.text, token.offset)
    return expandMacro({ kind: 'call', name: dot + token.text, arguments: this.#parameters(), offset: open.offset })
  }

  /** `a.b.C` if a `{` follows, which makes it a type name; the position is then at the brace. */
  #structName(): string | undefined {
    let position = this.#position
    let name = ''
    while (this.#tokens[position]?.kind === 'identifier') {
      name += this.#tokens[position]!.text
      const next = this.#tokens[position + 1]
      if (next?.text === '{' && next.kind === 'symbol') {
        this.#position = position + 1
        return name
      }
      if (next?.text !== '.') return undefined
      name += '.'
      position += 2
    }
    return undefined
  }

  #struct(typeName: string): Node {
    const brace = this.#peek()
    this.#expect('{')
    const fields: StructField[] = []
    while (!this.#accept('}')) {
      const optional = this.#accept('?')
      const name = this.#fieldName()
      const colon = this.#expect(':')
      fields.push({ name: fieldText(name), value: this.#expression(), optional, offset: colon.offset })
      if (!this.#accept(',') && this.#peek().text !== '}')
        throw this.#unexpected(this.#peek(), "{'}', ','}", 'mismatched')
    }
    return { kind: 'struct', typeName, fields, offset: brace.offset }
  }

  #list(bracket: Token): ListNode {
    const elements: Node[] = []
    const optional = new Set<number>()
    while (!this.#accept(']')) {
      if (this.#accept('?')) optional.add(elements.length)
      elements.push(this.#expression())
      if (!this.#accept(',') && this.#peek().text !== ']')
        throw this.#unexpected(this.#peek(), "{']', ','}", 'mismatched')
    }
    return { kind: 'list', elements, optional, offset: bracket.offset }
  }

  #map(brace: Token): MapNode {
    const entries: MapEntry[] = []
    while (!this.#accept('}')) {
      const optional = this.#accept('?')
      const key = this.#expression()
      const colon = this.#expect(':')
      entries.push({ key, value: this.#expression(), optional, offset: colon.offset })
      if (!this.#accept(',') && this.#peek().text !== '}')
        throw this.#unexpected(this.#peek(), "{'}', ','}", 'mismatched')
    }
    return { kind: 'map', entries, offset: brace.offset }
  }

  #parameters(): Node[] {
    const parameters: Node[] = []
    if (this.#accept(')')) return parameters
    const first = this.#peek()
    if (first.kind === 'end') throw this.#unexpected(first, operandStart.replace("'(',", "'(', ')',"), 'mismatched')
    do parameters.push(this.#expression())
    while (this.#accept(','))
    this.#expect(')')
    return parameters
  }

  #fieldName(): Token {
    const token = this.#peek()
    if (token.text === 'in' && token.kind === 'identifier')
      throw new SyntaxIssue("Syntax error: no viable alternative at input '.in'", token.offset)
    if (token.kind !== 'escaped' && (token.kind !== 'identifier' || words.has(token.text)))
      throw this.#unexpected(token, 'IDENTIFIER', 'mismatched')
    this.#position++
    return token
  }

  #nested(parse: () => Node): Node {
    if (++this.#depth > depthMax) throw new SyntaxIssue(`expression recursion limit exceeded: ${depthMax}`)
    const node = parse()
    this.#depth--
    return node
  }

  /** Counts one more link of a chain, which makes the tree one level deeper. */
  #lengthen(): void {
    if (++this.#links > depthMax) throw new SyntaxIssue('max recursion depth exceeded')
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#position + ahead, this.#tokens.length - 1)]!
  }

  #accept(symbol: string): boolean {
    const token = this.#peek()
    if (token.kind !== 'symbol' || token.text !== symbol) return false
    this.#position++
    return true
  }

  #expect(symbol: string): Token {
    const token = this.#peek()
    if (this.#accept(symbol)) return token
    const next = this.#peek(1)
    if (next.kind === 'symbol' && next.text === symbol) throw this.#unexpected(token, `'${symbol}'`, 'extraneous')
    const couldFollow =
      symbol === ':' ? startsOperand(token) : token.kind === 'end' || (token.kind === 'symbol' && !startsOperand(token))
    if (couldFollow) throw new SyntaxIssue(`Syntax error: missing '${symbol}' at '${token.text}'`, token.offset)
    throw this.#unexpected(token, `'${symbol}'`, 'mismatched')
  }

  #noOperand(token: Token): SyntaxIssue {
    return this.#unexpected(
      token,
      operandStart,
      token.kind !== 'end' && startsOperand(this.#peek(1)) ? 'extraneous' : 'mismatched',
    )
  }

  #unexpected(token: Token, expected: string, how: 'mismatched' | 'extraneous'): SyntaxIssue {
    return new SyntaxIssue(`Syntax error: ${how} input '${token.text}' expecting ${expected}`, token.offset)
  }
}

/** A chain of one logical operator as a tree of logarithmic depth. */
function balance(name: string, terms: readonly Node[], offsets: readonly number[]): Node {
  const build = (low: number, high: number): Node => {
    const middle = Math.floor((low + high + 1) / 2)
    const left = middle === low ? terms[middle]! : build(low, middle - 1)
    const right = middle === high ? terms[middle + 1]! : build(middle + 1, high)
    return call(name, offsets[middle]!, left, right)
  }
  return build(0, offsets.length - 1)
}

function startsOperand({ kind, text }: Token): boolean {
  return kind === 'symbol'
    ? ['[', '{', '(', '.', '-', '!'].includes(text)
    : kind !== 'end' && kind !== 'escaped' && text !== 'in'
}

function fieldText({ kind, text }: Token): string {
  return kind === 'escaped' ? text.slice(1, -1) : text
}
