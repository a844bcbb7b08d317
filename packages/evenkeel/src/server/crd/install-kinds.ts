/**
 * Installs kinds made with `defineKind`: creates or updates their CRDs through a transport, on any server with the
 * Kubernetes API.
 *
 * Versions of one kind share one CRD; the version that clients should prefer is the stored one. Other content of an
 * existing CRD stays: versions in which objects may still be stored, conversion, labels and annotations.
 */
import {
  badRequest,
  crdOf,
  deepEqual,
  findCondition,
  fromStatus,
  fromUnexpectedResponse,
  isAlreadyExists,
  isConflict,
  isFailureStatus,
  isJsonObject,
  isNotFound,
  loadClaimsEngine,
  type Condition,
  type JsonObject,
  type Kind,
  type SchemaNode,
  type UnstructuredObject,
  stringifyJson,
} from '#api'
import { deadline, sleep, SystemClock, type Clock } from '#base'
import { readJson, type Transport, type WireResponse } from '#wire'
import { compareVersions } from '../discovery/groups.ts'
import { checkStoredObjects, type SchemaVersions } from './stored-objects.ts'

export interface InstallOptions {
  /** @default the system's */
  clock?: Clock
  /** Ends the wait; the kinds may or may not have been installed. */
  signal?: AbortSignal
  /**
   * How long to wait until all kinds are served.
   *
   * @default 30_000
   */
  timeoutMs?: number
  /**
   * Replace the schema also when stored objects do not fit the new one.
   *
   * @default false
   */
  force?: boolean
}

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const pollMs = 100
const attemptsMax = 10

/**
 * Installs kinds; when it resolves they are served.
 *
 * @throws {RangeError} when a kind cannot be a custom resource; the message names the field and the reason.
 * @throws {SchemaChangeError} when stored objects do not fit a new schema.
 * @throws {ApiError} the error of the server.
 */
export async function installKinds(
  transport: Transport,
  kinds: readonly Kind[],
  { clock = new SystemClock(), signal, timeoutMs = 30_000, force = false }: InstallOptions = {},
): Promise<void> {
  const wanted = crdsOf(kinds)
  if (wanted.length === 0) return
  await checkActionConditions(kinds)
  const { signal: waiting, done } = deadline(clock, timeoutMs, { signal })
  try {
    for (const definition of wanted) await applyCrd(definition, { transport, signal: waiting, force })
    for (const {
      metadata: { name = '' },
    } of wanted)
      await waitUntilEstablished(name, transport, { clock, signal: waiting })
  } finally {
    done()
  }
}

/** A condition with a mistake would fail for the first user of the action. @throws {RangeError} */
async function checkActionConditions(kinds: readonly Kind[]): Promise<void> {
  for (const { kind, actions = [] } of kinds) {
    for (const { name, enabledWhen } of actions) {
      if (enabledWhen === undefined) continue
      const language = await loadClaimsEngine()
      try {
        language.compile(enabledWhen, { variable: 'object' })
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new RangeError(`action ${name} of ${kind}: enabledWhen ${stringifyJson(enabledWhen)}: ${reason}`, {
          cause: error,
        })
      }
    }
  }
}

interface CrdManifest extends UnstructuredObject {
  readonly spec: CrdManifestSpec
  readonly status?: { readonly storedVersions?: readonly string[]; readonly conditions?: readonly Condition[] }
}

type CrdManifestSpec = JsonObject & {
  readonly group: string
  readonly names: JsonObject & { readonly plural: string; readonly kind: string }
  readonly versions: readonly CrdManifestVersion[]
}

type CrdManifestVersion = JsonObject & {
  readonly name: string
  readonly schema?: { readonly openAPIV3Schema?: SchemaNode & JsonObject }
}

/** One CRD for all versions of a kind, in the given order. @throws {RangeError} */
export function crdsOf(kinds: readonly Kind[]): CrdManifest[] {
  const merged = new Map<string, CrdManifest>()
  for (const kind of kinds) {
    const next = crdOf(kind) as CrdManifest
    const { name = '' } = next.metadata
    const before = merged.get(name)
    if (before?.spec.versions.some((version) => version.name === kind.version))
      throw new RangeError(`${kind.kind} of ${name} is given twice in version ${kind.version}: leave one out`)
    merged.set(
      name,
      before === undefined
        ? next
        : { ...before, spec: withVersions(next.spec, [...before.spec.versions, ...next.spec.versions]) },
    )
  }
  return [...merged.values()]
}

function withVersions(spec: CrdManifestSpec, versions: CrdManifestSpec['versions']): CrdManifestSpec {
  const [stored] = versions.map(({ name }) => name).sort(compareVersions)
  return { ...spec, versions: versions.map((version) => ({ ...version, storage: version.name === stored })) }
}

interface ApplyCrdOptions {
  readonly transport: Transport
  readonly signal: AbortSignal
  readonly force: boolean
}

async function applyCrd(wanted: CrdManifest, { transport, signal, force }: ApplyCrdOptions): Promise<void> {
  const target = `${crdPath}/${wanted.metadata.name ?? ''}`
  for (let attempt = 1; ; attempt++) {
    try {
      const present = await findCrd(target, transport, signal)
      if (present === undefined)
        await requestObject(transport, {
          method: 'POST',
          target: crdPath,
          body: wanted,
          signal,
        })
      else if (!deepEqual(present.spec, mergeSpec(present, wanted)) || !hasAnnotations(present, wanted))
        await replaceCrd(present, wanted, { transport, signal, force })
      return
    } catch (error) {
      // Another client changed the CRD at the same time: read it again.
      if (attempt === attemptsMax || !(isConflict(error) || isAlreadyExists(error) || isNotFound(error))) throw error
    }
  }
}

async function replaceCrd(
  present: CrdManifest,
  wanted: CrdManifest,
  { transport, signal, force }: ApplyCrdOptions,
): Promise<void> {
  if (!force)
    await checkStoredObjects(schemasOf(present), schemasOf(wanted), (target) =>
      requestObject(transport, { method: 'GET', target, signal }),
    )
  const annotations = { ...present.metadata.annotations, ...wanted.metadata.annotations }
  await requestObject(transport, {
    method: 'PUT',
    target: `${crdPath}/${wanted.metadata.name ?? ''}`,
    body: { ...present, metadata: { ...present.metadata, annotations }, spec: mergeSpec(present, wanted) },
    signal,
  })
}

function schemasOf({ spec }: CrdManifest): SchemaVersions {
  const { group, names, versions } = spec as Partial<CrdManifestSpec>
  return {
    group: group ?? '',
    plural: names?.plural ?? '',
    kind: names?.kind ?? '',
    schemas: new Map(versions?.map(({ name, schema }) => [name, schema?.openAPIV3Schema ?? {}])),
  }
}

/** Whether it has the wanted annotations; it may have others. */
function hasAnnotations({ metadata: { annotations = {} } }: CrdManifest, wanted: CrdManifest): boolean {
  return Object.entries(wanted.metadata.annotations ?? {}).every(([name, value]) => annotations[name] === value)
}

/** The wanted spec, with the parts of the current one that must be kept. */
function mergeSpec({ spec, status }: CrdManifest, wanted: CrdManifest): JsonObject {
  const names = new Set(wanted.spec.versions.map(({ name }) => name))
  const kept = spec.versions.filter(({ name }) => !names.has(name) && status?.storedVersions?.includes(name))
  const versions = [...wanted.spec.versions, ...kept.map((version) => ({ ...version, storage: false }))]
  return { ...wanted.spec, versions, ...(spec['conversion'] !== undefined && { conversion: spec['conversion'] }) }
}

async function findCrd(target: string, transport: Transport, signal: AbortSignal): Promise<CrdManifest | undefined> {
  try {
    return (await requestObject(transport, { method: 'GET', target, signal })) as CrdManifest
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function waitUntilEstablished(
  name: string,
  transport: Transport,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  for (;;) {
    const definition = await findCrd(`${crdPath}/${name}`, transport, signal)
    const conditions = definition?.status?.conditions
    if (
      definition?.metadata.deletionTimestamp === undefined &&
      findCondition(conditions, 'Established')?.status === 'True'
    )
      return
    const names = findCondition(conditions, 'NamesAccepted')
    if (names?.status === 'False') throw new Error(`cannot serve ${name}: one of its names is taken: ${names.message}`)
    await sleep(clock, pollMs, { signal })
  }
}

interface ObjectRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly target: string
  readonly body?: UnstructuredObject
  readonly signal: AbortSignal
}

/**
 * The object in the response of a server.
 *
 * @throws {ApiError} the error of the server.
 */
async function requestObject(
  transport: Transport,
  { method, target, body, signal }: ObjectRequest,
): Promise<UnstructuredObject> {
  const headers = {
    accept: 'application/json',
    'user-agent': 'evenkeel',
    ...(body && { 'content-type': 'application/json' }),
  }
  const response = await transport({
    method,
    target,
    headers,
    signal,
    ...(body && { body: Buffer.from(stringifyJson(body)) }),
  })
  const text = Buffer.from(await wholeBody(response)).toString()
  const value = parseText(text)
  if (response.status < 200 || response.status > 299) {
    throw isFailureStatus(value)
      ? fromStatus(value)
      : fromUnexpectedResponse({ code: response.status, method, text: text.slice(0, 1024) })
  }
  if (!isJsonObject(value)) throw badRequest(`${method} ${target} was not answered with an object`)
  return value as UnstructuredObject
}

/** More than the size of any CRD. */
const bytesMax = 16 * 1024 * 1024

async function wholeBody({ body }: WireResponse): Promise<Uint8Array> {
  if (body === undefined || body instanceof Uint8Array) return body ?? new Uint8Array()
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.byteLength
    if (size > bytesMax) throw badRequest(`the answer is larger than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parseText(text: string): unknown {
  try {
    return readJson(text, { duplicates: false }).value
  } catch {
    return undefined
  }
}
