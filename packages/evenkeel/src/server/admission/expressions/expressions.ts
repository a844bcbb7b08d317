/**
 * What expressions of admission are given for one write: the variables of match conditions and policies.
 *
 * The language itself is `loadAdmissionLanguage` of the api layer. The request is the same that webhooks are sent, but
 * for its uid and its objects, and without the fields that are empty.
 */
import type { AdmissionInput, JsonObject, UnstructuredObject } from '#api'
import { userInfo } from '../../authentication/person.ts'
import type { AuthorizerChain } from '../../access/access.ts'
import type { ResourceRef } from '../../call.ts'
import type { Resource } from '../../resources/resource.ts'
import type { AdmissionAttributes } from '../admission.ts'

interface ExpressionInputOptions {
  /** The form in which the write matched; objects are given in it. */
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
  readonly authorizer: AuthorizerChain
  readonly namespaceObject?: UnstructuredObject | undefined
  readonly params?: UnstructuredObject | undefined
}

/** The variables for a write. */
export function expressionInput(
  admitted: AdmissionAttributes,
  { resource, object, old, authorizer, namespaceObject, params }: ExpressionInputOptions,
): AdmissionInput {
  return {
    object: object as unknown as JsonObject | undefined,
    oldObject: old as unknown as JsonObject | undefined,
    request: requestFields(admitted, resource),
    namespaceObject: namespaceObject as unknown as JsonObject | undefined,
    params: params as unknown as JsonObject | undefined,
    user: admitted.user,
    authorize: (check) => authorizer.decide(check),
  }
}

/** The fields of an AdmissionRequest but uid, object and oldObject; empty ones are left out. */
export function requestFields(
  { operation, target, user, dryRun, options }: AdmissionAttributes,
  resource: Resource,
): JsonObject {
  const subresource = target.subresource?.name
  return {
    kind: kindOf({ ...target, resource }),
    resource: resourceOf(resource),
    ...(subresource !== undefined && { subResource: subresource }),
    requestKind: kindOf(target),
    requestResource: resourceOf(target.resource),
    ...(subresource !== undefined && { requestSubResource: subresource }),
    ...(target.name !== '' && { name: target.name }),
    ...(namespaceOf(target) !== '' && { namespace: namespaceOf(target) }),
    operation,
    userInfo: user === undefined ? {} : userInfo(user),
    dryRun,
    options,
  }
}

/** Namespaces count as being in themselves. */
function namespaceOf({ resource: { group, plural }, namespace, name }: ResourceRef): string {
  return group === '' && plural === 'namespaces' ? name : namespace
}

/** The kind of what is written: a subresource may have one of its own. */
function kindOf({ resource, subresource }: Pick<ResourceRef, 'resource' | 'subresource'>): JsonObject {
  const form =
    subresource === undefined
      ? resource
      : (resource.subresources.find(({ name }) => name === subresource.name) ?? subresource)
  return { group: form.group, version: form.version, kind: form.kind }
}

function resourceOf({ group, version, plural }: Resource): JsonObject {
  return { group, version, resource: plural }
}
