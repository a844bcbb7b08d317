/**
 * The options of a client's requests, and the targets (path and query) that follow from them. Every option is optional;
 * what is left out is not sent.
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

/** Options of every request. */
export interface CallOptions extends AbortOptions {
  /**
   * How long to wait for the response, retries included; for a watch, until it starts.
   *
   * @default the client's
   */
  readonly timeoutMs?: number
}

/** Which object of a kind. An `ObjectKey` will do. */
export interface ObjectName {
  readonly name: string
  /** Ignored for cluster-scoped kinds. */
  readonly namespace?: string
}

export interface GetOptions extends CallOptions {
  /** `'0'`: any version the server has at hand, which may be stale. */
  readonly resourceVersion?: string
}

/** Which objects of a kind. */
interface Selection {
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
   * How many objects are requested at a time; 0 requests all at once.
   *
   * @default 500
   */
  readonly pageSize?: number
}

/** One page of a list. */
export interface PageOptions extends ListOptions {
  /** From `metadata.continue` of the page before. */
  readonly continue?: string
}

export interface WatchOptions extends Selection, CallOptions {
  /** The version to start after. Without it the watch starts with all objects, in any order. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /**
   * All present objects first, then a bookmark with `initialEventsEnd`, then changes.
   *
   * @default false
   */
  readonly sendInitialEvents?: boolean
  /** @default true */
  readonly allowWatchBookmarks?: boolean
  /** When the server shall end the watch, in seconds; watches are restarted, not kept open indefinitely. */
  readonly timeoutSeconds?: number
  /**
   * Objects may come without managed fields. Servers that support it leave them out; others send them.
   *
   * @default false
   */
  readonly mayOmitManagedFields?: boolean
}

/** What every write takes. */
export interface WriteOptions extends CallOptions {
  /** Everything is checked and answered, but nothing is stored. */
  readonly dryRun?: boolean
  /**
   * The field manager.
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
  /** The reconcile that writes; part of the user agent in the server's log. */
  readonly reconcileId?: string
}

export interface CreateOptions extends WriteOptions {
  /**
   * The owner, which becomes the controller of the object. An owner that is being deleted is refused: the child would be
   * deleted at once, or worse, stay.
   */
  readonly owner?: Owner
}

/**
 * The type of a patch: `merge` replaces what it names (`null` deletes), `json` is a list of operations, `strategic`
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
   * Take fields from other managers.
   *
   * @default false
   */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Only if it is still this object, or still this version; `Conflict` otherwise. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** What happens to dependent objects. @default what the kind says, mostly `Background` */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
  readonly reconcileId?: string
}

export interface DeleteAllOptions extends Selection, Omit<DeleteOptions, 'preconditions'> {}

/** A location in a resource: the collection, one object, a subresource. */
export interface ResourceLocation {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

type QueryParameters = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Path and query; parameters that are undefined are left out.
 *
 * @throws {RangeError} when a name would change the structure of the path.
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

/** Later pages have their token alone: it implies the version, and both together are refused. */
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

/** The body of a delete; undefined when there are no options. */
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
