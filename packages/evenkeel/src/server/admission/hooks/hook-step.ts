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
import { forOthers, randomUuid } from '#base'
import type { Logger, Random } from '#base'
import type { User } from '../../call.ts'
import type { ObjectDraft, Resource } from '../../resources/resource.ts'
import type { AdmissionStep, Admitted } from '../admission.ts'
import { formOf, replaceDraft } from '../drafts.ts'
import { inForm } from '../matching/forms.ts'
import { webhookCriteria } from '../matching/matching.ts'
import type { MatchCriteria, Matching } from '../matching/matching.ts'
import type {
  AdmissionHook,
  AdmissionHookContext,
  AdmissionHookRequest,
  AdmissionHookRule,
  AdmissionHookUser,
} from './admission-hook.ts'

interface HookOptions {
  readonly matching: Matching
  readonly random: Random
  readonly log: Logger
}

/** Makes a hook take part in admission. What the server itself writes is not shown to it. */
export function hookStep(hook: AdmissionHook, { matching, random, log }: HookOptions): AdmissionStep {
  const criteria = criteriaOf(hook)
  const asking = { hook, log: log.child({ hook: hook.name }), random }
  const matched = async (object: UnstructuredObject | undefined, admitted: Admitted): Promise<Shown | undefined> => {
    const { operation, target, old } = admitted
    const resource = admitted.user && matching.match(criteria, { operation, target, object, ...(old && { old }) })
    return (
      resource && {
        resource,
        object: object && (await inForm(object, target.resource, resource)),
        old: old && (await inForm(old, target.resource, resource)),
      }
    )
  }
  return {
    name: hook.name,
    concerns: (write) =>
      (hook.mutate !== undefined || hook.validate !== undefined) && matching.couldMatch(criteria, write),
    ...(hook.mutate && {
      async mutate(draft, admitted) {
        const shown = await matched(draft as unknown as UnstructuredObject, admitted)
        return shown !== undefined && complete(draft, shown, { ...asking, admitted })
      },
    }),
    ...(hook.validate && {
      async validate(object, admitted) {
        const shown = await matched(object, admitted)
        if (shown) await judge(shown, { ...asking, admitted })
      },
    }),
  }
}

/** What a hook sees of a write: in the form it is about. */
interface Shown {
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
}

interface Asking {
  readonly hook: AdmissionHook
  readonly log: Logger
  readonly random: Random
  readonly admitted: Admitted
}

async function complete(draft: ObjectDraft, shown: Shown, asking: Asking): Promise<boolean> {
  const {
    hook,
    admitted: { target },
  } = asking
  // What is frozen must not be what the server works on.
  const before = deepCopy(shown.object as unknown as JsonObject)
  const context = contextOf({ ...shown, object: before as unknown as UnstructuredObject }, asking)
  const wanted = await decided(hook, () => hook.mutate?.(context.request.object as KubeObject, context))
  const after = Array.isArray(wanted)
    ? await decided(hook, () => applyJsonPatch(before, wanted as readonly JsonPatchOperation[]))
    : (wanted as JsonValue | undefined)
  if (after === undefined || deepEqual(after, before)) return false
  const next = JSON.parse(JSON.stringify(after)) as ObjectDraft
  replaceDraft(next, next, formOf({ ...target, resource: shown.resource }))
  const back = await inForm(next as unknown as UnstructuredObject, shown.resource, target.resource)
  replaceDraft(draft, back as unknown as JsonObject, formOf(target))
  return true
}

async function judge(shown: Shown, asking: Asking): Promise<void> {
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
  const errors: readonly FieldError[] = (await decided(hook, () => hook.validate?.(judged, context))) ?? []
  if (errors.length > 0)
    throw invalid(
      { group: shown.resource.group, kind: shown.resource.kind, name: name || (judged.metadata.name ?? '') },
      errors,
    )
}

function copied({ resource, object, old }: Shown): Shown {
  return { resource, object: object && copyOf(object), old }
}

function copyOf(object: UnstructuredObject): UnstructuredObject {
  return deepCopy(object as unknown as JsonObject) as unknown as UnstructuredObject
}

/** Refusals pass; what else a hook throws is its own mistake. */
async function decided<T>({ name }: AdmissionHook, decide: () => T | Promise<T>): Promise<T> {
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

function contextOf({ resource, object, old }: Shown, { admitted, log, random }: Asking): AdmissionHookContext {
  const { dryRun, signal } = admitted
  const request = deepFreeze(requestOf(admitted, { resource, object, old: old && copyOf(old), random }))
  return {
    request,
    oldObject: request.oldObject,
    dryRun,
    log,
    signal: signal ? forOthers(signal) : never,
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
  { operation, target, user, dryRun, options }: Admitted,
  { resource, object, old, random }: Shown & { random: Random },
): AdmissionHookRequest {
  const { group, version, kind } = formOf({ ...target, resource })
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
