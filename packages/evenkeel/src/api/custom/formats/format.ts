/**
 * The formats that a schema of a custom resource can demand; any other name is ignored, as upstream does.
 *
 * Dashes in a name mean nothing (`date-time` is `datetime`). Numbers have formats of their own, which only limit how
 * large they are. Every check is linear in the length of the text: texts come from users.
 */
import { isCidr, isIpv4, isIpv6, isMac } from './addresses.ts'
import { isCreditCard, isIsbn10, isIsbn13 } from './checksums.ts'
import { isEmail } from './email.ts'
import { isHostname, isLongName, isShortName } from './names.ts'
import { isDate, isDateTime, isDuration } from './times.ts'
import { isUri } from './uri.ts'

export interface Format {
  /** As the schema writes it. */
  readonly name: string
  /** Absent for formats of numbers. */
  readonly matches?: (text: string) => boolean
}

/** The format of a place that takes these types; `undefined` when there is none or it says nothing here. */
export function formatOf(name: string | undefined, types: readonly string[] | undefined): Format | undefined {
  if (name === undefined || name === '') return undefined
  const type = types?.length === 1 ? types[0] : 'string'
  if (type === 'integer') return name === 'int32' || name === 'int64' ? { name } : undefined
  if (type === 'number') return name === 'float' || name === 'double' ? { name } : undefined
  const matches = type === 'string' ? checks.get(name.replaceAll('-', '')) : undefined
  return matches && { name, matches }
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
