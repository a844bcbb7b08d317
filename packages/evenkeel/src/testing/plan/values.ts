/**
 * Other values that satisfy a schema: for strings with a pattern or a format.
 *
 * The nearest value is best, because it means something to the program: of `10Gi` that is `11Gi`. A capital letter and a
 * text that is built from the pattern follow: they are what a program expects least.
 *
 *     pattern ^\d+(Mi|Gi)$    now 10Gi      11Gi, then 0Mi
 *     pattern ^v\d+\.\d+$     now nothing   v0.0
 *
 * Invariant: every value matches the pattern; a pattern that is not understood gives none.
 */

/** The strings that satisfy a pattern, other than the current one: the nearest, one with a capital letter, and one built from the pattern. */
export function stringsLike(
  pattern: string,
  { now, minLength = 0, maxLength = Infinity }: StringLimits,
): readonly string[] {
  const expression = compiled(pattern)
  if (!expression) return []
  const fits = (text: string): boolean =>
    text !== now && text.length >= minLength && text.length <= maxLength && expression.test(text)
  const near = now === undefined ? undefined : neighboursOf(now).find(fits)
  const [built] = builtFrom(pattern)
    .map((text) => text.padEnd(minLength, 'a'))
    .filter((text) => fits(text))
  // Names of objects have no capital letters, most patterns allow them.
  const capital = [now, built].map((text) => text?.replace(/^[a-z]/, (letter) => letter.toUpperCase()))
  const other = capital.find((text) => text !== undefined && fits(text) && text !== built)
  return [...new Set([near, other, built].filter((text) => text !== undefined))]
}

interface StringLimits {
  readonly now: string | undefined
  readonly minLength?: number
  readonly maxLength?: number
}

/** Strings of a format other than the current one. */
export function stringsOf(format: string, now: string | undefined): readonly string[] {
  return (byFormat[format] ?? []).filter((text) => text !== now).slice(0, 1)
}

const byFormat: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2031-05-06T07:08:09Z'],
  date: ['2031-05-06'],
  duration: ['7m', '8m'],
  uri: ['https://other.example.com/path'],
  email: ['other@example.com'],
  hostname: ['other.example.com'],
  ipv4: ['192.0.2.77'],
  ipv6: ['2001:db8::77'],
  cidr: ['192.0.2.0/24'],
  uuid: ['6f1c0d2e-3b4a-4c5d-8e9f-0a1b2c3d4e5f'],
  byte: ['b3RoZXI='],
}

function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

/** A number one higher, another letter, one character more: from the end to the beginning. */
function neighboursOf(text: string): string[] {
  const numbers = [...text.matchAll(/\d+/g)].reverse()
  const letters = [...text.matchAll(/[a-zA-Z]/g)].reverse()
  const replaced = ({ index, 0: part }: RegExpMatchArray, other: string): string =>
    text.slice(0, index) + other + text.slice((index ?? 0) + part.length)
  return [
    ...numbers.map((match) => replaced(match, String(Number(match[0]) + 1).padStart(match[0].length, '0'))),
    ...numbers.map((match) =>
      replaced(
        match,
        match[0].replace(/\d$/, (digit) => String((Number(digit) + 9) % 10)),
      ),
    ),
    `${text}-other`,
    `${text}a`,
    ...letters.map((match) =>
      replaced(match, match[0] === 'b' ? 'c' : match[0] === 'B' ? 'C' : /[a-z]/.test(match[0]) ? 'b' : 'B'),
    ),
  ]
}

// A small generator: the shortest text of each alternative of a pattern. Look-arounds, references and classes of Unicode
// are not understood, and the text that comes out is tested anyway.

const alternativesMax = 8

function builtFrom(pattern: string): readonly string[] {
  const reader = new PatternReader(pattern)
  const texts = reader.alternatives()
  return reader.isUnderstood && reader.isAtEnd ? texts : []
}

class PatternReader {
  readonly #pattern: string
  #at = 0
  isUnderstood = true

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#pattern.length
  }

  /** The texts of `a|b|c`. */
  alternatives(): readonly string[] {
    const found = [...this.#sequence()]
    while (this.#take('|')) found.push(...this.#sequence())
    return found.slice(0, alternativesMax)
  }

  /** The texts of one alternative. */
  #sequence(): readonly string[] {
    let texts: readonly string[] = ['']
    while (!this.isAtEnd && !['|', ')'].includes(this.#peek())) {
      const part = this.#repeated(this.#atom())
      texts = texts.flatMap((text) => part.map((one) => text + one)).slice(0, alternativesMax)
    }
    return texts
  }

  #repeated(texts: readonly string[]): readonly string[] {
    const [whole = '', least] = /^(?:[*?]|\+|\{(\d+)(?:,\d*)?\})\??/.exec(this.#pattern.slice(this.#at)) ?? []
    this.#at += whole.length
    if (whole.startsWith('*') || whole.startsWith('?')) return ['', ...texts]
    return least === undefined ? texts : texts.map((text) => text.repeat(Number(least)))
  }

  #atom(): readonly string[] {
    const character = this.#pattern[this.#at++] ?? ''
    if (character === '^' || character === '$') return ['']
    if (character === '.') return ['a']
    if (character === '\\') return [this.#escaped()]
    if (character === '[') return [this.#class()]
    if (character !== '(') return [character]
    if (this.#take('?') && !this.#take(':')) {
      // A look-around or a named group.
      this.isUnderstood = false
      this.#at = this.#pattern.length
      return ['']
    }
    const texts = this.alternatives()
    this.#take(')')
    return texts
  }

  #escaped(): string {
    const letter = this.#pattern[this.#at++] ?? ''
    return escapes[letter] ?? letter
  }

  /** One character of `[a-z\d_]`; of `[^…]` the first usual one that it allows. */
  #class(): string {
    const [body = ''] = /^(?:\\.|[^\]\\])*/.exec(this.#pattern.slice(this.#at)) ?? []
    this.#at += body.length + 1
    const expression = compiled(`^[${body}]$`)
    return 'ab0-_./:A'.split('').find((one) => expression?.test(one)) ?? body[0] ?? ''
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }
}

const escapes: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  n: '\n',
  t: '\t',
  b: '',
}
