/**
 * The variables that expressions of admission see, and their types.
 *
 * Objects are checked by nobody: they may be anything. The request and the namespace have types, which only the checker
 * knows: when an expression runs they are plain JSON, in which fields that are empty are absent.
 */
import { Environment } from '../expressions/check/declarations.ts'
import type { Variable } from '../expressions/check/declarations.ts'
import {
  boolType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from '../expressions/check/type.ts'
import type { Type } from '../expressions/check/type.ts'
import { baseEnvironment } from '../expressions/library/base.ts'
import { adaptDynamic } from '../expressions/value/json-adapter.ts'
import { patchFunctions, patchMessages } from '../expressions/patches/patch-types.ts'
import { authorizerFunctions, authorizerType, resourceCheckType } from './authorizer.ts'
import type { AdmissionScope } from './load.ts'

/** What is in scope before any variable is defined. */
export function admissionEnvironment({
  hasParams = false,
  hasAuthorizer = true,
  hasPatches = false,
  object = dynamic,
  params = dynamic,
}: AdmissionScope & ObjectVariables): Environment {
  return withAuthorizerFunctions.extend(
    {
      object,
      oldObject: object,
      request: { type: requestType(), adapt: adaptDynamic },
      namespaceObject: { type: namespaceType(), adapt: adaptDynamic },
      ...(hasParams && { params }),
      ...(hasAuthorizer && {
        authorizer: { type: authorizerType },
        'authorizer.requestResource': { type: resourceCheckType },
      }),
    },
    hasPatches ? { functions: patchFunctions, messages: patchMessages } : {},
  )
}

/** What is known of objects, where something is. */
interface ObjectVariables {
  readonly object?: Variable
  readonly params?: Variable
}

const dynamic: Variable = { type: dynType, adapt: adaptDynamic }
const withAuthorizerFunctions = new Environment({ parent: baseEnvironment, functions: authorizerFunctions })

function typeWith(name: string, fields: Readonly<Record<string, Type>>): Type {
  return objectType(name, new Map(Object.entries(fields)))
}

const texts = listOf(stringType)

function requestType(): Type {
  const kind = typeWith('kubernetes.GroupVersionKind', { group: stringType, version: stringType, kind: stringType })
  const resource = typeWith('kubernetes.GroupVersionResource', {
    group: stringType,
    version: stringType,
    resource: stringType,
  })
  const userInfo = typeWith('kubernetes.UserInfo', {
    username: stringType,
    uid: stringType,
    groups: texts,
    extra: mapOf(stringType, texts),
  })
  return typeWith('kubernetes.AdmissionRequest', {
    kind,
    resource,
    subResource: stringType,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: stringType,
    name: stringType,
    namespace: stringType,
    operation: stringType,
    userInfo,
    dryRun: boolType,
    options: dynType,
  })
}

function namespaceType(): Type {
  const labels = mapOf(stringType, stringType)
  const condition = typeWith('kubernetes.NamespaceCondition', {
    status: stringType,
    type: stringType,
    lastTransitionTime: timestampType,
    message: stringType,
    reason: stringType,
  })
  const metadata = typeWith('kubernetes.NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels,
    annotations: labels,
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: texts,
  })
  return typeWith('kubernetes.Namespace', {
    metadata,
    spec: typeWith('kubernetes.NamespaceSpec', { finalizers: texts }),
    status: typeWith('kubernetes.NamespaceStatus', { conditions: listOf(condition), phase: stringType }),
  })
}
