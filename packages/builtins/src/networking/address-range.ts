/**
 * A range of IP addresses (`10.96.0.0/12`, `fd00::/108`), and its addresses by number.
 *
 * Addresses are numbers of 32 or 128 bits. The network address is not used, and of IPv4 the broadcast address neither:
 * 10.0.0.0/24 has the numbers 1 (10.0.0.1) to 254.
 */
import { familyOf } from '../ip-addresses.ts'

export type Family = 'IPv4' | 'IPv6'

export class AddressRange {
  readonly family: Family
  readonly #base: bigint
  /** The last usable number. */
  readonly last: bigint

  private constructor(family: Family, base: bigint, last: bigint) {
    this.family = family
    this.#base = base
    this.last = last
  }

  /** Undefined for invalid text, and for a range without usable addresses. */
  static parse(cidr: string): AddressRange | undefined {
    const [address = '', length = ''] = cidr.split('/')
    const family = familyOf(address)
    const bits = family === 'IPv4' ? 32 : 128
    if (family === undefined || !/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined
    const size = 1n << BigInt(bits - Number(length))
    const last = size - (family === 'IPv4' ? 2n : 1n)
    return last < 1n ? undefined : new AddressRange(family, (numberOf(address) / size) * size, last)
  }

  /** Whether an address is usable in this range. */
  has(address: string): boolean {
    if (familyOf(address) !== this.family) return false
    const number = numberOf(address) - this.#base
    return number >= 1n && number <= this.last
  }

  /** @param number from 1 to {@link AddressRange.last} */
  address(number: bigint): string {
    return formatAddress(this.#base + number, this.family)
  }
}

function numberOf(address: string): bigint {
  if (familyOf(address) === 'IPv4') return partsNumber(address.split('.').map(Number), 8n)
  // An IPv4 address at the end counts as two groups.
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = text.split('::')
  const groups = (part: string): number[] =>
    part.split(':').flatMap((group) => (group === '' ? [] : [parseInt(group, 16)]))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0)
  return partsNumber([...left, ...zeros, ...right], 16n)
}

function partsNumber(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((number, part) => (number << bits) | BigInt(part), 0n)
}

/** The canonical text: lower case, the longest run of two or more zero groups as `::`. */
function formatAddress(number: bigint, family: Family): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => Number((number >> BigInt(112 - 16 * index)) & 0xffffn))
  const { from, length } = longestZeros(groups)
  const text = (some: readonly number[]): string => some.map((group) => group.toString(16)).join(':')
  return length < 2 ? text(groups) : `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly length: number } {
  let longest = { from: 0, length: 0 }
  for (let from = 0; from < groups.length; from++) {
    let length = 0
    while (groups[from + length] === 0) length++
    if (length > longest.length) longest = { from, length }
  }
  return longest
}
