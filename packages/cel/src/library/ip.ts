/**
 * IP addresses and networks (CIDR).
 */
import { member, overload, type Library } from '../environment.ts'
import { quote } from '../primitives/text.ts'
import { boolType, intType, opaqueType, stringType } from '../types.ts'
import { EvaluationError, Opaque, type Value } from '../values.ts'

export const ipType = opaqueType('net.IP')
export const cidrType = opaqueType('net.CIDR')

class IpValue extends Opaque {
  readonly typeName = 'net.IP'
  readonly address: Address
  override readonly costSize: number

  constructor(address: Address) {
    super()
    this.address = address
    this.costSize = address.bits / 8
  }

  equals(other: Opaque): boolean {
    return (
      other instanceof IpValue && this.address.bits === other.address.bits && this.address.value === other.address.value
    )
  }

  override toString(): string {
    return formatAddress(this.address)
  }

  startsWith(prefix: bigint, length: number, bits: number): boolean {
    return this.address.bits === bits && hasPrefix(this.address, prefix, length)
  }
}

class CidrValue extends Opaque {
  readonly typeName = 'net.CIDR'
  readonly address: Address
  readonly length: number
  override readonly costSize: number

  constructor(address: Address, length: number) {
    super()
    this.address = address
    this.length = length
    this.costSize = Math.ceil(length / 8)
  }

  equals(other: Opaque): boolean {
    return (
      other instanceof CidrValue &&
      this.length === other.length &&
      this.address.bits === other.address.bits &&
      this.address.value === other.address.value
    )
  }

  override toString(): string {
    return `${formatAddress(this.address)}/${this.length}`
  }

  contains(address: Address): boolean {
    return this.address.bits === address.bits && hasPrefix(address, this.address.value, this.length)
  }

  masked(): CidrValue {
    const shift = BigInt(this.address.bits - this.length)
    return new CidrValue({ bits: this.address.bits, value: (this.address.value >> shift) << shift }, this.length)
  }
}

const has = (id: string, test: (ip: IpValue) => boolean) => [member(id, [ipType], { to: boolType, run: test })]
const withText = [cidrType, stringType]

export const network: Library = {
  ip: [
    overload('string_to_ip', [stringType], { to: ipType, run: readIp }),
    member('cidr_ip', [cidrType], { to: ipType, run: ({ address }: CidrValue) => new IpValue(address) }),
  ],
  isIP: [overload('is_ip', [stringType], { to: boolType, run: (text: string) => readIp(text) instanceof IpValue })],
  'ip.isCanonical': [overload('ip_is_canonical', [stringType], { to: boolType, run: isCanonical })],
  family: [
    member('ip_family', [ipType], { to: intType, run: ({ address }: IpValue) => (address.bits === 32 ? 4 : 6) }),
  ],
  isUnspecified: has('ip_is_unspecified', isUnspecified),
  isLoopback: has('ip_is_loopback', isLoopback),
  isLinkLocalMulticast: has(
    'ip_is_link_local_multicast',
    (ip) => ip.startsWith(0xe000_0000n, 24, 32) || isLinkLocalMulticastV6(ip),
  ),
  isLinkLocalUnicast: has('ip_is_link_local_unicast', isLinkLocalUnicast),
  isGlobalUnicast: has('ip_is_global_unicast', isGlobalUnicast),
  cidr: [overload('string_to_cidr', [stringType], { to: cidrType, run: readCidr })],
  isCIDR: [
    overload('is_cidr', [stringType], { to: boolType, run: (text: string) => readCidr(text) instanceof CidrValue }),
  ],
  containsIP: [
    member('cidr_contains_ip_string', withText, {
      to: boolType,
      run: (cidr: CidrValue, text: string) => containsIp(cidr, readIp(text)),
    }),
    member('cidr_contains_ip_ip', [cidrType, ipType], { to: boolType, run: containsIp }),
  ],
  containsCIDR: [
    member('cidr_contains_cidr_string', withText, {
      to: boolType,
      run: (cidr: CidrValue, text: string) => containsCidr(cidr, readCidr(text)),
    }),
    member('cidr_contains_cidr', [cidrType, cidrType], { to: boolType, run: containsCidr }),
  ],
  prefixLength: [member('cidr_prefix_length', [cidrType], { to: intType, run: ({ length }: CidrValue) => length })],
  masked: [member('cidr_masked', [cidrType], { to: cidrType, run: (cidr: CidrValue) => cidr.masked() })],
  string: [
    overload('ip_to_string', [ipType], { to: stringType, run: String }),
    overload('cidr_to_string', [cidrType], { to: stringType, run: String }),
  ],
}

function readIp(text: string): IpValue | EvaluationError {
  const address = parseAddress(text)
  return typeof address === 'string' ? new EvaluationError(address) : new IpValue(address)
}

function isCanonical(text: string): Value {
  const ip = readIp(text)
  return ip instanceof IpValue ? formatAddress(ip.address) === text : ip
}

function readCidr(text: string): CidrValue | EvaluationError {
  const problem = 'network address parse error during conversion from string: '
  const slash = text.lastIndexOf('/')
  const unparsed = (why: string) => new EvaluationError(`${problem}${problem}netip.ParsePrefix(${quote(text)}): ${why}`)
  if (slash < 0) return unparsed("no '/'")
  const [written, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const address = parseAddress(written)
  if (typeof address === 'string') {
    return address.startsWith('IPv4-mapped')
      ? new EvaluationError(`${problem}IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
      : unparsed(address)
  }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return unparsed(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > address.bits) return unparsed('prefix length out of range')
  return isMapped(address)
    ? new EvaluationError(`${problem}IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
    : new CidrValue(address, Number(bits))
}

function containsIp(cidr: CidrValue, ip: IpValue | EvaluationError): Value {
  return ip instanceof IpValue ? cidr.contains(ip.address) : ip
}

function containsCidr(cidr: CidrValue, inner: CidrValue | EvaluationError): Value {
  return inner instanceof CidrValue ? cidr.length <= inner.length && cidr.contains(inner.address) : inner
}

function isUnspecified({ address }: IpValue): boolean {
  return address.value === 0n
}

function isLoopback(ip: IpValue): boolean {
  return ip.startsWith(0x7f00_0000n, 8, 32) || ip.startsWith(1n, 128, 128)
}

function isLinkLocalUnicast(ip: IpValue): boolean {
  return ip.startsWith(0xa9fe_0000n, 16, 32) || ip.startsWith(0xfe80n << 112n, 10, 128)
}

/** ff02, ff12, ...: the third digit is flags. */
function isLinkLocalMulticastV6({ address }: IpValue): boolean {
  return address.bits === 128 && ((address.value >> 112n) & 0xff0fn) === 0xff02n
}

function isMulticast(ip: IpValue): boolean {
  return ip.startsWith(0xe000_0000n, 4, 32) || ip.startsWith(0xffn << 120n, 8, 128)
}

/** Private addresses are included, as in Go. */
function isGlobalUnicast(ip: IpValue): boolean {
  const isBroadcast = ip.startsWith(0xffff_ffffn, 32, 32)
  return !isBroadcast && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip)
}

/** An IP address of 4 or 16 bytes, parsed strictly (no leading zeros, zones or IPv4-mapped addresses) and formatted canonically. */
interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** The address, or the reason why the text is invalid. */
export function parseAddress(text: string): Address | string {
  const parsed = text.includes(':') ? parseV6(text) : parseV4(text)
  if (typeof parsed === 'string')
    return `IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ${parsed}`
  if (text.includes('%')) return `IP address ${quote(text)} with zone value is not allowed`
  return isMapped(parsed) ? `IPv4-mapped IPv6 address ${quote(text)} is not allowed` : parsed
}

/** Whether a text is any kind of IPv6 address. */
export function isIpv6(text: string): boolean {
  return text.includes(':') && typeof parseV6(text) !== 'string'
}

/** An IPv4 address written as an IPv6 one. */
function isMapped({ bits, value }: Address): boolean {
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

/** Whether two addresses share their first bits. */
function hasPrefix(address: Address, prefix: bigint, length: number): boolean {
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
