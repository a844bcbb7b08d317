/**
 * The formats that kube-apiserver checks for custom resources; any other name is ignored.
 *
 * Dashes in a name do not count (`date-time` is `datetime`). Formats of numbers only limit their size. Dates, times and
 * durations are laxer than elsewhere in Kubernetes. Every check is linear in the length of the text: texts come from users.
 */
import { parseDuration, parseTimestamp, utf8Length } from '@evenkeel/cel/primitives'
import { isCidr, isEmail, isIpv4, isIpv6, isMac, isUri } from './address-formats.ts'

// Host names, and the short and long names of Kubernetes.

/** Labels of letters of any script, symbols, digits and dashes; a name of several ends in letters only. */
function isHostname(text: string): boolean {
  if (utf8Length(text) > 255) return false
  const labels = text.split('.')
  if (labels.some((label) => utf8Length(label) > 63)) return false
  if (labels.length === 1) return loneLabel.test(text)
  const top = labels.pop() ?? ''
  return topLabel.test(top) && labels.every((each) => label.test(each))
}

// A lone label may have a dash only as its second character: a peculiarity of kube-apiserver.
const loneLabel = /^[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}$/u
const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u
const topLabel = /^\p{L}{2,63}$/u

function isShortName(text: string): boolean {
  return text.length <= 63 && shortName.test(text)
}

/** Parts may be longer than 63 characters, unlike in DNS. */
function isLongName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => shortName.test(part))
}

const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

// Dates, times and durations.

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined
}

/** A date, `t` or `T`, a time, and a zone; the sign before parts of a second may be any, and a second `t` hides what follows it. */
function isDateTime(text: string): boolean {
  if (plainTime.test(text)) return true
  const [date = '', time = ''] = text.toLowerCase().split('t')
  if (!isDate(date)) return false
  const parts = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/u.exec(time)
  if (!parts) return false
  const [, hour = '', minute = '', second = ''] = parts
  return hour <= '23' && minute <= '59' && second <= '59'
}

/** What nearly all times look like, on the days that every month has. */
const plainTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** `1h30m` as Go has it, or anything that contains a number and a unit in words: `3 days`, `2 weeks`. */
function isDuration(text: string): boolean {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined && Math.abs(durationMs) < durationMsMax) return true
  let known = false
  for (const [, amount = '', unit = ''] of text.matchAll(amountAndUnit)) {
    if (BigInt(amount.slice(0, 32)) > amountMax) return false
    known ||= isUnit(unit.toLowerCase())
  }
  return known
}

/** Only from the first of its digits: trying a long number from each of them would be quadratic. */
const amountAndUnit = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g
/** 64 bits of nanoseconds. */
const durationMsMax = 2 ** 63 / 1e6
const amountMax = 2n ** 63n - 1n
const exactUnits: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'])
const unitBeginnings = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week']

function isUnit(unit: string): boolean {
  return exactUnits.has(unit) || unitBeginnings.some((beginning) => unit.startsWith(beginning))
}

// Numbers with a check digit: ISBN and credit cards.

/** Blanks and dashes are ignored; the last digit may be an X, which is ten. */
function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0)
  return sum % 10 === 0
}

/** Whatever is no digit is ignored; the issuer must be a known one. */
function isCreditCard(text: string): boolean {
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

export interface Format {
  /** As the schema writes it. */
  readonly name: string
  /** Whether a text has the format; absent where texts are not checked. */
  readonly matches?: ((text: string) => boolean) | undefined
  /** Whether it limits how large a number may be. */
  readonly limitsNumbers?: boolean
}

/** The format of a value of these types; `undefined` when there is none or it is not checked for them. */
export function formatOf(name: string | undefined, types: readonly string[] | undefined): Format | undefined {
  if (name === undefined || name === '') return undefined
  const type = types?.length === 1 ? types[0] : 'string'
  if (type === 'integer' || type === 'number')
    return numberFormats[type].has(name) ? { name, limitsNumbers: true } : undefined
  const matches = type === 'string' ? textFormat(name) : undefined
  return matches && { name, matches }
}

/**
 * The format of a default inside a CRD. kube-apiserver validates defaults by the schema as it is written, without
 * removing the formats that do not go with its types: errors name those too.
 */
export function formatOfDefault(name: string | undefined, types: readonly string[] | undefined): Format | undefined {
  if (name === undefined || name === '') return undefined
  return { name, matches: textFormat(name), limitsNumbers: formatOf(name, types)?.limitsNumbers === true }
}

const numberFormats = { integer: new Set(['int32', 'int64']), number: new Set(['float', 'double']) }

function textFormat(name: string): ((text: string) => boolean) | undefined {
  return checks.get(name.replaceAll('-', ''))
}

const checks = new Map<string, (text: string) => boolean>([
  ['bsonobjectid', (text) => /^[0-9a-f]{24}$/i.test(text)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (text) => isUuid(text)],
  ['uuid3', (text) => isUuid(text, /^3/)],
  ['uuid4', (text) => isUuid(text, /^4...[89ab]/i)],
  ['uuid5', (text) => isUuid(text, /^5...[89ab]/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', (text) => /^#?(?:[0-9a-f]{3}){1,2}$/i.test(text)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', isShortName],
  ['k8slongname', isLongName],
])

/** Dashes between the groups may be missing, each by itself. `tail` is what the digits after the second group must be. */
function isUuid(text: string, tail?: RegExp): boolean {
  const groups = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i.exec(text)
  return groups !== null && (tail?.test(`${groups[3] ?? ''}${groups[4] ?? ''}`) ?? true)
}

function isRgbColor(text: string): boolean {
  const parts =
    /^rgb\([\t\n\f\r ]*(\d+)[\t\n\f\r ]*,[\t\n\f\r ]*(\d+)[\t\n\f\r ]*,[\t\n\f\r ]*(\d+)[\t\n\f\r ]*\)$/.exec(text)
  return parts !== null && parts.slice(1).every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}
