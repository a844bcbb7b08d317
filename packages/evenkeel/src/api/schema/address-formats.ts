/**
 * Network addresses, URIs and e-mail addresses as Go reads them: the checks behind the formats of the same names.
 *
 * IPv4 addresses may have leading zeros (`010.0.0.1`), for compatibility with old objects, except inside an IPv6 address.
 * The CEL library `ip()` reads addresses by other rules (no leading zeros, zones are recognised) and has its own parser.
 * A URI is what a request line may hold: absolute, or a path that begins with a slash. An e-mail address is one address
 * by RFC 5322, `a@example.com` or `"Ann B." <a@example.com>`; groups of one (`friends: a@example.com;`) are not
 * recognised, and the charset of an encoded name is not checked.
 */

/** Upstream looks for a dot in any address, so an IPv6 address that ends in an IPv4 one passes. */
export function isIpv4(text: string): boolean {
  return text.includes('.') && addressBits(text, { zeros: true }) !== undefined
}

export function isIpv6(text: string): boolean {
  return text.includes(':') && addressBits(text, { zeros: false }) !== undefined
}

/** Any address, without the zeros. */
function isAddress(text: string): boolean {
  return addressBits(text, { zeros: false }) !== undefined
}

export function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return false
  const bits = addressBits(text.slice(0, slash), { zeros: true })
  const length = text.slice(slash + 1)
  return bits !== undefined && /^\d+$/.test(length) && Number(length) <= bits
}

/** 6, 8 or 20 bytes, in pairs behind `:` or `-` or in fours behind `.`. */
export function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)$/i.test(text) ? (text.length + 1) / 3 : 0
  const fours = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) ? ((text.length + 1) / 5) * 2 : 0
  return [6, 8, 20].includes(pairs + fours)
}

interface Strictness {
  /** Whether numbers of IPv4 may begin with zeros. */
  readonly zeros: boolean
}

/** How many bits an address has; `undefined` when it is none. */
function addressBits(text: string, strictness: Strictness): 32 | 128 | undefined {
  const separator = /[.:]/.exec(text)?.[0]
  if (separator === '.') return isDotted(text, strictness) ? 32 : undefined
  return separator === ':' && isColoned(text, strictness) ? 128 : undefined
}

function isDotted(text: string, { zeros }: Strictness): boolean {
  const parts = text.split('.')
  return (
    parts.length === 4 &&
    parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255 && (zeros || part === '0' || !part.startsWith('0')))
  )
}

function isColoned(text: string, strictness: Strictness): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1) ?? ''
  const dotted = last.includes('.')
  if (dotted && (!isDotted(last, strictness) || text.endsWith('::'))) return false
  const plain = dotted ? groups.slice(0, -1) : groups
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false
  const count = plain.length + (dotted ? 2 : 0)
  return halves.length === 2 ? count < 8 : count === 8
}

// URIs.

export function isUri(text: string): boolean {
  if (text === '' || hasControl(text)) return false
  if (text === '*') return true
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0] ?? ''
  if (text.startsWith(':')) return false
  const [rest = ''] = text.slice(scheme.length).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return isEscaped(rest)
  const end = rest.indexOf('/', 2)
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end)
  return isAuthority(authority, scheme) && isEscaped(end < 0 ? '' : rest.slice(end))
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** Every percent sign begins two hexadecimal digits. */
function isEscaped(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text)
}

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf('@')
  if (at < 0) return isHost(authority, scheme)
  const user = authority.slice(0, at)
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user) && isHost(authority.slice(at + 1), scheme)
}

function isHost(host: string, scheme: string): boolean {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    return end >= 0 && isPort(host.slice(end + 1)) && isLiteral(host.slice(1, end))
  }
  if (host.includes('[')) return false
  // Databases write several hosts with ports here; the web does not.
  const colon = /^https?:$/i.test(scheme) ? host.indexOf(':') : host.lastIndexOf(':')
  if (colon >= 0 && !isPort(host.slice(colon))) return false
  return isHostText(host)
}

function isLiteral(literal: string): boolean {
  const [address = '', ...zone] = literal.split('%25')
  return isIpv6(address) && isEscaped(zone.join('%25'))
}

function isPort(text: string): boolean {
  return /^(?::\d*)?$/.test(text)
}

/** Bytes of other scripts may be escaped, those of ASCII may not; a few signs are not allowed at all. */
function isHostText(text: string): boolean {
  return !/[ \\^`{|}#/?@%]/.test(text.replace(/%[89a-f][0-9a-f]/gi, '')) && isEscaped(text)
}

// E-mail addresses.

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
