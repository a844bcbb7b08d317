/**
 * Validation of IP addresses and CIDR ranges, with the messages of kube-apiserver.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { fieldError, type FieldError, type FieldPath, type NameRule } from 'evenkeel/unstable/builtins'

type Family = 'IPv4' | 'IPv6'

/** The family of an address; `undefined` for invalid text. Zones (`fe80::1%eth0`) are invalid. */
export function familyOf(address: string): Family | undefined {
  if (isIPv4(address)) return 'IPv4'
  return isIPv6(address) && !address.includes('%') ? 'IPv6' : undefined
}

/** The family of a range such as `10.0.0.0/8`; `undefined` for invalid text. */
function rangeFamilyOf(range: string): Family | undefined {
  const slash = range.lastIndexOf('/')
  const [address, length] = [range.slice(0, Math.max(slash, 0)), range.slice(slash + 1)]
  const family = familyOf(address)
  if (family === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined
  return Number(length) <= (family === 'IPv4' ? 32 : 128) ? family : undefined
}

export function validateAddress(address: string, path: FieldPath): FieldError[] {
  return familyOf(address) === undefined ? [fieldError.invalid(path, address, addressComplaint)] : []
}

export function validateRange(range: string, path: FieldPath): FieldError[] {
  return rangeFamilyOf(range) === undefined ? [fieldError.invalid(path, range, rangeComplaint)] : []
}

/** Whether a range is a strict subset of another one. Both must be valid. */
export function isWithin(range: string, outer: string): boolean {
  const [address = '', length = ''] = range.split('/')
  const [outerAddress = '', outerLength = ''] = outer.split('/')
  const [family, outerFamily] = [familyOf(address), familyOf(outerAddress)]
  if (family === undefined || family !== outerFamily || Number(length) <= Number(outerLength)) return false
  const name = family === 'IPv4' ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(outerAddress, Number(outerLength), name)
  return list.check(address, name)
}

/** IPAddress objects are named by their address. */
export const checkAddressName: NameRule = (name) => (familyOf(name) === undefined ? [addressComplaint] : [])

const addressComplaint = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const rangeComplaint = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

// Addresses that can receive traffic: valid, and not in a special range.

/** Like {@link validateAddress}, and it must be the address of another machine. */
export function validateEndpointAddress(address: string, path: FieldPath): FieldError[] {
  const errors = validateAddress(address, path)
  if (errors.length > 0) return errors
  const range = familyOf(address) === 'IPv4' ? specialRange4(address) : specialRange6(address)
  switch (range) {
    case 'unspecified':
      return [fieldError.invalid(path, address, `may not be unspecified (${address})`)]
    case 'loopback':
      return [fieldError.invalid(path, address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')]
    case 'link-local':
      return [fieldError.invalid(path, address, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')]
    case 'link-local multicast':
      return [
        fieldError.invalid(path, address, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'),
      ]
    default:
      return []
  }
}

type SpecialRange = 'unspecified' | 'loopback' | 'link-local' | 'link-local multicast' | undefined

function specialRange4(address: string): SpecialRange {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  if (a + b + c + d === 0) return 'unspecified'
  if (a === 127) return 'loopback'
  if (a === 169 && b === 254) return 'link-local'
  return a === 224 && b === 0 && c === 0 ? 'link-local multicast' : undefined
}

function specialRange6(address: string): SpecialRange {
  const text = address.toLowerCase()
  const digits = text.replaceAll(/[:0]/g, '')
  if (digits === '' && !text.includes('.')) return 'unspecified'
  if (digits === '1' && /(^|:)0{0,3}1$/.test(text)) return 'loopback'
  if (/^fe[89ab][0-9a-f]:/.test(text)) return 'link-local'
  return /^ff02:/.test(text) ? 'link-local multicast' : undefined
}
