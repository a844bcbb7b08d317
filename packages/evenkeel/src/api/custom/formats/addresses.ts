/**
 * Network addresses as Go reads them: IPv4, IPv6, ranges, and hardware addresses.
 *
 * For compatibility with old objects upstream allows leading zeros in IPv4 addresses (`010.0.0.1`), except inside what
 * is asked for as IPv6.
 */

/** Upstream looks for a dot in any address, so an IPv6 address that ends in an IPv4 one passes. */
export function isIpv4(text: string): boolean {
  return text.includes('.') && addressBits(text, { zeros: true }) !== undefined
}

export function isIpv6(text: string): boolean {
  return text.includes(':') && addressBits(text, { zeros: false }) !== undefined
}

/** Any address, without the zeros. */
export function isAddress(text: string): boolean {
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
