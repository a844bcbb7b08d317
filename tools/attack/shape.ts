/**
 * The vocabulary of the catalogue: entry points, requests, and the two sorts of shapes.
 *
 * A document shape makes one request of size `n`; making it is pure, so the same `n` and the same random numbers give
 * the same bytes. A connection shape drives sockets itself. Both are sized by `n`, so that n can be compared with 2n.
 */
import type { Random } from 'evenkeel/unstable/base'

/** Where bytes of a client enter the server. */
export const entries = [
  'json',
  'yaml',
  'protobuf',
  'patch',
  'apply',
  'schema',
  'selector',
  'table',
  'watch',
  'http1',
  'http2',
] as const

export type Entry = (typeof entries)[number]

/** The users of the attacked server; a request without one has no credentials. */
export type AttackUser = 'admin' | 'mallory' | 'polite'

export interface AttackRequest {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly accept?: string
  readonly body?: string | Uint8Array
  /** @default 'mallory' */
  readonly user?: AttackUser
}

export interface DocumentShape {
  readonly name: string
  readonly entry: Entry
  readonly n: number
  make(n: number, random: Random): AttackRequest
  /** Requests that prepare the server and are not measured; they use the namespace `scratch`. */
  before?(n: number): readonly AttackRequest[]
}

/** What a connection shape sent, and what became of it. */
export interface ConnectionOutcome {
  readonly bytes: number
  readonly status: string
  /** A defence that did not hold, beyond the bounds of costs. */
  readonly failure?: string
}

/** How to reach the attacked server. */
export interface AttackAddress {
  readonly port: number
  readonly caPem: string
  readonly tokens: Readonly<Record<AttackUser, string>>
}

export interface ConnectionShape {
  readonly name: string
  readonly entry: Entry
  readonly n: number
  run(address: AttackAddress, n: number, signal: AbortSignal): Promise<ConnectionOutcome>
}

export type Shape = DocumentShape | ConnectionShape

export function isDocumentShape(shape: Shape): shape is DocumentShape {
  return 'make' in shape
}

/** Whether a search has made this shape: its name says how. */
export function isRecipe({ name }: Shape): boolean {
  return name.includes('~')
}

/** The largest body that a shape sends: the limit of the server. */
export const bodyBytesMax = 3 * 1024 * 1024

export function bytesOf({ path, body = '' }: AttackRequest): number {
  return path.length + Buffer.byteLength(body)
}

// What documents are made of.

export function list<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index))
}

export function dict(n: number, make: (index: number) => readonly [string, unknown]): Record<string, unknown> {
  return Object.fromEntries(list(n, make))
}

/** `{a: {a: … leaf}}` */
export function nested(depth: number, leaf: unknown, wrap = (inner: unknown): unknown => ({ a: inner })): unknown {
  let value = leaf
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

export const coreKinds = '/api/v1/namespaces/default'
export const scratchKinds = '/api/v1/namespaces/scratch'

/** A dry run of the creation of a ConfigMap. */
export function createConfigMap(metadata: object, more: object = {}, query = ''): AttackRequest {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', ...metadata }, ...more })
  return { method: 'POST', path: `${coreKinds}/configmaps?dryRun=All${query}`, body }
}

/** A dry run of the creation of an object; `path` ends with its resource. */
export function createObject(
  path: string,
  typed: readonly [apiVersion: string, kind: string],
  more: object,
): AttackRequest {
  const [apiVersion, kind] = typed
  const body = JSON.stringify({ apiVersion, kind, metadata: { name: 'x' }, ...more })
  return { method: 'POST', path: `${path}?dryRun=All`, body }
}

export function createPod(spec: object): AttackRequest {
  return createObject(`${coreKinds}/pods`, ['v1', 'Pod'], { spec })
}

/** Whether the server parses the body as YAML. It first tries whether a body of YAML is JSON, which costs much less. */
export function isYaml({ type, body }: AttackRequest): boolean {
  if (type === undefined || !type.includes('yaml')) return false
  if (type === 'application/yaml') return true
  try {
    JSON.parse(String(body))
    return false
  } catch {
    return true
  }
}
