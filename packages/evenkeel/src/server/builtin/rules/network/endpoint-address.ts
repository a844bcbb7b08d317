/**
 * Addresses that traffic can be sent to: well-formed, and not of a special range.
 */
import { fieldError } from '#api'
import type { FieldError, FieldPath } from '#api'
import { familyOf, validateAddress } from './addresses.ts'

/** As {@link validateAddress}, and it must be the address of some other machine. */
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
