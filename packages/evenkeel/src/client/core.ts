/**
 * What the verbs of a client share: the transport, the REST mapper, defaults, write hooks; and the options of a client.
 */
import {
  findCause,
  isNotFound,
  type JsonObject,
  type Kind,
  type KubeObject,
  type Subject,
  type TypeMeta,
  asKubeObject,
} from '#api'
import { silentLogger, SystemClock, SystemRandom, type AbortOptions, type Clock, type Logger, type Random } from '#base'
import type { Transport } from '#wire'
import { RestMapper, UnknownKindError } from './mapper.ts'
import {
  formatTarget,
  type FieldValidation,
  type ObjectName,
  type ResourceLocation,
  type WriteOptions,
} from './request-options.ts'
import { formatKindName, type KindLike, type Resource } from './resource.ts'
import { RestClient, Warnings, type RestRequest, type WarningHandler } from './rest-client.ts'
import { withRateLimit, withRetry } from './retry.ts'

/** Defaults of a client's requests. */
export interface ClientDefaults {
  /** The namespace of objects when none is given. Lists and watches still cover all namespaces. */
  readonly namespace?: string
  /** The field manager of writes; `apply` needs one. */
  readonly fieldManager?: string
  /** @default the server's (`Warn`) */
  readonly fieldValidation?: FieldValidation
  /** @default false */
  readonly dryRun?: boolean
  readonly reconcileId?: string
}

/** A write that is about to be sent, or was. */
export interface WriteNotice extends TypeMeta {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteAllOf'
  readonly namespace?: string
  /** Absent for `deleteAllOf`, and for a create with `generateName`. */
  readonly name?: string
  readonly subresource?: string
  readonly reconcileId?: string
  readonly dryRun: boolean
}

export interface WriteHooks {
  /** Called once for every write, before it is sent; an error refuses the write. */
  beforeWrite?(write: WriteNotice): void
  /** Called with the stored object; undefined when it is deleted or there are many. */
  afterWrite?(write: WriteNotice, object: KubeObject | undefined): void
}

export interface ClientCore {
  readonly rest: RestClient
  readonly mapper: RestMapper
  readonly clock: Clock
  readonly random: Random
  readonly defaults: ClientDefaults
  readonly hooks: WriteHooks
  readonly watchLineBytesMax: number
}

/** One object, or the location where one will be created. */
interface ResourceTarget {
  readonly resource: Resource
  readonly location: ResourceLocation
}

interface LocateOptions extends AbortOptions {
  readonly key: ObjectName | KubeObject['metadata']
  readonly subresource?: string | undefined
}

/** The location of an object. @throws {RangeError} when it needs a namespace and none is given. */
export async function locate(
  core: ClientCore,
  kind: KindLike,
  { key: name, subresource, signal }: LocateOptions,
): Promise<ResourceTarget> {
  const resource = core.mapper.find(kind) ?? (await core.mapper.resolve(kind, { signal }))
  const namespace = name.namespace || core.defaults.namespace
  if (resource.namespaced && !namespace) {
    throw new RangeError(
      `${formatKindName(resource)} ${JSON.stringify(name.name ?? '')} needs a namespace: put it into the key or metadata, or give the client one`,
    )
  }
  return {
    resource,
    location: {
      name: name.name,
      ...(resource.namespaced && { namespace }),
      ...(subresource !== undefined && { subresource }),
    },
  }
}

/** The object of a response, with its apiVersion and kind. */
export function finishObject(object: JsonObject, { apiVersion, kind }: TypeMeta): KubeObject {
  // Items of a list come without kind; metadata alone comes with the kind of the metadata. The value was just parsed and
  // has no other owner, so it is completed in place.
  if (object['kind'] === undefined || object['kind'] === 'PartialObjectMetadata')
    Object.assign(object, { apiVersion, kind })
  return asKubeObject(object)
}

export interface WriteCall extends ResourceTarget {
  readonly verb: WriteNotice['verb']
  readonly method: string
  readonly parameters?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: RestRequest['body'] | KubeObject
  readonly contentType?: string
  readonly options: WriteOptions
}

/** Sends a write and returns the response. */
export async function write(core: ClientCore, call: WriteCall): Promise<JsonObject> {
  const {
    resource,
    location: place,
    verb,
    method,
    parameters,
    body,
    contentType,
    options: { signal, timeoutMs, reconcileId = core.defaults.reconcileId, dryRun = core.defaults.dryRun ?? false },
  } = call
  const notice: WriteNotice = {
    verb,
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    dryRun,
    ...(place.namespace && { namespace: place.namespace }),
    ...(place.name && { name: place.name }),
    ...(place.subresource && { subresource: place.subresource }),
    ...(reconcileId !== undefined && { reconcileId }),
  }
  // A create is sent to the collection; creating below an object (eviction, token) is sent to the object.
  const address = verb === 'create' && place.subresource === undefined ? { ...place, name: undefined } : place
  const target = formatTarget(resource, address, parameters)
  core.hooks.beforeWrite?.(notice)
  const answer = await core.rest.json({
    method,
    target,
    body: body as RestRequest['body'],
    contentType,
    signal,
    timeoutMs,
    reconcileId,
    subject: subjectOf(resource, place),
  })
  const object = answer['kind'] === 'Status' || verb === 'deleteAllOf' ? undefined : finishObject(answer, resource)
  core.hooks.afterWrite?.(notice, object)
  return answer
}

/** A write's options, completed by the client's defaults. */
export function withDefaults<O extends WriteOptions>(core: ClientCore, options: O): O {
  const { fieldManager, fieldValidation, dryRun } = core.defaults
  return {
    ...(fieldManager !== undefined && { fieldManager }),
    ...(fieldValidation !== undefined && { fieldValidation }),
    ...(dryRun !== undefined && { dryRun }),
    ...options,
  }
}

export function subjectOf({ group, plural }: Resource, { name }: ResourceLocation): Subject {
  return { group, kind: plural, ...(name && { name }) }
}

/**
 * Whether an error says that this one object does not exist; a missing kind is a different error.
 *
 * Servers name the object that is missing. For a resource they do not have they send a plain text, or a Status about
 * nothing in particular.
 */
export function isObjectMissing(error: unknown): boolean {
  return (
    isNotFound(error) && error.subject?.name !== undefined && findCause(error, 'UnexpectedServerResponse') === undefined
  )
}

/** An error for a missing kind with its name; other errors as they are. */
export function nameMissingKind(error: unknown, kind: TypeMeta): unknown {
  return isNotFound(error) && !isObjectMissing(error) ? new UnknownKindError(kind, { cause: error }) : error
}

export interface ClientOptions extends ClientDefaults, WriteHooks {
  /** How requests reach the server: a server in this process, or `httpTransport`. */
  readonly transport: Transport
  /** Called by `close`. */
  readonly close?: () => Promise<void>
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** @default 'evenkeel' */
  readonly userAgent?: string
  /** Called with each warning of the server once. @default the log */
  readonly onWarning?: WarningHandler
  /** Kinds that are known from the start, so that they need no discovery. */
  readonly kinds?: readonly Kind[]
  /**
   * How long to wait for a response. Servers give up after a minute.
   *
   * @default 75_000
   */
  readonly timeoutMs?: number
  /** The largest response. @default 268_435_456 */
  readonly responseBytesMax?: number
  /** The largest event of a watch. @default 16_777_216 */
  readonly watchLineBytesMax?: number
  /** Retries; false for none. @default 10 retries, waits of up to 30 s */
  readonly retry?: false | { readonly retriesMax?: number; readonly waitMaxMs?: number }
  /** The most requests per second. @default no limit */
  readonly rateLimit?: { readonly perSecond: number; readonly burst?: number }
  /** For how long a missing kind is not looked up again. @default 5000 */
  readonly discoveryReloadMs?: number
  /**
   * Called right before a write is sent, at every attempt, however long it waited; an error refuses the write. For leases
   * that may expire in the meantime.
   *
   * @default every write is sent
   */
  readonly writeGate?: () => void
}

export function makeCore(options: ClientOptions): ClientCore {
  const {
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    userAgent = 'evenkeel',
    kinds = [],
    discoveryReloadMs,
  } = options
  const { timeoutMs = 75_000, responseBytesMax = 256 * 1024 * 1024, watchLineBytesMax = 16 * 1024 * 1024 } = options
  const {
    onWarning = (text, { method, target }) => {
      log.warn('API server warning', { text, method, target })
    },
  } = options
  const exchange = new RestClient({
    transport: wrap(options, clock, random),
    clock,
    warnings: new Warnings(onWarning),
    userAgent,
    timeoutMs,
    responseBytesMax,
  })
  const mapper = new RestMapper({
    rest: exchange,
    clock,
    ...(discoveryReloadMs !== undefined && { reloadMs: discoveryReloadMs }),
  })
  for (const kind of kinds) mapper.remember(kind)
  const { namespace, fieldManager, fieldValidation, dryRun, reconcileId, beforeWrite, afterWrite } = options
  return {
    rest: exchange,
    mapper,
    clock,
    random,
    watchLineBytesMax,
    defaults: {
      ...(namespace !== undefined && { namespace }),
      ...(fieldManager !== undefined && { fieldManager }),
      ...(fieldValidation !== undefined && { fieldValidation }),
      ...(dryRun !== undefined && { dryRun }),
      ...(reconcileId !== undefined && { reconcileId }),
    },
    hooks: { ...(beforeWrite && { beforeWrite }), ...(afterWrite && { afterWrite }) },
  }
}

/** Every attempt counts against the limit and passes the gate, so both are inside; the gate is last. */
function wrap({ transport, retry = {}, rateLimit, writeGate }: ClientOptions, clock: Clock, random: Random): Transport {
  const gated = writeGate ? withGate(transport, writeGate) : transport
  const limited = rateLimit ? withRateLimit(gated, { clock, ...rateLimit }) : gated
  return retry === false ? limited : withRetry(limited, { clock, random, ...retry })
}

function withGate(transport: Transport, gate: () => void): Transport {
  return async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return await transport(request)
    gate()
    return await transport({ ...request, beforeSend: gate })
  }
}
