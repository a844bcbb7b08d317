/**
 * What the calls of a client can be told. Everything is optional; what is left out is not sent.
 */
import {
  checkPathSegmentName,
  formatFieldRequirements,
  formatLabelRequirements,
  labelRequirementsOf,
  type LabelSelector,
  type Owner,
} from '#api'
import type { AbortOptions } from '#base'
import { formatResourcePath } from '#wire'
import type { Resource } from './resource.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** What every call takes. */
export interface CallOptions extends AbortOptions {
  /**
   * How long to wait for the answer, retries included; for a watch, until it begins.
   *
   * @default the client's
   */
  readonly timeoutMs?: number
}

/** Which object of a kind. An `ObjectKey` will do. */
export interface ObjectName {
  readonly name: string
  /** Ignored for kinds without namespaces. */
  readonly namespace?: string
}

export interface GetOptions extends CallOptions {
  /** `'0'`: whatever the server has at hand, which may be old. */
  readonly resourceVersion?: string
}

/** Which objects of a kind. */
export interface Selection {
  /** @default all namespaces */
  readonly namespace?: string
  /** `app=web,tier!=db`, or the selector of a spec. */
  readonly labelSelector?: string | LabelSelector
  /** `status.phase=Running`, or values by field. */
  readonly fieldSelector?: string | Readonly<Record<string, string>>
}

export interface ListOptions extends Selection, CallOptions {
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /**
   * How many objects are asked for at a time; 0 asks for all at once.
   *
   * @default 500
   */
  readonly pageSize?: number
}

/** One page: as many objects as wanted, and where to go on. */
export interface PageOptions extends ListOptions {
  /** From `metadata.continue` of the page before. */
  readonly continue?: string
}

export interface WatchOptions extends Selection, CallOptions {
  /** Where to begin: what comes after this version. Without it the watch begins with all objects, in any order. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /**
   * The objects that are there first, then a bookmark with `initialEventsEnd`, then changes.
   *
   * @default false
   */
  readonly sendInitialEvents?: boolean
  /** @default true */
  readonly allowWatchBookmarks?: boolean
  /** When the server shall end the watch, in seconds; watches are begun again, not kept for ever. */
  readonly timeoutSeconds?: number
  /**
   * Objects may come without managed fields. Servers that know how leave them out; others send them.
   *
   * @default false
   */
  readonly mayOmitManagedFields?: boolean
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /** Everything is checked and answered, and nothing is stored. */
  readonly dryRun?: boolean
  /**
   * Who owns the fields that are written.
   *
   * @default the client's
   */
  readonly fieldManager?: string
  /**
   * What happens to fields that the kind does not have.
   *
   * @default the client's, or the server's (`Warn`)
   */
  readonly fieldValidation?: FieldValidation
  /** Which reconcile writes; the server's log has it in the user agent. */
  readonly reconcileId?: string
}

export interface CreateOptions extends WriteOptions {
  /**
   * Who the object belongs to: the owner becomes its controller. An owner that is being deleted is refused: the child
   * would be born to die, or worse, stay.
   */
  readonly owner?: Owner
}

/**
 * How a patch is meant: `merge` replaces what it names (`null` deletes), `json` is a list of operations, `strategic`
 * merges lists by key and works for built-in kinds only.
 */
export type PatchType = 'merge' | 'json' | 'strategic'

export interface PatchOptions extends WriteOptions {
  /** @default 'merge' */
  readonly type?: PatchType
}

export interface PatchFromOptions extends WriteOptions {
  /**
   * Refuse with `Conflict` when the object has changed since it was read.
   *
   * @default true
   */
  readonly optimisticLock?: boolean
}

export interface ApplyOptions extends CreateOptions {
  /**
   * Take fields from whoever owns them.
   *
   * @default false
   */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Only if it is still this very object, or still in this state; `Conflict` otherwise. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** What happens to the objects it owns. @default what the kind says, mostly `Background` */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
  readonly reconcileId?: string
}

export interface DeleteAllOptions extends Selection, Omit<DeleteOptions, 'preconditions'> {}

/*
 * The targets of requests: path and query, from what a call was told.
 */

/** Where on a resource: the collection, one object, a part of one. */
export interface ResourceLocation {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

type QueryParameters = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Path and query; parameters that are undefined are left out.
 *
 * @throws {RangeError} when a name could leave its place in the path: asking for it would be asking for something else.
 */
export function formatTarget(
  { group, version, kind, plural, namespaced }: Resource,
  { namespace, name, subresource }: ResourceLocation,
  parameters: QueryParameters = {},
): string {
  for (const part of [namespace, name]) {
    const complaints = part ? checkPathSegmentName(part) : []
    if (complaints.length > 0)
      throw new RangeError(
        `${JSON.stringify(part)} is no name for a ${kind} or its namespace: ${complaints.join('; ')}`,
      )
  }
  const path = formatResourcePath({
    group,
    version,
    resource: plural,
    ...(namespaced && namespace && { namespace }),
    ...(name && { name }),
    ...(subresource && { subresource }),
  })
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) query.set(key, String(value))
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

export function selectionParameters({ labelSelector, fieldSelector }: Selection): QueryParameters {
  return {
    labelSelector: typeof labelSelector === 'object' ? formatLabels(labelSelector) : labelSelector,
    fieldSelector: typeof fieldSelector === 'object' ? formatFields(fieldSelector) : fieldSelector,
  }
}

/** Later pages go by their token alone: the token says the version, and saying it twice is refused. */
export function pageParameters({
  pageSize = 500,
  continue: token,
  resourceVersion,
  resourceVersionMatch,
  ...selection
}: PageOptions): QueryParameters {
  return {
    ...selectionParameters(selection),
    limit: pageSize > 0 ? pageSize : undefined,
    ...(token ? { continue: token } : { resourceVersion, resourceVersionMatch }),
  }
}

export function watchParameters(options: WatchOptions): QueryParameters {
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks = true, timeoutSeconds } = options
  const { resourceVersionMatch = sendInitialEvents === undefined ? undefined : 'NotOlderThan' } = options
  return {
    ...selectionParameters(options),
    watch: true,
    resourceVersion,
    resourceVersionMatch,
    sendInitialEvents,
    allowWatchBookmarks: allowWatchBookmarks || undefined,
    timeoutSeconds,
  }
}

export function writeParameters({ dryRun, fieldManager, fieldValidation }: WriteOptions): QueryParameters {
  return { dryRun: dryRun ? 'All' : undefined, fieldManager: fieldManager, fieldValidation }
}

export function applyParameters(options: ApplyOptions): QueryParameters {
  return { ...writeParameters(options), force: options.force || undefined }
}

/** The body of a delete; undefined when there is nothing to say. */
export function deleteBody({
  preconditions,
  propagationPolicy: propagation,
  gracePeriodSeconds,
  dryRun,
}: DeleteOptions): Record<string, string | number | string[] | Record<string, string>> | undefined {
  const said = {
    ...(preconditions && { preconditions: { ...preconditions } }),
    ...(propagation && { propagationPolicy: propagation }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun && { dryRun: ['All'] }),
  }
  return Object.keys(said).length > 0 ? { kind: 'DeleteOptions', apiVersion: 'v1', ...said } : undefined
}

function formatLabels(selector: LabelSelector): string {
  return formatLabelRequirements(labelRequirementsOf(selector) ?? [])
}

function formatFields(fields: Readonly<Record<string, string>>): string {
  return formatFieldRequirements(
    Object.entries(fields).map(([field, value]) => ({ field, operator: '=' as const, value })),
  )
}
