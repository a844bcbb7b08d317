/**
 * Content negotiation: selects the format of a response from the `Accept` header, as kube-apiserver does.
 *
 * Entries are tried by weight, then by specificity, then in the given order. An entry that is not offered is skipped, not
 * refused, so that `application/json;as=Table, application/json` works for every resource.
 */
import { notAcceptable } from '#api'

export type MediaFormat = 'json' | 'yaml' | 'protobuf' | 'cbor'

/** The media type of each format. */
export const mediaTypes: Readonly<Record<MediaFormat, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
}

/** A transformation of the response: `as=Table;g=meta.k8s.io;v=v1`. */
export interface MediaShape {
  readonly kind: string
  readonly group: string
  readonly version: string
}

export interface MediaChoice {
  readonly format: MediaFormat
  /** Absent: the objects themselves. */
  readonly shape?: MediaShape
  readonly pretty?: boolean
  /**
   * The server may leave out managed fields where that is cheaper: `application/json;managedFields=optional`. Other
   * servers ignore the parameter.
   */
  readonly mayOmitManagedFields?: boolean
}

export interface MediaOffer {
  readonly formats: readonly MediaFormat[]
  /** Whether the response can be transformed to this shape in this format. */
  accepts?(shape: MediaShape, format: MediaFormat): boolean
  /** Formats in which only shapes are offered, not the objects themselves. */
  readonly onlyShaped?: readonly MediaFormat[]
}

interface MediaType {
  /** `application/json`, in lower case. */
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** Parses a media type; parameter names are in lower case, values unchanged. */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';')
  const parameters: Record<string, string> = Object.create(null) as Record<string, string>
  for (const part of rest) {
    const at = part.indexOf('=')
    if (at > 0) parameters[part.slice(0, at).trim().toLowerCase()] = unquote(part.slice(at + 1).trim())
  }
  return { type: type.trim().toLowerCase(), parameters }
}

/** The format of a request body; undefined for an unsupported media type. */
export function formatOfBody(contentType: string | undefined): MediaFormat | undefined {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return 'json'
  const { type } = parseMediaType(contentType)
  return (Object.keys(mediaTypes) as MediaFormat[]).find((format) => mediaTypes[format] === type)
}

/**
 * Selects the best offer for an `Accept` header.
 *
 * @throws {ApiError} `NotAcceptable`, naming the offered formats.
 */
export function negotiate(accept: string | undefined, offer: MediaOffer): MediaChoice {
  const first = offer.formats[0] ?? 'json'
  if (accept === undefined || accept === '' || accept === '*/*') return { format: first }
  if (accept === mediaTypes[first]) return { format: first }
  for (const entry of entriesOf(accept)) {
    const choice = choose(entry, offer)
    if (choice) return choice
  }
  throw notAcceptable(offer.formats.map((format) => mediaTypes[format]))
}

function choose({ type, parameters }: MediaType, offer: MediaOffer): MediaChoice | undefined {
  const format = offer.formats.find((candidate) => matches(type, mediaTypes[candidate]))
  if (format === undefined) return undefined
  const pretty = parameters['pretty'] === '1' || parameters['pretty'] === 'true'
  const kind = parameters['as']
  const mayOmitManagedFields = parameters['managedfields'] === 'optional'
  if ((kind === undefined || kind === '') && offer.onlyShaped?.includes(format)) return undefined
  if (kind === undefined || kind === '')
    return { format, ...(pretty && { pretty }), ...(mayOmitManagedFields && { mayOmitManagedFields }) }
  const shape = { kind, group: parameters['g'] ?? '', version: parameters['v'] ?? '' }
  return offer.accepts?.(shape, format) ? { format, shape, ...(pretty && { pretty }) } : undefined
}

function matches(wanted: string, offered: string): boolean {
  return wanted === offered || wanted === '*/*' || (wanted.endsWith('/*') && offered.startsWith(wanted.slice(0, -1)))
}

function entriesOf(accept: string): MediaType[] {
  const entries = accept
    .split(',')
    .map(parseMediaType)
    .filter(({ type }) => type !== '')
  const rank = (entry: MediaType): number => weightOf(entry) * 4 + exactness(entry.type)
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter(({ entry }) => weightOf(entry) > 0)
    .sort((a, b) => b.rank - a.rank)
    .map(({ entry }) => entry)
}

// In thousandths, so that ranks stay whole numbers.
function weightOf({ parameters }: MediaType): number {
  const weight = Number(parameters['q'] ?? '1')
  return Number.isFinite(weight) ? Math.round(Math.min(Math.max(weight, 0), 1) * 1000) : 1000
}

function exactness(type: string): number {
  if (type === '*/*') return 0
  return type.endsWith('/*') ? 1 : 2
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
