/**
 * What is wrong with a review of access before anybody is asked.
 *
 * A question is about a resource or about a path, never both. Operators that we do not know are let through: a newer
 * client may know more than we do, and a requirement that is left out only makes the question broader.
 */
import { checkLabelValue, checkQualifiedName, deepEqual, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject } from '#api'
import { objectsIn, optionalObjectIn, objectIn, textIn, textsIn, valueIn } from '../../builtin/rules/reading.ts'
import type { ObjectDraft } from '../../resources/resource.ts'

const specPath = FieldPath.of('spec')

/** Of one of the three reviews that ask about one thing. */
export function validateAccessReview(review: ObjectDraft, kind: string): FieldError[] {
  const spec = objectIn(review as JsonObject, 'spec')
  const [resource, path] = [
    optionalObjectIn(spec, 'resourceAttributes'),
    optionalObjectIn(spec, 'nonResourceAttributes'),
  ]
  const errors: FieldError[] = []
  if (resource && path)
    errors.push(
      fieldError.invalid(
        specPath.child('nonResourceAttributes'),
        shownPath(path),
        'cannot be specified in combination with resourceAttributes',
      ),
    )
  if (!resource && !path)
    errors.push(
      fieldError.invalid(
        specPath.child('resourceAttributes'),
        null,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    )
  if (kind !== 'SelfSubjectAccessReview' && textIn(spec, 'user') === '' && textsIn(spec, 'groups').length === 0) {
    errors.push(fieldError.invalid(specPath.child('user'), '', 'at least one of user or group must be specified'))
  }
  return [
    ...errors,
    ...validateSelectors(resource),
    ...validateMetadata(review, kind),
    ...(kind === 'LocalSubjectAccessReview' ? validateLocal(review, { resource, path }) : []),
  ]
}

function validateMetadata({ metadata }: ObjectDraft, kind: string): FieldError[] {
  const isLocal = kind === 'LocalSubjectAccessReview'
  const { managedFields: _, creationTimestamp: __, ...rest } = metadata
  if (isLocal) delete rest['namespace']
  if (deepEqual(rest, {})) return []
  return [
    fieldError.invalid(
      FieldPath.of('metadata'),
      metadata,
      isLocal ? 'must be empty except for namespace' : 'must be empty',
    ),
  ]
}

function validateLocal(
  { metadata }: ObjectDraft,
  { resource, path }: { resource: JsonObject | undefined; path: JsonObject | undefined },
): FieldError[] {
  const errors: FieldError[] = []
  const namespace = textIn(resource, 'namespace')
  if (resource && namespace !== metadata['namespace'])
    errors.push(
      fieldError.invalid(
        specPath.child('resourceAttributes').child('namespace'),
        namespace,
        'must match metadata.namespace',
      ),
    )
  if (path)
    errors.push(
      fieldError.invalid(
        specPath.child('nonResourceAttributes'),
        shownPath(path),
        'disallowed on this kind of request',
      ),
    )
  return errors
}

// Upstream shows its internal form, in which fields have other names.
function shownPath(path: JsonObject): JsonObject {
  return { Path: textIn(path, 'path'), Verb: textIn(path, 'verb') }
}

function validateSelectors(resource: JsonObject | undefined): FieldError[] {
  const at = specPath.child('resourceAttributes')
  return [
    ...validateSelector(optionalObjectIn(resource, 'fieldSelector'), at.child('fieldSelector'), validateFieldKey),
    ...validateSelector(optionalObjectIn(resource, 'labelSelector'), at.child('labelSelector'), validateLabel),
  ]
}

type ValidateKey = (requirement: JsonObject, path: FieldPath) => { before: FieldError[]; after: FieldError[] }

function validateSelector(selector: JsonObject | undefined, path: FieldPath, validateKey: ValidateKey): FieldError[] {
  if (selector === undefined) return []
  const [raw, requirements] = [textIn(selector, 'rawSelector'), objectsIn(selector, 'requirements')]
  const errors: FieldError[] = []
  if (raw !== '' && requirements.length > 0)
    errors.push(
      fieldError.invalid(path.child('rawSelector'), raw, 'may not specified at the same time as requirements'),
    )
  if (raw === '' && requirements.length === 0)
    errors.push(
      fieldError.required(
        path.child('requirements'),
        `when ${path.toString()} is specified, requirements or rawSelector is required`,
      ),
    )
  return [
    ...errors,
    ...requirements.flatMap((requirement, index) => {
      const here = path.child('requirements').index(index)
      const { before, after } = validateKey(requirement, here)
      return [...before, ...validateValues(requirement, here), ...after]
    }),
  ]
}

function validateValues(requirement: JsonObject, path: FieldPath): FieldError[] {
  const [operator, values] = [textIn(requirement, 'operator'), textsIn(requirement, 'values')]
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    return [fieldError.required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    return [
      fieldError.forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    ]
  return []
}

const validateFieldKey: ValidateKey = (requirement, path) => ({
  before: textIn(requirement, 'key') === '' ? [fieldError.required(path.child('key'), 'must be specified')] : [],
  after: [],
})

const validateLabel: ValidateKey = (requirement, path) => {
  const key = textIn(requirement, 'key')
  const mistakes = checkQualifiedName(key).map((text) => fieldError.invalid(path.child('key'), key, text))
  const values = textsIn(requirement, 'values').flatMap((value, index) =>
    checkLabelValue(value).map((text) =>
      fieldError.invalid(path.child('values').index(index), valueIn({ value }, 'value'), text),
    ),
  )
  return { before: [], after: [...mistakes, ...values] }
}
