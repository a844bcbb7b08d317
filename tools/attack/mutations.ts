/**
 * Changes of a request that may make it more expensive, chosen by a seed.
 *
 * A change is pure: the same request and the same seed give the same request. Which sort of change a seed makes does not
 * depend on the document, so that a recipe means the same for n and for 2n.
 */
import { randomInt, SeededRandom, type Random } from 'evenkeel/unstable/base'
import { dict, nested, type AttackRequest } from './shape.ts'

/** Larger values stay as they are: a change must not turn one body into a hundred. */
const valueBytesMax = 200_000

type JsonContainer = Record<string, unknown> | unknown[]
type DocumentChange = (document: Record<string, unknown>, random: Random) => void
type RequestChange = (request: AttackRequest, random: Random) => AttackRequest

/** The changed request; `others` are the documents that may be mixed in. */
export function mutate(
  request: AttackRequest,
  seed: string,
  others: readonly ((n: number) => AttackRequest)[],
): AttackRequest {
  const choice = new SeededRandom(`${seed} sort`)
  const random = new SeededRandom(`${seed} content`)
  const change = pick([...requestChanges, ...documentChanges.map(ofDocument), mixing(others)], choice)
  return change(request, random)
}

export function pick<T>(values: readonly T[], random: Random): T {
  return values[randomInt(random, values.length)] as T
}

const requestChanges: readonly RequestChange[] = [
  (request) => (request.method === 'POST' ? { ...request, type: 'application/yaml' } : request),
  (request, random) => ({
    ...request,
    path: withQuery(request.path, pick(['fieldValidation=Strict', 'fieldValidation=Warn', 'pretty=true'], random)),
  }),
  (request, random) => ({ ...request, accept: pick(accepts, random) }),
  (request, random) => ({ ...request, ...repeatedSlice(request, random) }),
]

const accepts = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
] as const

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

/** A slice of the text, many times in its place: repeated keys, tokens and brackets. */
function repeatedSlice({ body }: AttackRequest, random: Random): Pick<AttackRequest, 'body'> {
  if (typeof body !== 'string' || body.length === 0) return {}
  const start = randomInt(random, body.length)
  const end = Math.min(body.length, start + 1 + randomInt(random, 40))
  const times = 2 ** randomInt(random, 12)
  return { body: `${body.slice(0, start)}${body.slice(start, end).repeat(times)}${body.slice(end)}` }
}

const documentChanges: readonly DocumentChange[] = [
  (document, random) => {
    replace(document, random, (value) => nested(1 + randomInt(random, 90), value))
  },
  (document, random) => {
    replace(document, random, () => pick(leaves, random).repeat(1 + randomInt(random, 50_000)))
  },
  (document, random) => {
    replace(document, random, () => pick([1e300, -0.1e-300, 9007199254740991, null, true, []], random))
  },
  (document, random) => {
    const prefix = pick(leaves, random).repeat(1 + randomInt(random, 30))
    replace(document, random, (value) => renamed(value, prefix))
  },
  (document, random) => {
    replace(document, random, (value) => (Array.isArray(value) ? [...value, ...value] : [value, value]))
  },
  (document, random) => {
    const count = 2 ** randomInt(random, 14)
    replace(document, random, (value) => dict(Math.min(count, copiesOf(value)), (index) => [`k${index}`, value]))
  },
]

const leaves = ['a', '\u{1f600}', '\u202e', '\\', '"', '%', 'a.', '-', '0', 'é'] as const

/** How many copies of a value fit into a body. */
function copiesOf(value: unknown): number {
  return Math.ceil(1e6 / (sizeOf(value) + 1))
}

function sizeOf(value: unknown): number {
  return (JSON.stringify(value) ?? '').length
}

function renamed(value: unknown, prefix: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [prefix]: value }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`${prefix}${key}`, inner]))
}

/** Replaces one place of a document, a few levels down; the type of an object stays. */
function replace(document: Record<string, unknown>, random: Random, change: (value: unknown) => unknown): void {
  let place: JsonContainer = document
  for (let depth = 1 + randomInt(random, 5); ; depth--) {
    const keys = Object.keys(place).filter((key) => !['apiVersion', 'kind'].includes(key))
    if (keys.length === 0) return
    const key = pick(keys, random)
    const value = (place as Record<string, unknown>)[key]
    if (depth > 0 && typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      place = value as JsonContainer
      continue
    }
    if (sizeOf(value) < valueBytesMax) (place as Record<string, unknown>)[key] = change(value)
    return
  }
}

function ofDocument(change: DocumentChange): RequestChange {
  return (request, random) => {
    const document = parsed(request)
    if (!document) return request
    change(document, random)
    return { ...request, body: JSON.stringify(document) }
  }
}

/** Adds what another document has and this one lacks: two costs in one request. */
function mixing(others: readonly ((n: number) => AttackRequest)[]): RequestChange {
  return (request, random) => {
    const [document, other] = [parsed(request), parsed(pick(others, random)(500))]
    if (!document || !other) return request
    return { ...request, body: JSON.stringify(merged(document, other)) }
  }
}

function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const added = Object.entries(other).filter(([key]) => !Object.hasOwn(one, key))
  const both = Object.entries(one).map(([key, value]) => {
    const theirs = other[key]
    return [key, isObject(value) && isObject(theirs) ? merged(value, theirs) : value]
  })
  return Object.fromEntries([...both, ...added]) as Record<string, unknown>
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The document of a request; undefined when it is no JSON object. */
function parsed({ body }: AttackRequest): Record<string, unknown> | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
