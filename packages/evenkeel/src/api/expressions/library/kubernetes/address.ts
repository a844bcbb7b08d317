/**
 * IP addresses: 4 or 16 bytes, read strictly (no leading zeros, no zones, no IPv4 in disguise) and written canonically.
 */
import { quote } from '../../../text.ts'

export interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** The address, or why the text is none. */
export function parseAddress(text: string): Address | string {
  const parsed = text.includes(':') ? parseV6(text) : parseV4(text)
  if (typeof parsed === 'string')
    return `IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ${parsed}`
  if (text.includes('%')) return `IP address ${quote(text)} with zone value is not allowed`
  return isMapped(parsed) ? `IPv4-mapped IPv6 address ${quote(text)} is not allowed` : parsed
}

/** Whether a text is an IPv6 address, of whatever kind. */
export function isIpv6(text: string): boolean {
  return text.includes(':') && typeof parseV6(text) !== 'string'
}

/** An IPv4 address written as an IPv6 one. */
export function isMapped({ bits, value }: Address): boolean {
  return bits === 128 && value >> 32n === 0xffffn
}

/** The canonical text. */
export function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn))
  const { start, length } = longestZeros(groups)
  const hex = groups.map((group) => group.toString(16))
  return length < 2 ? hex.join(':') : `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** Whether the first bits of an address are those of another. */
export function hasPrefix(address: Address, prefix: bigint, length: number): boolean {
  const shift = BigInt(address.bits - length)
  return address.value >> shift === prefix >> shift
}

function parseV4(text: string): Address | string {
  const parts = text.split('.')
  if (!text.includes('.')) return 'unable to parse IP'
  if (parts.some((part) => part !== '' && !/^\d+$/.test(part))) return 'unexpected character'
  if (parts.length !== 4) return parts.length < 4 ? 'IPv4 address too short' : 'IPv4 address too long'
  if (parts.some((part) => part === '')) return 'IPv4 field must have at least one digit'
  if (parts.some((part) => part.length > 1 && part.startsWith('0'))) return 'IPv4 field has octet with leading zero'
  if (parts.some((part) => part.length > 3 || Number(part) > 255)) return 'IPv4 field has value >255'
  return { bits: 32, value: parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) }
}

function parseV6(text: string): Address | string {
  const [plain = '', zone] = text.split('%')
  if (zone === '') return 'zone must be a non-empty string'
  const halves = plain.split('::')
  if (halves.length > 2) return 'multiple :: in address'
  const sides = halves.map((half) => (half === '' ? [] : groupsOf(half)))
  const problem = sides.find((side) => typeof side === 'string')
  if (typeof problem === 'string') return problem
  const [head = [], tail] = sides as number[][]
  const count = head.length + (tail?.length ?? 0)
  if (tail ? count > 7 : count !== 8) return count < 8 ? 'address string too short' : 'trailing garbage after address'
  const groups = tail ? [...head, ...new Array<number>(8 - count).fill(0), ...tail] : head
  return { bits: 128, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) }
}

/** The groups of one side of a `::`; the last may be an IPv4 address, which is two. */
function groupsOf(half: string): number[] | string {
  const groups: number[] = []
  const parts = half.split(':')
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const inner = parseV4(part)
      if (typeof inner === 'string') return inner
      groups.push(Number(inner.value >> 16n), Number(inner.value & 0xffffn))
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(parseInt(part, 16))
    else return part === '' ? 'colon must be followed by more characters' : 'each group must have 4 or fewer digits'
  }
  return groups
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start++) {
    let length = 0
    while (groups[start + length] === 0) length++
    if (length > best.length) best = { start, length }
  }
  return best
}
