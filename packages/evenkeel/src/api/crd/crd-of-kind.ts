/**
 * The CustomResourceDefinition of a kind: what to apply to a cluster before objects of the kind can be created.
 */
import { deepFreeze, type JsonObject } from '@evenkeel/cel/primitives'
import { actionsAnnotation, checkActionDefinition } from '../actions.ts'
import { formatFieldError } from '../errors/field-error.ts'
import type { Kind } from '../kind/kind.ts'
import type { UnstructuredObject } from '../object.ts'
import { validateCrd } from './crd.ts'
import { structuralFromJsonSchema } from './json-schema.ts'

/**
 * Returns the CustomResourceDefinition of a kind, with its version served and stored.
 *
 * @example
 * await client.apply(crdOf(Website), { fieldManager: 'installer' })
 * console.log(JSON.stringify(crdOf(Website), null, 2))
 *
 * @throws {RangeError} when the kind has no schema, or one that a custom resource cannot have; the message says where.
 */
export function crdOf(kind: Kind): UnstructuredObject {
  const { group, plural, singular, listKind, shortNames, categories, scope, actions = [] } = kind
  if (kind.schema === undefined)
    throw new RangeError(`${kind.kind} has no schema, so it cannot be defined: make it with defineKind`)
  const names = {
    plural,
    singular,
    kind: kind.kind,
    listKind,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  }
  const spec = { group, scope, names, versions: [versionOf(kind, kind.schema)], conversion: { strategy: 'None' } }
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(actions.length > 0 && {
        annotations: { [actionsAnnotation]: JSON.stringify(actions.map(checkActionDefinition)) },
      }),
    },
    spec,
  }
  const [error] = validateCrd({ ...crd, status: { storedVersions: [kind.version] } })
  if (error !== undefined) throw new RangeError(`${kind.kind} cannot be a custom resource: ${formatFieldError(error)}`)
  return deepFreeze(crd)
}

function versionOf(
  { kind, version, subresources, printerColumns, selectableFields }: Kind,
  schema: JsonObject,
): JsonObject {
  const { status, scale } = subresources
  return {
    name: version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: structuralFromJsonSchema(schema, kind) as unknown as JsonObject },
    ...((status || scale !== undefined) && {
      subresources: { ...(status && { status: {} }), ...(scale && { scale: { ...scale } }) },
    }),
    ...(printerColumns.length > 0 && { additionalPrinterColumns: printerColumns.map((column) => ({ ...column })) }),
    ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  }
}
