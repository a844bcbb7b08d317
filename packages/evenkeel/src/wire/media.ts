/**
 * Which form an answer takes: the `Accept` header read as kube-apiserver reads it.
 *
 * Entries are tried by weight, then by how exact they are, then in the order given; one that asks for a form that is
 * not offered is skipped, not refused, so that `application/json;as=Table, application/json` works on anything.
 */
import { notAcceptable } from '#api'

export type MediaFormat = 'json' | 'yaml' | 'protobuf'

/** `application/json` and its siblings, as answers and bodies name them. */
export const mediaTypes: Readonly<Record<MediaFormat, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
}

/** Another shape of the same thing: `as=Table;g=meta.k8s.io;v=v1`. */
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
   * Managed fields may be left out where that is cheaper: `application/json;managedFields=optional`. Other servers know
   * nothing of it and send them.
   */
  readonly mayOmitManagedFields?: boolean
}

export interface MediaOffer {
  readonly formats: readonly MediaFormat[]
  /** Whether an answer can take this shape in this format. */
  accepts?(shape: MediaShape, format: MediaFormat): boolean
}

interface MediaType {
  /** `application/json`, in lower case. */
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** A content type in its parts; parameters are in lower case, values as they stand. */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';')
  const parameters: Record<string, string> = Object.create(null) as Record<string, string>
  for (const part of rest) {
    const at = part.indexOf('=')
    if (at > 0) parameters[part.slice(0, at).trim().toLowerCase()] = unquote(part.slice(at + 1).trim())
  }
  return { type: type.trim().toLowerCase(), parameters }
}

/** The format of a request body; undefined when it is none of ours. */
export function formatOfBody(contentType: string | undefined): MediaFormat | undefined {
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return 'json'
  const { type } = parseMediaType(contentType)
  return (Object.keys(mediaTypes) as MediaFormat[]).find((format) => mediaTypes[format] === type)
}

/**
 * The best answer to an `Accept` header.
 *
 * @throws {ApiError} `NotAcceptable`, naming what is offered.
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
