/**
 * Named formats: `format.dns1123Label().validate(x)` and `format.named('uuid')`.
 */
import { ListValue } from '../collections.ts'
import { member, overload, type Library } from '../environment.ts'
import {
  checkDns1035LabelName,
  checkDnsLabelName,
  checkDnsSubdomainName,
  checkLabelValue,
  checkQualifiedName,
} from '../primitives/names.ts'
import { parseTimestamp } from '../primitives/time.ts'
import { listOf, objectType, optionalOf, stringType } from '../types.ts'
import { Opaque, Optional } from '../values.ts'
import { parseRequestUrl } from './url.ts'

export const namedFormatType = objectType('kubernetes.NamedFormat')

export class NamedFormat extends Opaque {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  /** The length of its regular expression, real or assumed, for the cost. */
  readonly patternSize: number
  readonly check: (text: string) => readonly string[]

  constructor(name: string, patternSize: number, check: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.patternSize = patternSize
    this.check = check
  }

  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && this.name === other.name
  }

  override toString(): string {
    return this.name
  }
}

const prefix = { prefix: true }
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/

const formats: Readonly<Record<string, NamedFormat>> = {
  dns1123Label: new NamedFormat('DNS1123Label', 30, (text) => checkDnsLabelName(text)),
  dns1123Subdomain: new NamedFormat('DNS1123Subdomain', 60, (text) => checkDnsSubdomainName(text)),
  dns1035Label: new NamedFormat('DNS1035Label', 30, (text) => checkDns1035LabelName(text)),
  qualifiedName: new NamedFormat('QualifiedName', 60, checkQualifiedName),
  dns1123LabelPrefix: new NamedFormat('DNS1123LabelPrefix', 30, (text) => checkDnsLabelName(text, prefix)),
  dns1123SubdomainPrefix: new NamedFormat('DNS1123SubdomainPrefix', 60, (text) => checkDnsSubdomainName(text, prefix)),
  dns1035LabelPrefix: new NamedFormat('DNS1035LabelPrefix', 30, (text) => checkDns1035LabelName(text, prefix)),
  labelValue: new NamedFormat('LabelValue', 40, checkLabelValue),
  uri: new NamedFormat('URI', 1103, (text) => {
    const url = parseRequestUrl(text)
    return typeof url === 'string' ? [url] : []
  }),
  uuid: new NamedFormat('uuid', 70, (text) => (uuid.test(text) ? [] : ['does not match the UUID format'])),
  byte: new NamedFormat('byte', 84, (text) => (base64.test(text) ? [] : ['invalid base64'])),
  date: new NamedFormat('date', 71, (text) => (isDate(text) ? [] : ['invalid date'])),
  datetime: new NamedFormat('datetime', 71, (text) => (isDateTime(text) ? [] : ['invalid datetime'])),
}

export const namedFormats: Library = {
  ...Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [
      `format.${name}`,
      [overload(`format.${name}`, [], { to: namedFormatType, run: () => format })],
    ]),
  ),
  'format.named': [
    overload('format-named', [stringType], {
      to: optionalOf(namedFormatType),
      run: (name: string) => (Object.hasOwn(formats, name) ? Optional.of(formats[name]!) : Optional.none),
    }),
  ],
  validate: [
    member('format-validate', [namedFormatType, stringType], { to: optionalOf(listOf(stringType)), run: validate }),
  ],
}

function validate({ check }: NamedFormat, text: string): Optional {
  const complaints = check(text)
  return complaints.length === 0 ? Optional.none : Optional.of(ListValue.of(complaints))
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined
}

/** A date, a T and a time with a zone, in any case. Text after a second T is ignored, as in kube-apiserver. */
function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time)
  return isDate(date) && match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59'
}
