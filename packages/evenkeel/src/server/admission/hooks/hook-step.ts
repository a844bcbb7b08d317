/**
 * A hook of the embedder as a step of admission.
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
} from '#api'
import type { FieldError, JsonObject, JsonPatchOperation, JsonValue, KubeObject, UnstructuredObject } from '#api'
import { nativeSignal, randomUuid } from '#base'
import type { Logger, Random } from '#base'
import type { User } from '../../call.ts'
import type { ObjectDraft, Resource } from '../../resources/resource.ts'
import type { AdmissionPlugin, AdmissionAttributes } from '../admission.ts'
import { bodyResource, replaceDraft } from '../drafts.ts'
import { convertToVersion } from '../matching/forms.ts'
import { webhookCriteria } from '../matching/matching.ts'
import type { MatchCriteria, Matcher } from '../matching/matching.ts'
import type {
  AdmissionHook,
  AdmissionHookContext,
  AdmissionHookRequest,
  AdmissionHookRule,
  AdmissionHookUser,
} from './admission-hook.ts'

interface HookPluginOptions {
  readonly matching: Matcher
  readonly random: Random
  readonly log: Logger
}

/** Makes a hook take part in admission. What the server itself writes is not shown to it. */
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
    handles: (write) =>
      (hook.mutate !== undefined || hook.validate !== undefined) && matching.couldMatch(criteria, write),
    ...(hook.mutate && {
      async mutate(draft, admitted) {
        const shown = await matched(draft as unknown as UnstructuredObject, admitted)
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

/** What a hook sees of a write: in the form it is about. */
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
  // What is frozen must not be what the server works on.
  const before = deepCopy(shown.object as unknown as JsonObject)
  const context = contextOf({ ...shown, object: before as unknown as UnstructuredObject }, asking)
  const wanted = await guardHook(hook, () => hook.mutate?.(context.request.object as KubeObject, context))
  const after = Array.isArray(wanted)
    ? await guardHook(hook, () => applyJsonPatch(before, wanted as readonly JsonPatchOperation[]))
    : (wanted as JsonValue | undefined)
  if (after === undefined || deepEqual(after, before)) return false
  const next = JSON.parse(JSON.stringify(after)) as ObjectDraft
  replaceDraft(next, next, bodyResource({ ...target, resource: shown.resource }))
  const back = await convertToVersion(next as unknown as UnstructuredObject, shown.resource, target.resource)
  replaceDraft(draft, back as unknown as JsonObject, bodyResource(target))
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
  return deepCopy(object as unknown as JsonObject) as unknown as UnstructuredObject
}

/** Refusals pass; what else a hook throws is its own mistake. */
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
    ...(object && { object: object as unknown as KubeObject }),
    ...(old && { oldObject: old as unknown as KubeObject }),
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
  } as unknown as JsonObject)
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
