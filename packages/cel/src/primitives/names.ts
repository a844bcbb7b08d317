/**
 * Validation of names, with the messages of kube-apiserver, and generation of names.
 *
 * Every check returns a list of messages, empty for a valid name. Lengths are UTF-8 bytes, as in Go; for valid names
 * that is the number of characters.
 */
import { utf8Length } from './text.ts'

/** Checks a name, or with `prefix` the start of a generated name, which may end in a dash. */
export type NameRule = (name: string, options?: { readonly prefix?: boolean }) => string[]

const dnsLabelText = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const dnsSubdomainText = `${dnsLabelText}(\\.${dnsLabelText})*`
const dns1035LabelText = '[a-z]([-a-z0-9]*[a-z0-9])?'
const labelKeyText = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValueText = `(${labelKeyText})?`

// The patterns above are quoted in messages. Matching uses equivalent patterns without nested repetition, because V8
// backtracks, and a hostile name must not make it backtrack for long.
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1035Label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const labelKey = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/** The common start of the messages for label names. */
const labelKeyComplaint =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/** A DNS label of RFC 1123: namespaces and most names that become host names. */
export function checkDnsLabel(value: string): string[] {
  const complaints = tooLong(value, 63, 'characters')
  if (dnsLabel.test(value)) return complaints
  if (isDnsSubdomain(value)) return [...complaints, 'must not contain dots']
  const complaint =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
    'and must start and end with an alphanumeric character'
  return [...complaints, withPattern(complaint, dnsLabelText, ['my-name', '123-abc'])]
}

/** A DNS subdomain of RFC 1123: the rule for the names of most objects. */
export function checkDnsSubdomain(value: string): string[] {
  return checkSubdomain(value, 'characters')
}

/** A DNS label of RFC 1035: like {@link checkDnsLabel}, but it must start with a letter. */
export function checkDns1035Label(value: string): string[] {
  const complaints = tooLong(value, 63, 'characters')
  if (dns1035Label.test(value)) return complaints
  const complaint =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
    'and end with an alphanumeric character'
  return [...complaints, withPattern(complaint, dns1035LabelText, ['my-name', 'abc-123'])]
}

/** A qualified name: `name` or `example.com/name`. Keys of labels and annotations, finalizers, condition types. */
export function checkQualifiedName(value: string): string[] {
  const parts = value.split('/')
  const examples = ['MyName', 'my.name', '123-abc']
  if (parts.length > 2) {
    const rule = withPattern(labelKeyComplaint, labelKeyText, examples)
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const complaints = parts.length === 2 ? checkPrefixPart(parts[0] ?? '') : []
  const name = parts.at(-1) ?? ''
  if (name === '') complaints.push('name part must be non-empty')
  complaints.push(...tooLong(name, 63, 'bytes').map((complaint) => `name part ${complaint}`))
  if (!labelKey.test(name)) complaints.push(`name part ${withPattern(labelKeyComplaint, labelKeyText, examples)}`)
  return complaints
}

/** The value of a label: empty, or up to 63 letters, digits, `-`, `_` and `.`. */
export function checkLabelValue(value: string): string[] {
  const complaints = tooLong(value, 63, 'bytes')
  if (value === '' || labelKey.test(value)) return complaints
  const complaint = `a valid label must be an empty string or ${labelKeyComplaint.slice('must '.length)}`
  return [...complaints, withPattern(complaint, labelValueText, ['MyValue', 'my_value', '12345'])]
}

/** A name that must be a valid URL path segment: RBAC objects. */
export const checkPathSegmentName: NameRule = (name, { prefix = false } = {}) => {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`)
}

export const checkDnsLabelName: NameRule = (name, { prefix = false } = {}) =>
  checkDnsLabel(prefix ? maskTrailingDash(name) : name)
export const checkDnsSubdomainName: NameRule = (name, { prefix = false } = {}) =>
  checkDnsSubdomain(prefix ? maskTrailingDash(name) : name)
export const checkDns1035LabelName: NameRule = (name, { prefix = false } = {}) =>
  checkDns1035Label(prefix ? maskTrailingDash(name) : name)

/**
 * Generates a name: the prefix, truncated to 58 characters, and five random characters.
 *
 * @param randomInt returns an integer from 0 up to, but not including, its argument.
 */
export function generateName(prefix: string, randomInt: (below: number) => number): string {
  let name = prefix.slice(0, generatedLengthMax - suffixLength)
  for (let count = 0; count < suffixLength; count++) name += suffixAlphabet.charAt(randomInt(suffixAlphabet.length))
  return name
}

const generatedLengthMax = 63
const suffixLength = 5
/** No vowels and no digits that look like vowels, so that no words are formed. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

function isDnsSubdomain(value: string): boolean {
  return value.split('.').every((label) => dnsLabel.test(label))
}

function checkSubdomain(value: string, unit: 'bytes' | 'characters'): string[] {
  const complaints = tooLong(value, 253, unit)
  if (isDnsSubdomain(value)) return complaints
  const complaint =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
    'and must start and end with an alphanumeric character'
  return [...complaints, withPattern(complaint, dnsSubdomainText, ['example.com'])]
}

function checkPrefixPart(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return checkSubdomain(prefix, 'bytes').map((complaint) => `prefix part ${complaint}`)
}

// Kubernetes drops the letter before the dash too; this does the same, so that both accept the same names.
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name
}

// The messages of Kubernetes say "characters" for DNS names and "bytes" for labels; both count bytes.
function tooLong(value: string, bytesMax: number, unit: 'bytes' | 'characters'): string[] {
  return utf8Length(value) > bytesMax ? [`must be no more than ${bytesMax} ${unit}`] : []
}

function withPattern(complaint: string, pattern: string, examples: readonly string[]): string {
  return `${complaint} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`
}
