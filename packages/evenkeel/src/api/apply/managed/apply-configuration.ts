/**
 * Server-side apply of one configuration: the object it makes, with managed fields, or the refusal.
 *
 * The result is not defaulted or validated yet: that follows, as for any write. A configuration that changes neither the
 * object nor who owns what gives back the live object itself.
 */
import { ApiError } from '../../error/api-error.ts'
import { badRequest } from '../../error/makers.ts'
import { getOwn } from '../../json.ts'
import type { JsonObject } from '../../json.ts'
import { parseApiVersion } from '../../kind/group-version.ts'
import { applyConfig } from '../merge/apply.ts'
import type { ApplyInput, ApplyResult } from '../merge/apply.ts'
import type { Conflicts } from '../merge/settle.ts'
import type { FieldSet } from '../paths/field-set.ts'
import type { FieldType } from '../typed/field-type.ts'
import { TypedError } from '../typed/mistakes.ts'
import { validateTyped } from '../typed/validate.ts'
import { conflictError } from './conflict-error.ts'
import { decodeManagedFields, encodeManagedFields } from './entries.ts'
import type { ManagedState } from './entries.ts'
import { fieldsOfLastApplied, lastAppliedManager, syncLastApplied } from './last-applied.ts'
import { updaterOptionsOf, entriesOf, managerOf, metadataOf, timeOf, typedObject, withEntries } from './request.ts'
import type { FieldManagerRequest } from './request.ts'
import { stripSystemFields } from './system-fields.ts'
import { recordUpdate } from './track-update.ts'

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

/** What was there before anybody applied belongs to a manager of its own, so that a first apply can conflict with it. */
function beforeFirstApply(managed: ManagedState, request: ApplyRequest): ManagedState {
  if (!request.live) return managed
  const before = typedObject({ apiVersion: request.apiVersion, kind: request.kind }, request)
  const after = typedObject(withEntries(request.live, undefined), request)
  const what = (name: string): string =>
    `failed to create manager for existing fields: failed to convert new object (${name}) to smd typed: `
  check(after.object, { type: after.type, duplicates: true, what })
  return recordUpdate({ before, after }, managed, { ...request, manager: 'before-first-apply' })
}

/** Refuses an object that does not fit its schema, in the words of upstream, where this is no client's fault: 500. */
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
