/**
 * The variables of CEL admission expressions and their types, and the type check of validating policies.
 *
 * Objects have no static type. The request and the namespace have types that only the checker knows: at run time they
 * are plain JSON, in which empty fields are absent.
 *
 * The server does not check a policy against schemas when it is written, because the CRDs may come later. The type
 * check gives warnings only: they do not affect the policy.
 */
import {
  adaptDynamic,
  baseEnvironment,
  boolType,
  CompiledExpression,
  compileExpression,
  dynType,
  Environment,
  intType,
  listOf,
  mapOf,
  objectType,
  patchFunctions,
  patchMessages,
  stringType,
  timestampType,
  type Type,
  type Variable,
} from '@evenkeel/cel'
import { isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { schemaDeclType } from '../schema/cel-types.ts'
import type { Schema } from '../schema/schema.ts'
import { authorizerFunctions, authorizerType, resourceCheckType } from './authorizer.ts'
import type { AdmissionScope, PolicyTypes, TypeWarning } from './expressions.ts'

/** The variables before any variable of the policy is defined. */
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

/** The known types of objects. */
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

// The type check of validating policies.

export function typeWarnings(spec: JsonObject, { objects, params }: PolicyTypes): readonly TypeWarning[] {
  const hasParams = isJsonObject(spec['paramKind'])
  const environments = objects.map(({ name, schema }) => ({
    name,
    environment: withVariables(
      spec,
      admissionEnvironment({ hasParams, object: objectVariables(schema), params: objectVariables(params) }),
    ),
  }))
  return listIn(spec, 'validations').flatMap((validation, index) =>
    ['expression', 'messageExpression'].flatMap((field) => {
      const text = validation[field]
      if (typeof text !== 'string' || text === '') return []
      const warnings = environments.flatMap(({ name, environment }) => warningsOf(text, name, environment))
      return warnings.length === 0
        ? []
        : [{ fieldRef: `spec.validations[${index}].${field}`, warning: warnings.join('\n') }]
    }),
  )
}

function warningsOf(text: string, name: string, environment: Environment): string[] {
  const found = compileExpression(text, environment, { trustsTypes: false })
  // An expression that compiles but cannot run is rejected when the policy is written.
  return found instanceof CompiledExpression || found.stage === 'instantiation' ? [] : [`${name}: ${found.errors}\n`]
}

function withVariables(spec: JsonObject, base: Environment): Environment {
  const fields = new Map<string, Type>()
  const environment = base.extend({ variables: { type: objectType('kubernetes.variables', fields) } })
  for (const { name, expression } of listIn(spec, 'variables')) {
    if (typeof name !== 'string' || typeof expression !== 'string') continue
    const found = compileExpression(expression, environment, { trustsTypes: false })
    fields.set(name, found instanceof CompiledExpression ? found.type : dynType)
  }
  return environment
}

function objectVariables(schema: Schema | undefined): Variable {
  // The published schema of a kind is complete, including its metadata.
  const seen = schema && schemaDeclType(schema)
  return { type: seen?.type ?? dynType }
}

function listIn(spec: JsonObject, field: string): readonly JsonObject[] {
  const list: JsonValue | undefined = spec[field]
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
