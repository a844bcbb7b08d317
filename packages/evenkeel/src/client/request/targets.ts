/**
 * The targets of requests: path and query, from what a call was told.
 */
import { checkPathSegmentName, formatFieldRequirements, formatLabelRequirements, labelRequirementsOf } from '#api'
import type { LabelSelector } from '#api'
import { formatResourcePath } from '#wire'
import type { ApplyOptions, DeleteOptions, PageOptions, Selection, WatchOptions, WriteOptions } from '../options.ts'
import type { Resource } from '../mapping/resource.ts'

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
