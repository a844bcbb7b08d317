/**
 * Numbers that carry a check digit: book numbers and card numbers.
 */

/** Blanks and dashes are ignored; the last digit may be an X, which is ten. */
export function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

export function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0)
  return sum % 10 === 0
}

/** Whatever is no digit is ignored; the issuer must be a known one. */
export function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!issuers.some((issuer) => issuer.test(digits))) return false
  const sum = [...digits].reverse().reduce((total, digit, index) => total + luhn(Number(digit), index), 0)
  return sum % 10 === 0
}

const issuers = [
  /^4\d{12}(?:\d{3})?$/,
  /^5[1-5]\d{14}$/,
  /^6(?:011|5\d\d)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
  /^(?:2131|1800|35\d{3})\d{11}$/,
]

/** Every second digit counts double, and the digits of that are added up. */
function luhn(digit: number, index: number): number {
  const value = index % 2 === 0 ? digit : digit * 2
  return value > 9 ? value - 9 : value
}
