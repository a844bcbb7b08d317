/**
 * Server-side apply of one apply configuration: the resulting object with its managed fields, or the error.
 *
 * The result is not defaulted or validated yet: that follows, as for any write. A configuration that changes neither
 * the object nor its managed fields returns the live object itself. Conflict errors have the text of kube-apiserver,
 * because clients match on it.
 */
import { compareText, getOwn, quote, type JsonObject } from '@evenkeel/cel/primitives'
import { ApiError } from '../errors/api-error.ts'
import { applyConflict, badRequest } from '../errors/constructors.ts'
import type { StatusCause } from '../errors/reasons.ts'
import { parseApiVersion } from '../group-version.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import { fieldsOfLastApplied, lastAppliedManager, syncLastApplied } from './client-side-apply.ts'
import {
  entriesOf,
  managerOf,
  metadataOf,
  stripSystemFields,
  timeOf,
  typedObject,
  updaterOptionsOf,
  withEntries,
  type FieldManagerRequest,
} from './field-manager.ts'
import type { FieldSet } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { decodeManagedFields, encodeManagedFields, type ManagedState } from './managed-fields.ts'
import { formatPath } from './path-element.ts'
import { recordUpdate } from './track-update.ts'
import { TypedError, validateTyped } from './typed-value.ts'
import { applyConfig, type ApplyInput, type ApplyResult, type Conflicts } from './updater.ts'

export interface ApplyRequest extends FieldManagerRequest {
  /** The kind the request is about. */
  readonly kind: string
  /** Absent when there is no such object yet. */
  readonly live: JsonObject | undefined
  readonly config: JsonObject
  /** Takes fields that other managers own. */
  readonly force: boolean
}

/**
 * @throws {ApiError} `Conflict` when other managers own fields the configuration changes, `BadRequest` when it is of
 * another type or carries managed fields, `Unknown` (500, as upstream) when it does not fit the schema.
 */
export function applyConfiguration(request: ApplyRequest): JsonObject {
  const { config, manager } = request
  const managed = decodeLive(request)
  requireType(request)
  const started = managed.managers.size > 0 ? managed : beforeFirstApply(managed, request)
  if (entriesOf(config)) throw badRequest('metadata.managedFields must be nil')
  const live = typedObject(request.live ?? { apiVersion: request.apiVersion, kind: request.kind }, request)
  check(config, { type: live.type, what: (name) => `failed to create typed patch object (${name}): ` })
  const applied = attempt(
    { live, config, managers: started.managers, manager: managerOf(request, 'Apply'), force: request.force },
    request,
  )
  const object = finish(applied, started, request)
  return manager === lastAppliedManager ? syncLastApplied(object, config) : object
}

function decodeLive({ live }: ApplyRequest): ManagedState {
  try {
    return decodeManagedFields(entriesOf(live))
  } catch (error) {
    if (error instanceof RangeError)
      throw new ApiError('Unknown', `failed to decode managed fields: ${error.message}`, { cause: error })
    throw error
  }
}

function requireType({ config, apiVersion, kind }: ApplyRequest): void {
  if (config['apiVersion'] !== apiVersion || config['kind'] !== kind)
    throw badRequest(`invalid object type: ${formatType(config)}`)
}

/** Fields set before the first apply belong to a separate manager, so that a first apply can conflict with them. */
function beforeFirstApply(managed: ManagedState, request: ApplyRequest): ManagedState {
  if (!request.live) return managed
  const before = typedObject({ apiVersion: request.apiVersion, kind: request.kind }, request)
  const after = typedObject(withEntries(request.live, undefined), request)
  const what = (name: string): string =>
    `failed to create manager for existing fields: failed to convert new object (${name}) to smd typed: `
  check(after.object, { type: after.type, duplicates: true, what })
  return recordUpdate({ before, after }, managed, { ...request, manager: 'before-first-apply' })
}

/** Rejects an object that does not fit its schema, with the text of upstream. The client is not at fault: 500. */
function check(
  object: JsonObject,
  { type, what, duplicates = false }: { type: FieldType; what: (name: string) => string; duplicates?: boolean },
): void {
  try {
    validateTyped(object, type, { duplicates })
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    const { namespace = '', name = '' } = metadataOf(object)
    throw new ApiError(
      'Unknown',
      `${what(`${String(namespace)}/${String(name)}; ${formatType(object)}`)}${error.message}`,
      { cause: error },
    )
  }
}

function attempt(application: ApplyInput, request: ApplyRequest): ApplyResult & { ok: true } {
  let applied = applyOnce(application, request)
  if (!applied.ok && request.manager === lastAppliedManager) {
    const conflicts = remainingConflicts(applied.conflicts, fieldsOfLastApplied(application.live))
    applied = conflicts.size > 0 ? { ok: false, conflicts } : applyOnce({ ...application, force: true }, request)
  }
  if (!applied.ok) throw conflictError(applied.conflicts)
  return applied
}

/** The configuration fits the schema; the live object, or what pruning left of an item, may not. */
function applyOnce(application: ApplyInput, request: ApplyRequest): ApplyResult {
  try {
    return applyConfig(application, updaterOptionsOf(request))
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    const { object, type } = application.live
    check(object, { type, duplicates: true, what: (name) => `failed to create typed live object (${name}): ` })
    throw new ApiError('Unknown', `failed to compare objects: ${error.message}`, { cause: error })
  }
}

function remainingConflicts(conflicts: Conflicts, allowed: FieldSet | undefined): Conflicts {
  if (!allowed) return conflicts
  const rest = [...conflicts].map(([manager, set]) => [manager, set.difference(allowed)] as const)
  return new Map(rest.filter(([, set]) => !set.isEmpty))
}

function finish(applied: ApplyResult & { ok: true }, managed: ManagedState, request: ApplyRequest): JsonObject {
  const identity = managerOf(request, 'Apply')
  const managers = new Map(stripSystemFields(applied.managers, identity))
  const [before, after] = [managed.managers.get(identity), managers.get(identity)]
  if (before && after && before.apiVersion === after.apiVersion && before.set.equals(after.set))
    managers.set(identity, before)
  const times = applied.changed ? new Map(managed.times).set(identity, timeOf(request)) : managed.times
  const object = applied.changed ? applied.object.object : (request.live ?? applied.object.object)
  return withEntries(object, encodeManagedFields({ ...managed, managers, times }))
}

/** `apps/v1, Kind=Deployment`: as Go prints it. */
function formatType(object: JsonObject): string {
  const apiVersion = getOwn(object, 'apiVersion')
  const kind = getOwn(object, 'kind')
  // A text that is no version prints as none.
  const { group, version } = parseApiVersion(
    typeof apiVersion === 'string' && apiVersion.split('/').length < 3 ? apiVersion : '',
  )
  return `${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

// Conflicts: the error for fields that other managers own.

/** One cause per field, managers in the order of their identities. */
function conflictError(conflicts: Conflicts): ApiError {
  const byManager = [...conflicts]
    .sort(([a], [b]) => compareText(a, b))
    .map(([identity, set]) => ({ manager: formatManager(identity), fields: [...set.paths()].map(formatPath) }))
  const causes = byManager.flatMap(({ manager, fields }) =>
    fields.map((field): StatusCause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field,
    })),
  )
  const [only] = causes
  if (causes.length === 1 && only)
    return applyConflict(`Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes)
  const lines = byManager.flatMap(({ manager, fields }) => [
    `conflicts with ${manager}:`,
    ...fields.map((field) => `- ${field}`),
  ])
  return applyConflict(`Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`, causes)
}

function formatManager(identity: string): string {
  const { manager = '', operation, apiVersion, subresource } = JSON.parse(identity) as ManagedFieldsEntry
  const name = subresource ? `${quote(manager)} with subresource ${quote(subresource)}` : quote(manager)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
