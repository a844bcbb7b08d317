/**
 * Whether a text is one e-mail address as RFC 5322 has it: `a@example.com`, `"Ann B." <a@example.com>`.
 *
 * Groups of one (`friends: a@example.com;`) are not known, and the charset of an encoded name is not looked at.
 */
import { isAddress } from './addresses.ts'

export function isEmail(text: string): boolean {
  const reader = new Reader(text)
  return reader.mailbox() && reader.atEnd()
}

const atomText = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\u{10ffff}]$/u

/** Reads from the front and never goes back further than one address, so it is linear. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length
  }

  mailbox(): boolean {
    this.#skipSpace()
    const start = this.#at
    if (this.#address() && this.#atEndOrComment()) return true
    this.#at = start
    if (this.#peek() !== '<' && !this.#phrase()) return false
    this.#skipSpace()
    return this.#take('<') && this.#address() && this.#take('>')
  }

  #atEndOrComment(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length || this.#comment()
  }

  /** `local@domain`. */
  #address(): boolean {
    this.#skipSpace()
    if (this.#peek() === '"' ? this.#text.startsWith('""', this.#at) || !this.#quoted() : !this.#dotted()) return false
    if (!this.#take('@')) return false
    this.#skipSpace()
    return this.#peek() === '[' ? this.#literal() : this.#dotted()
  }

  #phrase(): boolean {
    let words = 0
    for (;;) {
      this.#skipSpace()
      const next = this.#peek()
      if (next === '"' ? !this.#quoted() : !this.#word()) return words > 0 && next === '<'
      words++
    }
  }

  /** A word of a name may have dots anywhere. */
  #word(): boolean {
    const start = this.#at
    while (this.#peek() === '.' || atomText.test(this.#peek())) this.#at += this.#peek().length
    return this.#at > start
  }

  #dotted(): boolean {
    const start = this.#at
    if (!this.#word()) return false
    const atom = this.#text.slice(start, this.#at)
    return !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
  }

  #quoted(): boolean {
    const match = /^"(?:[^"\\\p{Cc}]|\t|\\(?:\P{Cc}|\t))*"/u.exec(this.#text.slice(this.#at))
    this.#at += match?.[0].length ?? 0
    return match !== null
  }

  #literal(): boolean {
    const match = /^\[([0-9A-Fa-f:.]+)\]/.exec(this.#text.slice(this.#at))
    this.#at += match?.[0].length ?? 0
    return isAddress(match?.[1] ?? '')
  }

  #comment(): boolean {
    const match = /^\([^()\\]*\)/.exec(this.#text.slice(this.#at))
    this.#at += match?.[0].length ?? 0
    return match !== null
  }

  #peek(): string {
    const code = this.#text.codePointAt(this.#at)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }

  #skipSpace(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#at++
  }
}
