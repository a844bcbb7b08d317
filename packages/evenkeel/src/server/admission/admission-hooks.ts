/**
 * Admission hooks: functions of the embedding program that complete or validate writes, as an admission plugin.
 *
 * They have the contract of webhooks without the network. Objects are frozen; a hook returns a new one, or the
 * operations of a JSON patch. It refuses a write by throwing an `ApiError` or by returning field errors; any other
 * error is a bug of the hook and fails the write with 500.
 */
import {
  applyJsonPatch,
  deepCopy,
  deepEqual,
  deepFreeze,
  formatApiVersion,
  internalError,
  invalid,
  isApiError,
  type FieldError,
  type JsonObject,
  type JsonPatchOperation,
  type JsonValue,
  type Kind,
  type KubeObject,
  type LabelSelector,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import { nativeSignal, randomUuid, type Logger, type Random } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { User } from '../request-context.ts'
import type { AdmissionAttributes, AdmissionOperation, AdmissionPlugin } from './admission.ts'
import { bodyResource, convertToVersion, replaceDraft } from './conversion.ts'
import { webhookCriteria, type MatchCriteria, type Matcher } from './matching.ts'

export interface AdmissionHook<T extends KubeObject = KubeObject> {
  /** Named in refusals and in the log. */
  readonly name: string
  /**
   * A kind it is about: objects are shown in its version, whichever one the client wrote.
   *
   * @default what `rules` say
   */
  readonly kind?: Kind<T>
  /**
   * Which writes it handles, in the form of webhook rules; one of them has to match.
   *
   * @default the kind; without one, every write
   */
  readonly rules?: readonly AdmissionHookRule[]
  /** @default objects in every namespace, and in none */
  readonly namespaceSelector?: LabelSelector
  /**
   * Labels of the object as it is wanted or as it was.
   *
   * @default every object
   */
  readonly objectSelector?: LabelSelector
  /**
   * Returns the changed object, or nothing when it is fine as it is. Runs before defaults, system fields and
   * validation, and again when webhooks changed the object: it must be idempotent. Not called for deletions.
   */
  mutate?(
    object: T,
    context: AdmissionHookContext<T>,
  ): T | readonly JsonPatchOperation[] | undefined | Promise<T | readonly JsonPatchOperation[] | undefined>
  /** Validates the object that would be written; for a deletion, the object to delete. */
  validate?(
    object: T,
    context: AdmissionHookContext<T>,
  ): readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>
}

export interface AdmissionHookRule {
  /** @default all */
  readonly operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE' | '*')[]
  /** @default all */
  readonly apiGroups?: readonly string[]
  /** @default all */
  readonly apiVersions?: readonly string[]
  /** `pods`, `pods/status`, `pods/*`, `*`: resources without subresources, or all with the star on both sides of a slash. */
  readonly resources: readonly string[]
  /** @default '*' */
  readonly scope?: 'Cluster' | 'Namespaced' | '*'
}

/** The context of a hook, beside the object. */
export interface AdmissionHookContext<T extends KubeObject = KubeObject> {
  readonly request: AdmissionHookRequest<T>
  /** The object as it is stored; absent when it is new. */
  readonly oldObject: T | undefined
  /** A dry run: nothing will be stored. */
  readonly dryRun: boolean
  /** Aborts when the client closed the connection for the response. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Adds a warning to the response; the write continues. */
  warn(text: string): void
  /** Adds an annotation to the audit event. */
  annotate(key: string, value: string): void
}

/** The write under admission. */
export interface AdmissionHookRequest<T extends KubeObject = KubeObject> {
  readonly uid: string
  readonly operation: AdmissionOperation
  readonly apiVersion: string
  readonly kind: string
  /** Absent when the server generates the name. */
  readonly name?: string
  readonly namespace?: string
  readonly subresource?: string
  readonly user: AdmissionHookUser
  readonly dryRun: boolean
  /** The new object; absent for a deletion. */
  readonly object?: T
  /** The current object; absent for a create. */
  readonly oldObject?: T
  readonly options?: JsonObject | null
}

/** The user of the request. */
export interface AdmissionHookUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

interface HookPluginOptions {
  readonly matching: Matcher
  readonly random: Random
  readonly log: Logger
}

/** Turns a hook into an admission plugin. Writes of the server itself do not reach it. */
export function hookPlugin(hook: AdmissionHook, { matching, random, log }: HookPluginOptions): AdmissionPlugin {
  const criteria = criteriaOf(hook)
  const asking = { hook, log: log.child({ hook: hook.name }), random }
  const matched = async (
    object: UnstructuredObject | undefined,
    admitted: AdmissionAttributes,
  ): Promise<HookObjects | undefined> => {
    const { operation, target, old } = admitted
    const resource = admitted.user && matching.match(criteria, { operation, target, object, ...(old && { old }) })
    return (
      resource && {
        resource,
        object: object && (await convertToVersion(object, target.resource, resource)),
        old: old && (await convertToVersion(old, target.resource, resource)),
      }
    )
  }
  return {
    name: hook.name,
    isLocal: true,
    handles: (write) =>
      (hook.mutate !== undefined || hook.validate !== undefined) && matching.couldMatch(criteria, write),
    ...(hook.mutate && {
      async mutate(draft, admitted) {
        const shown = await matched(draft, admitted)
        return shown !== undefined && runMutate(draft, shown, { ...asking, admitted })
      },
    }),
    ...(hook.validate && {
      async validate(object, admitted) {
        const shown = await matched(object, admitted)
        if (shown) await runValidate(shown, { ...asking, admitted })
      },
    }),
  }
}

/** The objects of a write in the version of the hook. */
interface HookObjects {
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
}

interface HookCall {
  readonly hook: AdmissionHook
  readonly log: Logger
  readonly random: Random
  readonly admitted: AdmissionAttributes
}

async function runMutate(draft: ObjectDraft, shown: HookObjects, asking: HookCall): Promise<boolean> {
  const {
    hook,
    admitted: { target },
  } = asking
  // Hooks get a frozen copy, because the server changes the draft later.
  const before = copyOf(shown.object ?? draft)
  const context = contextOf({ ...shown, object: before }, asking)
  const wanted = await guardHook(hook, () => hook.mutate?.(context.request.object as KubeObject, context))
  const after = Array.isArray(wanted)
    ? await guardHook(hook, () => applyJsonPatch(before, wanted as readonly JsonPatchOperation[]))
    : (wanted as JsonValue | undefined)
  if (after === undefined || deepEqual(after, before)) return false
  const next = parseJson(stringifyJson(after)) as ObjectDraft
  replaceDraft(next, next, bodyResource({ ...target, resource: shown.resource }))
  const back = await convertToVersion(next, shown.resource, target.resource)
  replaceDraft(draft, back, bodyResource(target))
  return true
}

async function runValidate(shown: HookObjects, asking: HookCall): Promise<void> {
  const {
    hook,
    admitted: {
      target: { name },
    },
  } = asking
  const context = contextOf(copied(shown), asking)
  const { object, oldObject } = context.request
  const judged = object ?? oldObject
  if (judged === undefined) return
  const errors: readonly FieldError[] = (await guardHook(hook, () => hook.validate?.(judged, context))) ?? []
  if (errors.length > 0)
    throw invalid(
      { group: shown.resource.group, kind: shown.resource.kind, name: name || (judged.metadata.name ?? '') },
      errors,
    )
}

function copied({ resource, object, old }: HookObjects): HookObjects {
  return { resource, object: object && copyOf(object), old }
}

function copyOf(object: UnstructuredObject): UnstructuredObject {
  return deepCopy(object) as UnstructuredObject
}

/** Passes refusals on; any other error is a bug of the hook. */
async function guardHook<T>({ name }: AdmissionHook, decide: () => T | Promise<T>): Promise<T> {
  try {
    return await decide()
  } catch (error) {
    if (isApiError(error)) throw error
    throw internalError(
      new Error(
        `admission hook ${JSON.stringify(name)} failed: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      ),
    )
  }
}

function contextOf({ resource, object, old }: HookObjects, { admitted, log, random }: HookCall): AdmissionHookContext {
  const { dryRun, signal } = admitted
  const request = deepFreeze(requestOf(admitted, { resource, object, old: old && copyOf(old), random }))
  return {
    request,
    oldObject: request.oldObject,
    dryRun,
    log,
    signal: signal ? nativeSignal(signal) : never,
    warn: (text) => {
      admitted.warn(text)
    },
    annotate: (key, value) => {
      admitted.annotate(key, value)
    },
  }
}

const never = new AbortController().signal

function requestOf(
  { operation, target, user, dryRun, options }: AdmissionAttributes,
  { resource, object, old, random }: HookObjects & { random: Random },
): AdmissionHookRequest {
  const { group, version, kind } = bodyResource({ ...target, resource })
  return {
    uid: randomUuid(random),
    operation,
    apiVersion: formatApiVersion({ group, version }),
    kind,
    ...(target.name !== '' && { name: target.name }),
    ...(target.namespace !== '' && { namespace: target.namespace }),
    ...(target.subresource && { subresource: target.subresource.name }),
    user: userOf(user),
    dryRun,
    options,
    ...(object && { object: object }),
    ...(old && { oldObject: old }),
  }
}

function userOf(user: User | undefined): AdmissionHookUser {
  return {
    username: user?.name ?? '',
    ...(user?.uid !== undefined && { uid: user.uid }),
    groups: [...(user?.groups ?? [])],
    extra: { ...user?.extra },
  }
}

function criteriaOf({ kind, rules, namespaceSelector = {}, objectSelector = {} }: AdmissionHook): MatchCriteria {
  const all: readonly AdmissionHookRule[] | undefined =
    rules ?? (kind && [{ apiGroups: [kind.group], apiVersions: [kind.version], resources: [kind.plural] }])
  const criteria = webhookCriteria({
    namespaceSelector,
    objectSelector,
    rules: (all ?? []).map(ruleOf),
  })
  return all === undefined ? { ...criteria, rules: undefined } : criteria
}

function ruleOf({
  operations = ['*'],
  apiGroups = ['*'],
  apiVersions = ['*'],
  resources,
  scope = '*',
}: AdmissionHookRule): JsonObject {
  return {
    operations: [...operations],
    apiGroups: [...apiGroups],
    apiVersions: [...apiVersions],
    resources: [...resources],
    scope,
  }
}
