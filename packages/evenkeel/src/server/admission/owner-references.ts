/**
 * OwnerReferencesPermissionEnforcement: permission to set the owners of an object.
 *
 * Garbage collection deletes the dependents of a deleted owner, so a user who changes owner references needs permission
 * to delete the object. `blockOwnerDeletion` delays the deletion of the owner, so a user who sets it needs permission
 * to update the finalizers of the owner. The plugin is off by default, as upstream.
 */
import { deepEqual, forbidden, parseApiVersion, type OwnerReference, type UnstructuredObject } from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { AuthorizationAttributes, AuthorizationDecision, AuthorizerChain } from '../authz/authorizer.ts'
import type { Registry } from '../registry/registry.ts'
import type { User } from '../request-context.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'

interface OwnerReferencesContext {
  readonly authorizer: AuthorizerChain
  readonly registry: Registry
}

/** Refuses owner references that the user may not set. */
export function ownerReferencesPlugin({ authorizer, registry }: OwnerReferencesContext): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ({
      operation,
      target: {
        resource: { group, plural },
        subresource,
      },
    }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !(group === '' && plural === 'pods' && subresource?.name === 'status'),
    async validate(object, admitted) {
      const { user, old, operation } = admitted
      if (object === undefined || user === undefined || !changesOwners(object, old)) return
      if (operation !== 'CREATE') await requireDelete(admitted, user, authorizer)
      const blocking = newBlocking(object, old)
      if (blocking.length === 0 || (await authorizer.decide(finalizeAnything(user))).allowed) return
      for (const reference of blocking) await requireFinalizers(reference, { authorizer, registry, admitted, user })
    },
  }
}

async function requireDelete(admitted: AdmissionAttributes, user: User, authorizer: AuthorizerChain): Promise<void> {
  const {
    target: {
      resource: { group, version, plural },
      subresource,
      namespace,
      name,
    },
  } = admitted
  const verdict = await authorizer.decide({
    user,
    verb: 'delete',
    path: '',
    resourcePath: { group, version, resource: plural, subresource: subresource?.name ?? '', namespace, name },
  })
  if (!verdict.allowed)
    throw refuse(admitted, `cannot set an ownerRef on a resource you can't delete: ${denialText(verdict)}`)
}

interface BlockingOwnerCheck extends OwnerReferencesContext {
  readonly admitted: AdmissionAttributes
  readonly user: User
}

async function requireFinalizers(
  { apiVersion, kind, name }: OwnerReference,
  { authorizer, registry, admitted, user }: BlockingOwnerCheck,
): Promise<void> {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  const owners = registry
    .all()
    .filter((resource) => resource.group === group && resource.version === version && resource.kind === kind)
  if (owners.length === 0)
    throw refuse(
      admitted,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
    )
  for (const owner of owners) {
    const verdict = await authorizer.decide({
      user,
      verb: 'update',
      path: '',
      resourcePath: finalizersOf(owner, { name, namespace: admitted.target.namespace }),
    })
    if (!verdict.allowed)
      throw refuse(
        admitted,
        `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${denialText(verdict)}`,
      )
  }
}

// A namespaced owner is in the namespace of its dependent.
function finalizersOf(
  { group, version, plural, scope }: Resource,
  { name, namespace }: { name: string; namespace: string },
): AuthorizationAttributes['resourcePath'] {
  return {
    group,
    version,
    resource: plural,
    subresource: 'finalizers',
    namespace: scope === 'Namespaced' ? namespace : '',
    name,
  }
}

function finalizeAnything(user: User): AuthorizationAttributes {
  return {
    user,
    verb: 'update',
    path: '',
    resourcePath: { group: '*', version: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' },
  }
}

function changesOwners(
  { metadata: { ownerReferences = [] } }: UnstructuredObject,
  old: UnstructuredObject | undefined,
): boolean {
  return !deepEqual(ownerReferences, old?.metadata.ownerReferences ?? [])
}

/** References that set `blockOwnerDeletion` now and did not before. */
function newBlocking(
  { metadata: { ownerReferences = [] } }: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly OwnerReference[] {
  const before = new Set(
    (old?.metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid),
  )
  return ownerReferences.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !before.has(uid))
}

// Upstream prints the reason and the error, and the error is nearly always nil.
function denialText({ reason: why, error = '<nil>' }: AuthorizationDecision): string {
  return `${why}, ${error}`
}

function refuse(
  {
    target: {
      resource: { group, plural },
      name,
    },
  }: AdmissionAttributes,
  why: string,
): Error {
  return forbidden({ group, kind: plural, name }, why)
}
