/**
 * A question as the spec of a SubjectAccessReview, without what is empty.
 */
import type { FieldRequirement, JsonObject, JsonValue, LabelOperator, LabelRequirement } from '#api'
import type { AuthorizationAttributes } from '../../access/access.ts'

/** What a webhook is asked. */
export function reviewSpec(question: AuthorizationAttributes): JsonObject {
  const {
    user: { name, uid, groups, extra },
    verb,
    path,
    resourcePath: place,
  } = question
  const about =
    place === undefined
      ? { nonResourceAttributes: { path, verb } }
      : { resourceAttributes: resourceAttributes(question) }
  return withoutEmpty({ ...about, user: name, groups: [...groups], extra: extra as unknown as JsonObject, uid })
}

function resourceAttributes({
  verb,
  resourcePath: place,
  fields = [],
  labels = [],
}: AuthorizationAttributes): JsonObject {
  return withoutEmpty({
    namespace: place?.namespace,
    verb,
    group: place?.group,
    version: place?.version,
    resource: place?.resource,
    subresource: place?.subresource,
    name: place?.name,
    ...(fields.length > 0 && { fieldSelector: { requirements: fields.map(fieldRequirement) } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels.map(labelRequirement) } }),
  })
}

function fieldRequirement({ field, operator, value }: FieldRequirement): JsonObject {
  return { key: field, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] }
}

function labelRequirement({ key, operator, values }: LabelRequirement): JsonObject {
  return { key, operator: labelOperators[operator] ?? operator, ...(values.length > 0 && { values: [...values] }) }
}

const labelOperators: Partial<Record<LabelOperator, string>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

function withoutEmpty(object: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries(object).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(entries) as JsonObject
}
