/**
 * What the verbs of a client share: who to ask, how kinds are found, and what goes with every write.
 */
import type { AbortOptions, Clock, Random } from '#base'
import { findCause, isNotFound } from '#api'
import type { JsonObject, KubeObject, Subject, TypeMeta } from '#api'
import type { RestRequest, RestClient } from './request/exchange.ts'
import { formatTarget } from './request/targets.ts'
import type { ResourceLocation } from './request/targets.ts'
import type { FieldValidation, ObjectName, WriteOptions } from './options.ts'
import type { RestMapper } from './mapping/mapper.ts'
import { UnknownKindError } from './mapping/mapper.ts'
import { formatKindName } from './mapping/resource.ts'
import type { KindLike, Resource } from './mapping/resource.ts'

/** What goes with a client's calls unless a call says otherwise. */
export interface ClientDefaults {
  /** Where objects of kinds with namespaces live when nobody says so. Lists and watches are of all namespaces all the same. */
  readonly namespace?: string
  /** Who owns the fields that are written; `apply` needs one. */
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
  /** Absent for `deleteAllOf`, and for a create whose name the server makes. */
  readonly name?: string
  readonly subresource?: string
  readonly reconcileId?: string
  readonly dryRun: boolean
}

export interface WriteHooks {
  /** Called once for every write, before it is sent; what it throws refuses the write. */
  beforeWrite?(write: WriteNotice): void
  /** Called with what the server stored; undefined when the object is gone or there are many. */
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

/** One object, or the place where one will be. */
interface ResourceTarget {
  readonly resource: Resource
  readonly location: ResourceLocation
}

interface LocateOptions extends AbortOptions {
  readonly key: ObjectName | KubeObject['metadata']
  readonly subresource?: string | undefined
}

/** Where an object of a kind is. @throws {RangeError} when it needs a namespace and nobody names one. */
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

/** The one object of an answer, with its type as a client asked for it. */
export function finishObject(object: JsonObject, { apiVersion, kind }: TypeMeta): KubeObject {
  // Items of a list come without type, metadata alone comes with the type of metadata. The value was parsed a moment
  // ago and is nobody else's, so it is completed in place.
  if (object['kind'] === undefined || object['kind'] === 'PartialObjectMetadata')
    Object.assign(object, { apiVersion, kind })
  return object as unknown as KubeObject
}

export interface WriteCall extends ResourceTarget {
  readonly verb: WriteNotice['verb']
  readonly method: string
  readonly parameters?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: RestRequest['body'] | KubeObject
  readonly contentType?: string
  readonly options: WriteOptions
}

/** Sends a write and gives what the server says about it. */
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

/** A write's options with the client's own behind them. */
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
 * Whether an error says that this one object is not there; a whole kind that is not there is somebody's mistake.
 *
 * Servers name the object that is missing. For a resource they do not have they send a plain text, or a Status about
 * nothing in particular.
 */
export function isObjectMissing(error: unknown): boolean {
  return (
    isNotFound(error) && error.subject?.name !== undefined && findCause(error, 'UnexpectedServerResponse') === undefined
  )
}

/** A missing kind by its name; other errors as they are. */
export function nameMissingKind(error: unknown, kind: TypeMeta): unknown {
  return isNotFound(error) && !isObjectMissing(error) ? new UnknownKindError(kind, { cause: error }) : error
}
